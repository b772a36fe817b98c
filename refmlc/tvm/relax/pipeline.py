"""`tvm.relax.get_pipeline`: passes one after the other, by name.

| name                       | passes here                                                      |
|----------------------------|------------------------------------------------------------------|
| `zero`                     | operators to functions, annotated, fused                         |
| `default`, `default_build` | operators to functions: what `refmlc.build` needs, and no more   |

TVM's own have more of them, which prepare a module for its machine; what a module means is the same after each.
"""

from refmlc.tvm.missing_names import missing, refusal
from refmlc.tvm.relax.transform import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps, Pass, Sequential

__all__ = ["get_default_pipeline", "get_pipeline"]


def get_pipeline(name: str = "zero", **kwargs: object) -> Pass:
    """The passes that are called `name`. Fails: AttributeError for one that is not here."""
    del kwargs
    match name:
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
