"""What certainly has an effect when it is called: the rule of dataflow blocks and of pure functions.

| callee                              | has an effect                                   |
|-------------------------------------|-------------------------------------------------|
| operator                            | when its row in `refmlc.lang.ops.graph` says so |
| packed function, by `R.call_packed` | yes                                             |
| Relax function                      | when it says `pure=False`                       |
| TensorIR function, called directly  | when it has a buffer or pointer to write to     |
| value of function type              | when the type says so                           |

Allocation is not an effect, as in TVM.
"""

from collections.abc import Mapping

from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import Call, ExternFunc, Function, Op, Var
from refmlc.lang.ir.types import FuncType, Type
from refmlc.lang.ops.graph import is_pure
from refmlc.lang.wellformed.infer import type_of


def effect_of(call: Call, module: IRModule, types: Mapping[Var, Type | None]) -> str | None:
    """What in `call` certainly has an effect, for a message; None where nothing does."""
    match call.op:
        case Op(name):
            return f"`R.{name}`" if not is_pure(name) else None
        case ExternFunc(symbol):
            return f"the packed function `{symbol}`"
        case tir.GlobalVar(name):
            return f"`{name}`" if _is_impure(module.functions.get(name)) else None
        case _:
            ty = type_of(call.op, module, types)
            word = f"`{call.op.name}`" if isinstance(call.op, Var) else "the called function"
            return word if isinstance(ty, FuncType) and not ty.pure else None


def _is_impure(function: object) -> bool:
    """Whether a function of the module certainly has effects."""
    match function:
        case Function():
            return not function.pure
        case tir.PrimFunc():
            return any(param.dtype.kind == "handle" for param in function.params)
        case _:
            return False
