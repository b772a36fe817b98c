"""Loads of global memory through the cache for memory that nobody writes (TIX-010).

| call                                                 | meaning                                              |
|------------------------------------------------------|------------------------------------------------------|
| `T.cuda.ldg(p, dtype)`                               | the element at p                                     |
| `T.cuda.ldg(d0, d1, p, dtype, "v2", 2)`, 4 with `v4` | the elements at p and after it, stored where d0 … are |

A view of the memory is declared, so every access goes the way of all accesses: bounds, initialisation, hooks.
"""

from collections.abc import Callable, Mapping

from refmlc.diag.catalogue import UNSUPPORTED_INTRINSIC
from refmlc.lang.dtypes import HANDLE, INT32, SCALARS
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import PointerType
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.ptx.stores import PLACE
from refmlc.run.interp.tensorir.frame import Eval, Frame
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.memory.cells import cell_size

VECTORS = {"v2": 2, "v4": 4}


def _ldg(scope: Scope, node: tir.Call) -> Eval:  # TIX-010
    texts = [arg.value if isinstance(arg, tir.StringImm) else arg for arg in node.args]
    kind = next((text for text in texts if isinstance(text, str)), "")
    first = texts.index(kind) if kind else 0
    targets, count = texts[: first - 1], VECTORS.get(str(texts[-2]), 1) if len(texts) > 1 else 0
    stores = [element for target in targets if (element := _element(target)) is not None]
    place = texts[first - 1] if first else None
    expected = 0 if count == 1 else count
    if kind not in SCALARS or not isinstance(place, tir.Expr) or not len(stores) == len(targets) == expected:
        message = f"`T.cuda.ldg` of `{kind[:20]}` with {len(node.args)} operands is not executed"
        return scope.unsupported(UNSUPPORTED_INTRINSIC, message, node.span)
    memory, declare = _view(scope, node, place, kind, count)
    loads = [tir.BufferLoad(memory, (tir.IntImm(INT32, lane),), span=node.span) for lane in range(count)]
    if not stores:
        value = scope.expr(loads[0])

        def load(frame: Frame) -> object:
            declare(frame)
            return value(frame)

        return load
    writes = [
        scope.stmt(tir.BufferStore(element.buffer, value, element.indices, span=node.span))
        for element, value in zip(stores, loads, strict=True)
    ]

    def write(frame: Frame) -> None:
        declare(frame)
        for store in writes:
            store(frame)

    return write


def _element(target: object) -> tir.BufferLoad | None:
    match target:
        case tir.Call(callee="address_of", args=(tir.BufferLoad() as element, *_)):
            return element
        case _:
            return None


def _view(
    scope: Scope, node: tir.Call, place: tir.Expr, kind: str, count: int
) -> tuple[tir.Buffer, Callable[[Frame], None]]:
    """The memory as a buffer of `count` elements, and its declaration."""
    named = (part.buffer for part in walk(place) if isinstance(part, tir.BufferLoad | tir.BufferData))
    source, dtype = next(named, None), SCALARS[kind]
    name = "memory" if source is None else source.name
    memory = tir.Buffer(name, dtype, (tir.IntImm(INT32, count),), scope="global", span=node.span)
    size = tir.IntImm(INT32, count * cell_size(dtype))
    operands = (tir.StringImm("ldg,global"), size, place, tir.IntImm(INT32, 0))
    at = tir.Call(PLACE, operands, HANDLE, PointerType(dtype, "global"), span=node.span)
    return memory, scope.stmt(tir.DeclBuffer(memory, at, span=node.span))


EXECUTED: Mapping[str, Callable[[Scope, tir.Call], Eval]] = {"cuda.ldg": _ldg}
