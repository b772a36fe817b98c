"""`tvm.relax.transform`: passes, objects that are called with a module and give a module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, relax
from refmlc.lang.ir.module import AnyFunction
from refmlc.rewrite.partition import (
    FusionPattern,
    PatternCheckContext,
    fuse_ops_by_pattern,
    merge_composite_functions,
)
from refmlc.rewrite.transform import (
    annotate_tir_op_pattern,
    dead_code_elimination,
    fuse_ops,
    fuse_tir,
    legalize_ops,
    normalize,
)
from refmlc.tvm.missing_names import missing, refusal
from refmlc.tvm.relax.aliases import without_aliases
from refmlc.tvm.relax.attributes import with_all_attributes
from refmlc.tvm.relax.backend.pattern_registry import Pattern, fusion_pattern
from refmlc.vm import bind_params, fold_constant


class Pass:
    """A transform of modules, by its name."""

    def __init__(self, name: str, run: Callable[[IRModule], IRModule]) -> None:
        self.name = name
        self._run = run

    def __call__(self, mod: IRModule) -> IRModule:
        return self._run(mod)

    def __repr__(self) -> str:
        return f"Pass({self.name})"


def BindParams(func_name: str, params: Mapping[str, object]) -> Pass:  # noqa: N802 - TVM's name
    """Parameters of a function become constants of the module. Fails: as `refmlc.bind_params`, when it is called."""
    return Pass("BindParams", lambda mod: bind_params(mod, func_name, params))


def LegalizeOps(customize_legalize_map: object = None) -> Pass:  # noqa: N802 - TVM's name
    """Operators become calls of TensorIR functions. Custom maps are not accepted."""
    if customize_legalize_map:
        raise missing(__name__, "LegalizeOps(customize_legalize_map)")
    return Pass("LegalizeOps", legalize_ops)


def AnnotateTIROpPattern() -> Pass:  # noqa: N802 - TVM's name
    """TensorIR functions say what kind they are of."""
    return Pass("AnnotateTIROpPattern", annotate_tir_op_pattern)


def FuseOps(fuse_opt_level: int = -1) -> Pass:  # noqa: N802 - TVM's name
    """Groups of calls become functions of Relax; there is one level of it."""
    del fuse_opt_level
    return Pass("FuseOps", fuse_ops)


def FuseTIR() -> Pass:  # noqa: N802 - TVM's name
    """Grouped functions become TensorIR functions."""
    return Pass("FuseTIR", fuse_tir)


def FoldConstant() -> Pass:  # noqa: N802 - TVM's name
    """Calls of constants in dataflow blocks become their results, computed as they would be in a run."""
    return Pass("FoldConstant", fold_constant)


def CanonicalizeBindings() -> Pass:  # noqa: N802 - TVM's name
    """Variables that are other variables are dropped."""
    return Pass("CanonicalizeBindings", without_aliases)


def Normalize() -> Pass:  # noqa: N802 - TVM's name
    """Nothing is nested any more; variables have the types that follow."""
    return Pass("Normalize", normalize)


def DeadCodeElimination(entry_functions: Sequence[str] | None = None) -> Pass:  # noqa: N802 - TVM's name
    """What nothing needs is dropped. No entry functions: `main`."""
    entries = ("main",) if entry_functions is None else tuple(entry_functions)
    return Pass("DeadCodeElimination", lambda mod: dead_code_elimination(mod, entries))


def FuseOpsByPattern(  # noqa: N802 - TVM's name
    patterns: Sequence[Pattern],
    bind_constants: bool = True,
    annotate_codegen: bool = False,
    entry_functions: Sequence[str] | None = None,
) -> Pass:
    """What the patterns describe becomes functions for other compilers, with all attributes of their calls."""
    items = [fusion_pattern(item) for item in patterns]

    def run(mod: IRModule) -> IRModule:
        return fuse_ops_by_pattern(
            with_all_attributes(mod),
            items,
            bind_constants=bind_constants,
            annotate_codegen=annotate_codegen,
            entry_functions=entry_functions or (),
        )

    return Pass("FuseOpsByPattern", run)


def MergeCompositeFunctions() -> Pass:  # noqa: N802 - TVM's name
    """Functions for one compiler that follow each other become one."""
    return Pass("MergeCompositeFunctions", merge_composite_functions)


def RunCodegen(target_options: object = None, entry_functions: Sequence[str] | None = None) -> Pass:  # noqa: N802 - TVM's
    """The module, where no function is for another compiler. Fails: RM504 where one is: refmlc has none of them."""
    del target_options
    entries = tuple(entry_functions or ("main",))

    def run(mod: IRModule) -> IRModule:
        for name, func in mod.functions.items():
            compiler = func.attrs.get("Codegen") if isinstance(func, relax.Function) else None
            if compiler is not None:
                message = f"`{name}` is for the compiler `{compiler}`, which refmlc does not have"
                raise fail(UNSUPPORTED_CONSTRUCT, message, func.span)
        return dead_code_elimination(mod, entries)

    return Pass("RunCodegen", run)


def function_pass(
    pass_func: object = None, opt_level: int = 0, name: str | None = None, **_: object
) -> Callable[..., object]:
    """A decorator: what makes a function of a function, of a module, and of the context, is a pass for all of Relax's.

    A class has `transform_function`; arguments of the decorated class go to its constructor.
    """

    def run(change: Callable[..., object], mod: IRModule) -> IRModule:
        functions: dict[str, AnyFunction] = {
            key: cast("AnyFunction", change(func, mod, None)) if isinstance(func, relax.Function) else func
            for key, func in mod.functions.items()
        }
        return replace(mod, functions=functions)

    return _decorator(pass_func, "transform_function", name, run, opt_level)


def module_pass(
    pass_func: object = None, opt_level: int = 0, name: str | None = None, **_: object
) -> Callable[..., object]:
    """A decorator: what makes a module of a module and the context is a pass. A class has `transform_module`."""
    return _decorator(pass_func, "transform_module", name, lambda change, mod: change(mod, None), opt_level)


def _decorator(
    function: object, method: str, name: str | None, run: Callable[..., IRModule], opt_level: int
) -> Callable[..., object]:
    del opt_level

    def decorate(target: "type | Callable[..., object]") -> object:
        title = name or target.__name__
        if not isinstance(target, type):
            return Pass(title, lambda mod: run(target, mod))

        def made(*args: object, **kwargs: object) -> Pass:
            change = getattr(target(*args, **kwargs), method)
            return Pass(title, lambda mod: run(change, mod))

        return made

    return cast("Callable[..., object]", decorate if function is None else decorate(cast("type", function)))


def Sequential(passes: Sequence[Pass], *_: object, **__: object) -> Pass:  # noqa: N802 - TVM's name
    """Passes one after the other."""

    def run(mod: IRModule) -> IRModule:
        for step in passes:
            mod = step(mod)
        return mod

    return Pass("Sequential", run)


__all__ = [
    "AnnotateTIROpPattern",
    "BindParams",
    "CanonicalizeBindings",
    "DeadCodeElimination",
    "FoldConstant",
    "FuseOps",
    "FuseOpsByPattern",
    "FuseTIR",
    "FusionPattern",
    "LegalizeOps",
    "MergeCompositeFunctions",
    "Normalize",
    "PatternCheckContext",
    "RunCodegen",
    "function_pass",
]

_TUNING = {
    name: f"refmlc.tvm.relax.tuning:{name}"
    for name in ("MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR")
}
__getattr__ = refusal(__name__, __all__, _TUNING)
