"""A module in C: its text, and its loaded library.

Without a compiler, or where it fails, there is one warning, and no function of the module is in C.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from refmlc.lang.ir import IRModule, relax
from refmlc.native.compile import BuildFailed, CFunction, Effort, Library, build, default_cache, warn_once
from refmlc.native.entries import (
    USE,
    emit_entries,
    emit_entry,
    emit_entry_of_run,
    entry_symbol,
    has_entry,
    whole_function,
)
from refmlc.native.fuse.plan import Fused
from refmlc.native.options import Isa
from refmlc.native.unit import BufferParam, Declined, Param, ScalarParam, Unit

if TYPE_CHECKING:
    from refmlc.native.tier.specialisation import Specialisations


@dataclass(frozen=True, slots=True)
class Translation:
    """A module in C: the text of a translation unit, and the functions and runs of bindings in it."""

    text: str
    units: Mapping[str, Unit]
    declined: Mapping[str, Declined] = field(default_factory=dict)
    fused: tuple[Fused, ...] = ()

    @property
    def effort(self) -> Effort:
        """`LESS` where every function has open dimensions: it serves until it is compiled again for known ones."""
        is_open = bool(self.units) and all(unit.dims for unit in self.units.values())
        return Effort.LESS if is_open else Effort.FULL


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """The functions of a module in C.

    `problem` is the compiler's failure, if it left none; `specialisations` compile functions again for known
    dimensions. `is_quick`: optimised code is to come (`stages`).
    """

    translation: Translation
    library: Library | None
    problem: str = ""
    specialisations: "Specialisations | None" = None
    is_quick: bool = False

    def unit(self, name: str) -> Unit | None:
        """The unit of the function `name`; None: it is not in the library."""
        return None if self.library is None else self.translation.units.get(name)

    @property
    def runs(self) -> tuple[Fused, ...]:
        """The runs of bindings in the library."""
        return () if self.library is None else self.translation.fused

    def function(self, symbol: str, c_type: str) -> CFunction:
        """A C function of the library. Requires a library."""
        return cast("Library", self.library).function(symbol, c_type)

    def entry(self, symbol: str) -> CFunction:
        """The entry of the C function `symbol`. Requires an entry."""
        return self.function(entry_symbol(symbol), "void *(*)(void *, void **, int64_t)")

    def give_functions(self, address: int) -> None:
        """Give entries the functions of Python, an `rm_python` at `address`. Requires an entry."""
        self.function(USE, "void *(*)(int64_t)")(address)


def with_entries(translation: Translation, module: IRModule) -> Translation:
    """`translation`, of `module`, with an entry for each function that has a form for entries."""
    texts = [emit_entry(unit) for unit in translation.units.values() if has_entry(unit)]
    for run in translation.fused:
        function = module.functions.get(run.function)
        if isinstance(function, relax.Function) and whole_function(run, function) is not None:
            texts.append(emit_entry_of_run(run, function))
    return replace(translation, text=emit_entries(translation.text, texts)) if texts else translation


def load(translation: Translation, isa: Isa) -> CompiledModule:
    """`translation` compiled and loaded, or from the user's cache; a warning where the compiler fails."""
    if not translation.units and not translation.fused:
        return CompiledModule(translation, None)
    try:
        return CompiledModule(
            translation, build(translation.text, isa, cache=default_cache(), effort=translation.effort)
        )
    except BuildFailed as problem:
        warn_once(problem)
        return CompiledModule(translation, None, str(problem))


def c_type(unit: Unit) -> str:
    """The type of a unit's C function, for cffi."""
    params = [kind for param in unit.params for kind in _kinds(param)]
    return _function_type([*params, *("int64_t" for _ in unit.dims)])


def c_type_of_fused(run: Fused) -> str:
    """The type of the C function of a run of bindings."""
    pointers = len(run.inputs) + len(run.outputs) + 1
    return _function_type(["void *"] * pointers + ["int64_t"] * len(run.numbers))


def _function_type(params: list[str]) -> str:
    return f"int64_t (*)({', '.join(['rm_run *', *params])})"


def _kinds(param: Param) -> tuple[str, ...]:
    match param:
        case BufferParam(tracked=True):
            return ("void *", "void *")
        case BufferParam():
            return ("void *",)
        case ScalarParam(var):
            return ("double",) if var.dtype.is_float else ("int64_t",)
