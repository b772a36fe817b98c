"""The sanitizer's detectors in an execution on terms: all of them that find undefined behaviour.

| on terms                                            | what the detectors see                                         |
|-----------------------------------------------------|----------------------------------------------------------------|
| a load at an index that is a term                   | a read of each element that it may read                        |
| a branch on data                                    | the accesses of both sides                                     |
| a write on one side of a branch, then a read of it  | nothing: undecided within blocks (`TermMemory.has_blocks`)     |
| two threads that write one element                  | a race, unless both values are one term and unconditional      |
| a reduction with an init, entered under a condition | nothing: undecided, since terms may be left out                |

More accesses can only make more conflicts. So where no detector objects, none objects for any arguments; where one
does after an access that only some arguments make, nothing is decided.

RM305 is the interpreter's; its detector only adds details. Lints leave a program its meaning.
"""

from refmlc.diag.catalogue import RACE
from refmlc.lang.ir import IRModule
from refmlc.observe.sanitize.facts import FactTable
from refmlc.observe.sanitize.kinds import DETECTED, detectors
from refmlc.observe.sanitize.races import Races
from refmlc.prove.memory import TermMemory
from refmlc.prove.terms import Undecided
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.relay import Relay
from refmlc.run.interp.tensorir.block_sites import BlockSite
from refmlc.run.interp.tensorir.frame import Frame
from refmlc.run.interp.tensorir.views import View


def watchers(module: IRModule, memory: TermMemory) -> Relay:
    """The hooks of an execution on `memory`."""
    facts = FactTable(module)
    return Relay((BlockConditions(memory), *detectors(facts, DETECTED - {RACE.id}), TermRaces(facts, memory)))


class BlockConditions(Hooks):
    """Notes that blocks are executed; refuses a reduction that only some arguments execute."""

    def __init__(self, memory: TermMemory) -> None:
        self._memory = memory

    def enter_block(self, site: BlockSite, frame: Frame) -> None:
        """Fails: Undecided."""
        del frame
        self._memory.has_blocks = True
        if self._memory.conditions and site.node.block.init is not None:
            raise Undecided("whether a reduction is executed depends on the values of an argument", site.node.span)


class TermRaces(Races):
    """Races whose equal values are equal terms."""

    def __init__(self, facts: FactTable, memory: TermMemory) -> None:
        super().__init__(facts)
        self._memory = memory

    def content(self, view: View, offset: int) -> object:
        """The terms of the element; of a write under a condition an object that equals no other."""
        return object() if self._memory.conditions else self._memory.content(view, offset)
