"""In-house C as an implementation: `native`, or `native:` with the name of a way.

The ways in which C is made, by the names that follow `native:`:

| name                | C                                                                                         |
|---------------------|-------------------------------------------------------------------------------------------|
| (none)              | as `refmlc.build(tier="native")`: the best grade for this machine, runs of bindings fused |
| `tiny`              | as written, what is not proved is checked; compiled by tcc, or else without optimisation  |
| `guarded`           | the same by gcc or clang, with all optimisation                                           |
| `unchecked`         | as written, blocks without checks where everything is proved                              |
| `avx512`, `avx2`, … | the loops reordered that may be, for this instruction set                                 |

Several modules are one translation unit, so that one run of the compiler does for all of them.

Every prim_func of module `n` is emitted as `m<n>_<name>`, and known to the calls of its module by its own name. Runs of
bindings that are fused get the number of the module before their symbols. Modules whose translation is not `worth`
compiling have no text.

| what happens                                | the answer                                                        |
|---------------------------------------------|-------------------------------------------------------------------|
| C takes the call, or stops at a check       | the call's result, or the verdict that the interpreter then tells |
| the call reaches no compiled function       | `UNSUPPORTED`: the interpreter against itself is not agreement    |
| there is no compiler                        | `UNSUPPORTED`                                                     |
| the compiler takes no program at all        | `UNSUPPORTED`                                                     |
| the compiler does not take what we generate | `CRASHED`                                                         |
| it takes too long, or the disk is full      | `TIMED_OUT`, `EXHAUSTED`                                          |

The modules of a batch are compiled together (`prepare_all`); where that fails, each alone, so that one that the
compiler does not take is the only one without an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, runtime_checkable

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.wellformed.reader_checks import checked
from refmlc.native.analysis.turns import in_turns
from refmlc.native.compile import BuildFailed, Cause, Effort, Library, build, default_cache
from refmlc.native.compile.isa import detect_isa, isas_here
from refmlc.native.emit.module import emit_functions, unit_text
from refmlc.native.fuse import fuse_module
from refmlc.native.options import ISAS, Grade, Isa, Options
from refmlc.native.threads import detect_threads
from refmlc.native.tier.compiled_module import CompiledModule, Translation
from refmlc.native.tier.native_module import NativeModule
from refmlc.native.tier.tier_switch import TierSwitch
from refmlc.native.unit import Declined, Source, Unit
from refmlc.oracle.implementations.implementation import Answer, Implementation, Limits, Prepared, Stop, Stopped
from refmlc.oracle.implementations.local_calls import LocalCalls, answered, nowhere, stopped
from refmlc.rewrite.transform import legalize_ops
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.registry import DEFAULT, FunctionRegistry


@dataclass(frozen=True)
class Way:
    """How C is made: the grade that no block is above, the instruction set, a quick compiler, runs fused, threads."""

    best: Grade = Grade.REORDERED
    isa: Isa = ISAS["none"]
    tiny: bool = False
    fused: bool = False
    threads: int = 1

    @property
    def options(self) -> Options:
        """The options of the generator."""
        return Options(self.best, self.isa, threads=self.threads)


PLAIN: Mapping[str, Callable[[], Way]] = {
    "": lambda: Way(Grade.REORDERED, detect_isa(), fused=True, threads=detect_threads()),
    "tiny": lambda: Way(Grade.GUARDED, tiny=True),
    "guarded": lambda: Way(Grade.GUARDED),
    "unchecked": lambda: Way(Grade.UNCHECKED),
}


def way(name: str) -> Way:
    """The way called `name`. Fails: RM112 (there is none, or this machine lacks the instruction set)."""
    if name in PLAIN:
        return PLAIN[name]()
    if name not in ISAS:
        names = ", ".join((*(each for each in PLAIN if each), *isas_here()))
        raise fail(BAD_USAGE, f"C has no variant `{name}`", None, f"this machine has: {names}")
    if name not in isas_here():
        raise fail(BAD_USAGE, f"this machine does not run `{name}`; it runs {', '.join(isas_here())}")
    return Way(Grade.REORDERED, ISAS[name])


def ways_here() -> tuple[str, ...]:
    """The names of the ways of this machine, the plain one left out."""
    return (*(name for name in PLAIN if name), *isas_here())


Worth: TypeAlias = Callable[[IRModule, Translation], bool]


def translated(
    modules: Sequence[IRModule], options: Options, *, fused: bool, worth: Worth | None = None
) -> tuple[str, list[Translation]]:
    """The C text of all `modules`, and each module's part of it."""
    names = {
        f"m{number}_{name}": (number, name)
        for number, module in enumerate(modules)
        for name, func in module.functions.items()
        if isinstance(func, tir.PrimFunc)
    }
    everything = IRModule({new: modules[number].functions[name] for new, (number, name) in names.items()})
    emitted, reasons = emit_functions(everything, options)
    units: list[dict[str, Unit]] = [{} for _ in modules]
    declined: list[dict[str, Declined]] = [{} for _ in modules]
    for function in emitted:
        number, name = names[function.unit.name]
        units[number][name] = replace(function.unit, name=name)
    for new, why in reasons.items():
        number, name = names[new]
        declined[number][name] = why
    translations = [Translation("", functions, refusals) for functions, refusals in zip(units, declined, strict=True)]
    compiled_mask = [
        worth is None or worth(module, function) for module, function in zip(modules, translations, strict=True)
    ]
    texts = [unit_text([function for function in emitted if compiled_mask[names[function.unit.name][0]]], options)]
    if fused:
        for number, module in enumerate(modules):
            if compiled_mask[number]:
                text, translations[number] = _fused(number, module, translations[number])
                texts.append(text)
    return "\n".join(texts), translations


def _fused(number: int, module: IRModule, plain: Translation) -> tuple[str, Translation]:
    """The runs of bindings of a module, with symbols that no other module has."""
    plan = fuse_module(module, Source("", plain.units, plain.declined), f"m{number}_")
    return plan.text, replace(plain, fused=tuple(plan.runs))


GUARDED = "guarded"


def guarded_module(module: IRModule) -> NativeModule:
    """`module`, whose functions are compiled to guarded C when the meaning of long calls comes through it.

    Where the compiler fails, none of them is in C.
    """

    def compiled(functions: IRModule, _math: object) -> CompiledModule:
        variant = way(GUARDED)
        text, (translation,) = translated([functions], variant.options, fused=False)
        try:
            return CompiledModule(translation, build(text, variant.isa, cache=None) if translation.units else None)
        except BuildFailed as problem:
            return CompiledModule(translation, None, str(problem))

    return NativeModule(module, "cr", compiled)


CAUSES = {
    Cause.NO_COMPILER: Stop.UNSUPPORTED,
    Cause.FAILED: Stop.CRASHED,
    Cause.TIMED_OUT: Stop.TIMED_OUT,
    Cause.NOT_LOADED: Stop.CRASHED,
}
OURS = (Cause.FAILED, Cause.NOT_LOADED)
SMALLEST = '#include "rm_guard.h"\nint64_t f0_smallest(rm_run *const run) {\n  return RM_DONE;\n}\n'


@runtime_checkable
class Batching(Implementation, Protocol):
    """An implementation that makes several modules ready at once, quicker than one after the other."""

    def prepare_all(self, modules: Sequence[IRModule]) -> list[Prepared | Stopped]:
        """Each of `modules` made ready, or why it is not taken."""
        ...


@dataclass(frozen=True)
class Native:
    """C for this machine. `kept`: libraries are kept in the user's cache; `check`: static rules are checked.

    `quick`: the compiler does not optimise. `worth`: which modules are compiled at all; others are `UNSUPPORTED`.
    """

    how: str = ""
    limits: Limits = field(default_factory=Limits)
    registry: FunctionRegistry = DEFAULT
    check: bool = True
    kept: bool = False
    quick: bool = False
    worth: Worth | None = None
    promises_verdicts: bool = True

    def __post_init__(self) -> None:
        """Fails: RM112 where this machine does not have the way."""
        way(self.how)

    @property
    def name(self) -> str:
        """`native`, or `native:…`."""
        return f"native:{self.how}" if self.how else "native"

    def prepare(self, module: IRModule) -> Prepared | Stopped:
        return self.prepare_all([module])[0]

    def prepare_all(self, modules: Sequence[IRModule]) -> list[Prepared | Stopped]:
        refused = [self._refused(module) for module in modules]
        modules = [legalize_ops(module) for module in modules]  # what operators do becomes functions
        numbers = [number for number, why in enumerate(refused) if why is None]
        compiled = self._compiled([modules[number] for number in numbers]) if numbers else []
        compiled_modules = dict(zip(numbers, compiled, strict=True))
        return [compiled_modules[number] if why is None else why for number, why in enumerate(refused)]

    def executed(self, module: IRModule) -> IRModule:
        """The module with serial loops in place of threads, as C has them."""
        functions = {
            name: in_turns(func) if isinstance(func, tir.PrimFunc) else func for name, func in module.functions.items()
        }
        return replace(module, functions=functions)

    def close(self) -> None:
        """Nothing is held."""

    def _refused(self, module: IRModule) -> Stopped | None:
        try:
            checked(module, check=self.check)
        except RefmlcError as failure:
            return stopped(failure)
        return None

    def _compiled(self, modules: Sequence[IRModule]) -> list[Prepared | Stopped]:
        variant = way(self.how)
        translated_modules = answered(
            lambda: translated(modules, variant.options, fused=variant.fused, worth=self.worth)
        )
        if isinstance(translated_modules, Stopped):
            return [translated_modules] if len(modules) == 1 else [self._compiled([module])[0] for module in modules]
        text, translations = translated_modules
        worth_mask = [self.worth is None or self.worth(*each) for each in zip(modules, translations, strict=True)]
        any_units = any(each.units for each, is_worth in zip(translations, worth_mask, strict=True) if is_worth)
        try:
            library = self._library(text, variant) if any_units else None
        except BuildFailed as problem:
            if problem.cause in OURS and not self._works(variant):
                return [Stopped(Stop.UNSUPPORTED, " ".join(str(problem).split())) for _ in modules]
            if len(modules) > 1 and problem.cause in (Cause.FAILED, Cause.TIMED_OUT):
                return [self._compiled([module])[0] for module in modules]
            why = CAUSES.get(problem.cause, Stop.EXHAUSTED)
            return [Stopped(why, " ".join(str(problem).split())) for _ in modules]
        not_worth = Stopped(Stop.UNSUPPORTED, "compiling it does not pay")
        return [
            InC(module, CompiledModule(translation, library), self) if is_worth else not_worth
            for module, translation, is_worth in zip(modules, translations, worth_mask, strict=True)
        ]

    def _library(self, text: str, variant: Way) -> Library:
        cache = default_cache() if self.kept else None
        effort = Effort.LEAST if variant.tiny or self.quick else Effort.FULL
        return build(text, variant.isa, cache=cache, tiny=variant.tiny, effort=effort, limit=self.limits.prepare)

    def _works(self, variant: Way) -> bool:
        """Whether the compiler takes the smallest program: then what it does not take is ours."""
        try:
            self._library(SMALLEST, variant)
        except BuildFailed:
            return False
        return True


class InC:
    """A module whose prim_funcs are in C as far as they can be."""

    def __init__(self, module: IRModule, compiled: CompiledModule, native: Native) -> None:
        budget = native.limits.budget()
        self._choosing = TierSwitch(NativeModule(module, "cr", lambda _module, _math: compiled), budget, waits=False)
        machine = Machine(module, budget=budget, registry=native.registry, output=nowhere, substitutes=self._choosing)
        self._calls = LocalCalls(machine)
        self._translation = compiled.translation
        self._module = module

    def run(self, func: str, args: Sequence[object]) -> Answer:
        """Call `func` on `args`; the interpreter does what C leaves to it."""
        if not self._has_compiled_part(func):
            return Stopped(Stop.UNSUPPORTED, f"not compiled: {_why(self._translation, func)}")
        before = self._part
        answer = self._calls.call(func, args)
        exhausted = isinstance(answer, Stopped) and answer.why is Stop.EXHAUSTED
        if self._part == before and not exhausted:
            return Stopped(Stop.UNSUPPORTED, f"not compiled: {_why(self._translation, func)}")
        return answer

    def close(self) -> None:
        """Nothing is held."""

    def _has_compiled_part(self, func: str) -> bool:
        """True if a call of `func` may reach compiled code."""
        if self._translation.fused or func not in self._module.functions:
            return True
        return any(name in self._translation.units for name in reachable(self._module, func).functions)

    @property
    def _part(self) -> int:
        """How often C was at work so far, to its end or to a check."""
        counts = self._choosing.counts
        return 0 if counts is None else counts.native + counts.stopped


def _why(translation: Translation, func: str) -> str:
    """Why C had no part in a call of `func`."""
    if func in translation.units:
        return "the compiled function does not take these arguments"
    refusal = translation.declined.get(func) or next(iter(translation.declined.values()), None)
    return "the call reaches no compiled function" if refusal is None else refusal.reason
