"""Models of other frameworks become modules: each frontend is a file, imported by who needs it, never by `refmlc`.

| file            | takes                                                          | extra     |
|-----------------|----------------------------------------------------------------|-----------|
| `torch_export`  | what `torch.export.export` gives                               | `[torch]` |
| `torch_fx`      | what `torch.fx.symbolic_trace` gives, with maps of one's own   | `[torch]` |
| `onnx_import`   | a model of ONNX                                                | `[onnx]`  |
| `tvm_objects`   | modules of real TVM: objects, text, JSON (`from_tvm`)          |           |
| `tvm_json`      | the JSON graph of `tvm.ir.save_json`                           |           |
| `programs`      | whatever a program may be given as: objects, paths, texts      |           |
| `files`         | files of these, by their endings                               |           |
| `aten`          | the operators of PyTorch, each in operators of Relax           |           |
| `fx_rules`, `onnx_rules` | what `torch.fx` and ONNX call differently             |           |
| `emitter`, `rule`, `sizes` | what the rules of `aten` are written with; symbolic sizes |     |
| `arrays`        | tensors of PyTorch as constants, its dtypes by name            |           |
| `unknown`       | what is said of an operator without a rule                     |           |
| `malformed`     | what Python raises on input that is not as its format says     |           |

Nothing here computes: a frontend writes calls of the operators that the library defines.
"""

from refmlc.frontends.tvm_objects import from_tvm

__all__ = ["from_tvm"]
