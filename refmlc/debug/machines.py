"""The interpreters of a session, one for each stepper, with the functions they have prepared.

The tracing level says how much the stepper sees: 0 statements, 1 stores too, 2 loads too. More is slower, so a motion
runs at the lowest level that its breakpoints need.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from refmlc.debug.clock import FailureListener
from refmlc.debug.program import Program
from refmlc.debug.reentry import Reentry
from refmlc.debug.stepper import STEPPERS, Listener
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.tier.tier_switch import TierSwitch
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.budget import Budget


@dataclass(slots=True)
class PreparedMachine:
    """A machine, and the re-entry of each function that it has prepared, by the id of the function."""

    machine: Machine
    reentries: dict[int, Reentry] = field(default_factory=dict)


class Machines:
    """See the docstring of the module. `tracing`: the level in use."""

    def __init__(
        self,
        program: Program,
        budget: Budget,
        listener: Listener,
        on_failure: FailureListener,
        output: Callable[[str], None],
    ) -> None:
        self._program, self._budget = program, budget
        self._listener, self._on_failure, self._output = listener, on_failure, output
        self._prepared: dict[int, PreparedMachine] = {}
        self._native: TierSwitch | None = None
        self.tracing = 0

    def trace(self, level: int) -> None:
        """Use the machine of this tracing level from the next run on."""
        self.tracing = level

    def fresh(self) -> Machine:
        """The machine of the tracing level, ready for a run; its budget is full again."""
        machine = self._current().machine
        machine.depth = machine.groups = 0
        self._budget.renew()
        self._budget.bytes = 0
        return machine

    def reentry(self, scope: Scope) -> Reentry:
        """The re-entry of the function that `scope` prepares."""
        reentries = self._current().reentries
        key = id(scope.func)
        if key not in reentries:
            reentries[key] = Reentry(scope, self._budget, self._on_failure)
        return reentries[key]

    def _current(self) -> PreparedMachine:
        if self.tracing not in self._prepared:
            machine = Machine(
                self._program.module,
                hooks=STEPPERS[self.tracing](self._listener),
                budget=self._budget,
                registry=self._program.registry,
                output=self._output,
                substitutes=self._tier_switch(),
            )
            self._prepared[self.tracing] = PreparedMachine(machine)
        return self._prepared[self.tracing]

    def _tier_switch(self) -> TierSwitch:
        if self._native is None:
            self._native = TierSwitch(NativeModule(self._program.module, "cr"), self._budget, waits=True)
        return self._native
