"""The course's API by its own names: `import refmlc.tvm as tvm`, or `refmlc.install_tvm()` and then `import tvm`.

| name                                                | is                                                            |
|-----------------------------------------------------|---------------------------------------------------------------|
| `script.ir_module`, `T`, `R`, `I`                   | the decorators of `refmlc.lang.script`, with what TVM deduces |
| `te`, `topi`, `relax.op`                            | tensor expressions; the operator library                      |
| `relax.BlockBuilder`, `Var`, `const`, …             | the builder; nodes, classes by TVM's names (`nodes`)          |
| `relax.transform`, `transform`                      | `bind_params`, `legalize_ops`, … as passes                    |
| `relax.analysis`                                    | variables, bindings, functions of a function                  |
| `build`, `compile`, `relax.build`, `relax.vm.build` | `refmlc.build` (`build_functions`)                            |
| `relax.VirtualMachine`, `cpu`, `target.Target`      | the machine; the CPU, under every name                        |
| `nd.array`, `runtime.tensor`                        | `Tensor`                                                      |
| `register_func`, `register_global_func`             | the registry                                                  |
| `tir.Schedule`, `s_tir.Schedule`                    | `refmlc.rewrite.schedule.Schedule`                            |
| `meta_schedule`                                     | a search over schedules, loaded when it is named              |
| `contrib`                                           | what schedules import of C compilers, when it is named        |
| `arith`                                             | refused by name                                               |

Missing names raise AttributeError with a reason. Clauses: what modules mean is in conformance/spec; the decisions
of this package stand where they are made (`devices`, `build_functions`, `nodes`).
"""

from refmlc.run.memory.registry import register_func
from refmlc.run.memory.tensor import Tensor as _Tensor
from refmlc.tvm import arith, ir, nd, relax, runtime, s_tir, script, target, te, testing, tir, tirx, topi, transform
from refmlc.tvm.build_functions import build, build as compile  # noqa: A004 - TVM's name
from refmlc.tvm.devices import cpu, cuda, device, metal
from refmlc.tvm.ir import IRModule
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.packed_functions import get_global_func

register_global_func = register_func
Tensor = _Tensor
__version__ = "0.27.0+refmlc"

__all__ = [
    "IRModule",
    "Tensor",
    "arith",
    "build",
    "compile",
    "cpu",
    "cuda",
    "device",
    "get_global_func",
    "ir",
    "metal",
    "nd",
    "register_func",
    "register_global_func",
    "relax",
    "runtime",
    "s_tir",
    "script",
    "target",
    "te",
    "testing",
    "tir",
    "tirx",
    "topi",
    "transform",
]

_MODULES = {
    "dlight": "refmlc.tvm.s_tir.dlight",
    "meta_schedule": "refmlc.tvm.meta_schedule",
    "contrib": "refmlc.tvm.contrib",
}
__getattr__ = refusal(__name__, __all__, _MODULES)
