"""Models of other frameworks become modules: each frontend is loaded at its first use.

| file                       | takes                                                        | extra     |
|----------------------------|--------------------------------------------------------------|-----------|
| `torch_export`             | what `torch.export.export` gives                             | `[torch]` |
| `torch_fx`                 | graphs of `torch.fx.symbolic_trace`, with custom maps        | `[torch]` |
| `onnx`                     | a model of ONNX                                              | `[onnx]`  |
| `onnx_backend`             | the same, run as a backend of ONNX                           | `[onnx]`  |
| `tvm_objects`              | modules of real TVM: objects, text, JSON (`from_tvm`)        |           |
| `tvm_json`                 | the JSON graph of `tvm.ir.save_json`                         |           |
| `programs`                 | whatever a program may be given as: objects, paths, texts    |           |
| `files`                    | files of these, by their endings                             |           |
| `aten`                     | the operators of PyTorch, each in operators of Relax         |           |
| `fx_rules`                 | what `torch.fx` calls differently                            |           |
| `fx_aliases`               | changes in place that another node of such a graph sees      |           |
| `emitter`, `rule`, `sizes` | what the rules of `aten` are written with; symbolic sizes    |           |
| `arrays`                   | tensors of PyTorch as constants, its dtypes by name          |           |
| `binding`                  | arguments of a call of PyTorch brought to those of its rule  |           |
| `unknown_operator`         | the message for an operator without a rule                   |           |
| `malformed_input`          | what Python raises on input that is not as its format says   |           |

Nothing here computes: a frontend writes calls of the operators that the library defines.
"""

from typing import TYPE_CHECKING

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.frontends.tvm_objects import from_tvm
from refmlc.lazy import load

if TYPE_CHECKING:
    from refmlc.frontends.onnx import from_onnx
    from refmlc.frontends.torch_export import from_exported_program
    from refmlc.frontends.torch_fx import from_fx

__all__ = ["from_exported_program", "from_fx", "from_onnx", "from_tvm"]

_HOME = {
    "from_exported_program": ("refmlc.frontends.torch_export", "torch"),
    "from_fx": ("refmlc.frontends.torch_fx", "torch"),
    "from_onnx": ("refmlc.frontends.onnx", "onnx"),
}


def __getattr__(name: str) -> object:
    """A frontend, loaded at its first use. Fails: RM112 if its framework is not installed."""
    if name not in _HOME:
        raise AttributeError(f"module 'refmlc.frontends' has no attribute {name!r}")
    module, extra = _HOME[name]
    try:
        value: object = load(f"{module}:{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != extra:
            raise
        way = f"pip install 'refmlc[{extra}]'"
        raise fail(BAD_USAGE, f"`{extra}` is not installed; `{name}` needs it", None, way) from None
    globals()[name] = value
    return value
