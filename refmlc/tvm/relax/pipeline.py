"""`tvm.relax.get_pipeline`: passes one after the other, by name.

| name                       | passes here                                                      |
|----------------------------|------------------------------------------------------------------|
| `zero`                     | operators to functions, annotated, fused                         |
| `default`, `default_build` | operators to functions: what `refmlc.build` needs, and no more   |
| `static_shape_tuning`      | `zero`, then a search over the functions, the best of each taken |
| another                    | what `register_pipeline` made it                                 |

TVM's own have more of them, which prepare a module for its machine; what a module means is the same after each.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.tvm.devices import Target
from refmlc.tvm.missing_names import missing, refusal
from refmlc.tvm.relax.transform import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps, Pass, Sequential

__all__ = ["get_default_pipeline", "get_pipeline", "register_pipeline", "static_shape_tuning_pipeline"]
TUNING = "static_shape_tuning"
_TUNING = "refmlc.tvm.relax.tuning"
Maker = TypeVar("Maker", bound=Callable[..., Pass])


_REGISTERED: dict[str, Callable[..., Pass]] = {}


def register_pipeline(name: str) -> Callable[[Maker], Maker]:
    """A decorator: the decorated function makes the passes that are called `name`. Fails: RM112 for a name twice."""
    if name in _REGISTERED or name in ("zero", "default", "default_build", TUNING):
        raise fail(BAD_USAGE, f"a pipeline `{name}` is registered already")

    def register(make: Maker) -> Maker:
        _REGISTERED[name] = make
        return make

    return register


def static_shape_tuning_pipeline(
    total_trials: int,
    target: str | Target,
    work_dir: str = "tuning_logs",
    cpu_weight_prepack: bool = False,
    max_trials_per_task: int | None = None,
) -> Pass:
    """`zero`, then a search, for a target. Fails: RM504 where weights are to be laid out anew."""
    if cpu_weight_prepack:
        raise fail(UNSUPPORTED_CONSTRUCT, "`cpu_weight_prepack` is not supported: refmlc does not choose layouts")
    where = target if isinstance(target, Target) else Target(target)
    tune, apply = load(f"{_TUNING}:MetaScheduleTuneIRMod"), load(f"{_TUNING}:MetaScheduleApplyDatabase")

    def run(mod: IRModule) -> IRModule:
        passes = [
            get_pipeline("zero"),
            tune({}, work_dir, total_trials, max_trials_per_task),
            apply(work_dir),
        ]
        with where:
            return Sequential(passes)(mod)

    return Pass(TUNING, run)


def get_pipeline(name: str = "zero", **kwargs: Any) -> Pass:  # noqa: ANN401 - of the pipeline
    """The passes that are called `name`, made with these arguments. Fails: AttributeError for one that is not here."""
    if name in _REGISTERED:
        return _REGISTERED[name](**kwargs)
    match name:
        case "static_shape_tuning":
            return static_shape_tuning_pipeline(**kwargs)
        case "zero":
            return Sequential([LegalizeOps(), AnnotateTIROpPattern(), FuseOps(), FuseTIR()])
        case "default" | "default_build":
            return Sequential([LegalizeOps()])
        case _:
            raise missing("refmlc.tvm.relax", f'get_pipeline("{name}")')


def get_default_pipeline(target: object = None) -> Pass:
    """The passes of a build, whatever the target."""
    del target
    return get_pipeline("default")


__getattr__ = refusal(__name__, __all__)
