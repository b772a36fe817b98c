"""What kind of operator a TensorIR function is, as far as fusing it with others goes. The numbers are TVM's.

| kind      | number | one block, whose loads are at                                                         |
|-----------|--------|---------------------------------------------------------------------------------------|
| ELEMWISE  | 0      | the indices that it stores at; others may be BROADCAST                                |
| BROADCAST | 1      | some of them, in their order                                                          |
| INJECTIVE | 2      | indices made of its spatial axes                                                      |
| REDUCE    | 3      | anything; it reduces                                                                  |
| FUSABLE   | 4      | anything; it adds up products of loads (matmul, convolutions)                         |
| TUPLE     | 7      | no function: a tuple                                                                  |
| OPAQUE    | 8      | anything else                                                                         |

Several blocks are of the greatest of their kinds, where none reduces; else a function of several blocks is FUSABLE when
one adds up products and the others are INJECTIVE at most, and OPAQUE otherwise. An attribute `op_pattern` decides
where there is one.
"""

from dataclasses import replace

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import IterKind
from refmlc.lang.ir.visit import walk

ELEMWISE, BROADCAST, INJECTIVE, REDUCE, FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8
ATTRIBUTE = "op_pattern"
LOUD = (tir.Call, tir.While, tir.AttrStmt, tir.AssertStmt, tir.DeclBuffer, tir.BufferData, tir.MatchBufferRegion)


@entry_point
def annotate_tir_op_pattern(module: IRModule) -> IRModule:
    """`module` whose TensorIR functions say in an attribute what kind they are of."""
    functions = {
        name: replace(func, attrs={**func.attrs, ATTRIBUTE: pattern_of(func)})
        if isinstance(func, tir.PrimFunc) and ATTRIBUTE not in func.attrs
        else func
        for name, func in module.functions.items()
    }
    return replace(module, functions=functions)


def pattern_of(func: tir.PrimFunc) -> int:
    """The kind of a function."""
    annotated = func.attrs.get(ATTRIBUTE)
    if isinstance(annotated, int):
        return annotated
    nodes = [*walk(func.body)]
    blocks = [node for node in nodes if isinstance(node, tir.SBlock) and node.iter_vars]
    stores = [node for node in nodes if isinstance(node, tir.BufferStore)]
    inits = sum(block.init is not None for block in blocks)
    if not blocks or len(stores) != len(blocks) + inits or any(isinstance(node, LOUD) for node in nodes):
        return OPAQUE
    kinds = sorted(map(_kind, blocks))
    if len(kinds) == 1 or kinds[-1] <= INJECTIVE:
        return kinds[-1]
    return FUSABLE if kinds[-1] == FUSABLE and kinds[-2] <= INJECTIVE else OPAQUE


def _kind(block: tir.SBlock) -> int:
    store = block.body
    if isinstance(store, tir.IfThenElse) and store.else_case is None and block.init is not None:
        store = store.then_case  # a reduction along what may be empty
    if not isinstance(store, tir.BufferStore) or block.match_buffers or block.alloc_buffers:
        return OPAQUE
    if any(axis.kind is not IterKind.SPATIAL for axis in block.iter_vars):
        return FUSABLE if _adds_products(store) else REDUCE
    loads = [node for node in walk(store.value) if isinstance(node, tir.BufferLoad)]
    axes = [axis.var for axis in block.iter_vars]
    if list(store.indices) != axes or any(
        isinstance(part, tir.BufferLoad) for load in loads for part in _index_parts(load)
    ):
        return OPAQUE
    kinds = {_access(load, axes) for load in loads} or {ELEMWISE}
    return ELEMWISE if kinds == {ELEMWISE, BROADCAST} else max(kinds)


def _index_parts(load: tir.BufferLoad) -> list[object]:
    return [part for index in load.indices for part in walk(index)]


def _access(load: tir.BufferLoad, axes: list[tir.Var]) -> int:
    """The kind of a load at indices of the axes."""
    if list(load.indices) == axes:
        return ELEMWISE
    axes_left = iter(axes)
    moving = [index for index in load.indices if not (isinstance(index, tir.IntImm) and index.value == 0)]
    return BROADCAST if all(any(index is axis for axis in axes_left) for index in moving) else INJECTIVE


def _adds_products(store: tir.BufferStore) -> bool:
    match store.value:
        case tir.Apply("add", (tir.BufferLoad(buffer), term), _) if buffer is store.buffer:
            while isinstance(term, tir.Cast):
                term = term.value
            if not isinstance(term, tir.Apply) or term.op != "mul":
                return False
            return all(any(isinstance(part, tir.BufferLoad) for part in walk(factor)) for factor in term.args)
        case _:
            return False
