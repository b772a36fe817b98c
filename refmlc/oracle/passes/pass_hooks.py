"""What ran within a block of a program that uses TVM: each pass with the module before it and the one after.

| what is seen                                       | is                                             |
|----------------------------------------------------|------------------------------------------------|
| a pass on a module that no pass seen here has left | the begin of a row: that module is its `input` |
| a pass on a module that is in a row                | a stage of that row                            |
| passes that run within a pass                      | stages too, before that of the outer one       |
| a module that is changed between two passes        | the begin of another row: no pass changed it   |
| a pass that raises, a module without functions     | nothing                                        |

The modules are kept and printed at the end. TVM's objects do not change while somebody holds them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Protocol

from refmlc.oracle.passes.constant_parameters import Constants
from refmlc.oracle.passes.stages import Stage, Trace
from refmlc.oracle.passes.tvm_texts import Module, texts


class PassInfo(Protocol):
    """What TVM says of a pass."""

    name: str


class Context(Protocol):
    """A context of passes."""

    instruments: Sequence[object] | None

    def override_instruments(self, instruments: Sequence[object]) -> None:
        """Have these instead."""
        ...


@dataclass
class PassLog:
    """Passes in the order in which they ended: name, number of the module before, number of the one after."""

    modules: list[Module] = field(default_factory=list)
    passes: list[tuple[str, int, int]] = field(default_factory=list)
    _open: list[tuple[str, int]] = field(default_factory=list)

    def before(self, name: str, module: Module) -> None:
        """A pass begins."""
        self._open.append((name, self._number(module)))

    def after(self, name: str, module: Module) -> None:
        """It has ended; those within it that have not, raised."""
        while self._open:
            begun, number = self._open.pop()
            if begun == name:
                self.passes.append((name, number, self._number(module)))
                return

    def rows(self, tvm: ModuleType) -> list[tuple[Trace, Constants]]:
        """The rows, with the values of constants."""
        written, constants = texts(tvm, self.modules)
        rows: list[list[Stage]] = []
        home: dict[str, list[Stage]] = {}
        for name, before, after in self.passes:
            if not (self.modules[before].functions and self.modules[after].functions):
                continue  # TVM takes functions away once they are compiled
            if written[before] not in home:
                rows.append([Stage("input", written[before])])
                home[written[before]] = rows[-1]
            row = home[written[before]]
            if all(written[after] != stage.text for stage in row):
                row.append(Stage(name, written[after]))
            home[written[after]] = row
        return [(Trace(tuple(row)), constants) for row in rows if len(row) > 1]

    def _number(self, module: Module) -> int:
        self.modules.append(module)
        return len(self.modules) - 1


@contextmanager
def watching(tvm: ModuleType, seen: PassLog) -> Iterator[None]:
    """Let `seen` see every pass, in the context that there is and in those that are entered in the block.

    Decision: for this, the entering of a context is watched too; all is as it was when the block has ended.
    """

    class Watching:
        """Sees the module that goes into each pass, and what it leaves."""

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            seen.before(info.name, mod)

        def run_after_pass(self, mod: Module, info: PassInfo) -> None:
            seen.after(info.name, mod)

    kind = tvm.transform.PassContext
    instrument = tvm.instrument.pass_instrument(Watching)()
    own_enter, watched = kind.__enter__, list[tuple[Context, list[object]]]()

    def watch(context: Context) -> None:
        before = list(context.instruments or ())
        context.override_instruments([*before, instrument])
        watched.append((context, before))

    def enter(context: Context) -> object:
        entered: object = own_enter(context)
        if all(context is not watched_context for watched_context, _ in watched):
            watch(context)
        return entered

    watch(kind.current())
    kind.__enter__ = enter
    try:
        yield
    finally:
        kind.__enter__ = own_enter
        for context, before in watched:
            context.override_instruments(before)
