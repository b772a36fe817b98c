"""What reading a text gives: a unit for each module that it defines, and notes on what of it is skipped."""

from dataclasses import dataclass

from refmlc.diag import RefmlcError, Related, Source, Span
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.reader.problems import together


@dataclass(frozen=True, slots=True)
class Unit:
    """A module that a text defines at `span`, or the failure to read it.

    `assumed`: it stands in a function that the text does not call, and depends on the call.
    """

    name: str
    span: Span
    module: IRModule | None = None
    failure: RefmlcError | None = None
    assumed: bool = False

    def answers_to(self, name: str) -> bool:
        """Whether `name` is its class, what the text calls it, or one of its functions without a class; "" is any."""
        if not name or self.module is None or name in (self.name, self.module.name):
            return True
        return self.module.name == "Module" and name in self.module.functions


@dataclass(frozen=True, slots=True)
class Program:
    """What a text holds, in the order of reading. `notes` say what of it was skipped."""

    units: tuple[Unit, ...]
    notes: tuple[Related, ...]
    source: Source

    @property
    def modules(self) -> tuple[IRModule, ...]:
        """The modules that were read."""
        return tuple(self.named.values())

    @property
    def named(self) -> dict[str, IRModule]:
        """The modules that were read, by name; of a second one of a name it has a number."""
        modules: dict[str, IRModule] = {}
        for unit in self.units:
            if unit.module is not None:
                same = sum(name.partition(" ")[0] == unit.name for name in modules)
                modules[f"{unit.name} {same + 1}" if same else unit.name] = unit.module
        return modules

    def check(self) -> None:
        """Fail with the problems of the text, if it has any, or if it defines no module that can be read."""
        failures = [unit.failure for unit in self.units if unit.failure is not None and not unit.assumed]
        if not failures and not self.modules:
            failures = [unit.failure for unit in self.units if unit.failure is not None]
        if failures:
            raise together([part for failure in failures for part in (failure.diagnostic, *failure.diagnostic.others)])
