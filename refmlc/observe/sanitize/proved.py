"""Functions in which no detector can find anything, for any arguments: they run without detectors (NAT-006).

A prim_func is *plain* when

| part                   | is                                                                                       |
|------------------------|------------------------------------------------------------------------------------------|
| loops                  | serial or unrolled, step 1                                                               |
| calls                  | intrinsics only                                                                          |
| block that is the body | without axes; its statements count                                                       |
| other blocks           | without blocks in them; predicate true; each axis spatial or reduce, bound to a variable |
|                        | of a loop over the axis's own domain, each loop around naming one axis                   |
| block that reduces     | with an init                                                                             |
| stores of a block      | every spatial axis is an index of its own; a load of a buffer that is stored has the     |
|                        | same indices                                                                             |
| declared regions       | hold each access index by index, or are the whole buffer; or nothing is declared         |

Then every instance is executed once and none depends on another one: no RM318, RM319, RM320, RM321, RM325, RM326.
RM323 needs the calls in the module: the buffers that a plain function stores to must be their outputs. RM322 depends on
the arguments.
"""

from collections.abc import Iterator, Sequence

from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TupleType
from refmlc.lang.ir.visit import walk
from refmlc.run.interp.graph.calls import inplace_indices

QUIET = (ForKind.SERIAL, ForKind.UNROLLED)


def is_plain(func: tir.PrimFunc) -> bool:
    """True if no detector can find anything within `func`, except overlapping arguments and written inputs."""
    body = func.body
    if isinstance(body, tir.SBlockRealize) and not body.block.iter_vars and body.block.init is None:
        if not _is_true(body.predicate) or body.block.match_buffers:
            return False
        body = body.block.body
    return _statement(body, ())


def outputs_alone(module: IRModule, name: str, func: tir.PrimFunc) -> bool:
    """True if in every call in the module the buffers that `func` stores to are outputs of the call."""
    buffers = [func.buffer_map[param] for param in func.params if param in func.buffer_map]
    roots = _roots(func)
    stored_roots = {_root(roots, node.buffer) for node in walk(func.body) if isinstance(node, tir.BufferStore)}
    first = min((number for number, buffer in enumerate(buffers) if buffer in stored_roots), default=len(buffers))
    for call in _calls(module, name):
        if not isinstance(call.op, relax.Op) or call.op.name not in ("call_tir", "call_tir_with_grad"):
            return not inplace_indices(call) and not stored_roots
        if len(buffers) - first > _count(call):
            return False
    return True


def _calls(module: IRModule, name: str) -> Iterator[relax.Call]:
    """The calls of operators that have the function among their arguments."""
    for function in module.functions.values():
        if isinstance(function, relax.Function):
            for node in walk(function.body):
                if isinstance(node, relax.Call):
                    names = [arg.name for arg in node.args if isinstance(arg, tir.GlobalVar)]
                    yield from [node] if name in names else []


def _count(call: relax.Call) -> int:
    match call.ty_args:
        case (TupleType(fields),):
            return len(fields)
        case _:
            return 1


def _roots(func: tir.PrimFunc) -> dict[tir.Buffer, tir.Buffer]:
    declarations = [node for node in walk(func.body) if isinstance(node, tir.DeclBuffer)]
    return {node.buffer: node.data.buffer for node in declarations if isinstance(node.data, tir.BufferData)}


def _root(roots: dict[tir.Buffer, tir.Buffer], buffer: tir.Buffer) -> tir.Buffer:
    while buffer in roots:
        buffer = roots[buffer]
    return buffer


def _statement(stmt: tir.Stmt, loops: tuple[tir.For, ...]) -> bool:
    match stmt:
        case tir.For(kind=kind, step=None, thread=None, body=body) if kind in QUIET:
            return _statement(body, (*loops, stmt))
        case tir.SeqStmt(seq=seq):
            return all(_statement(part, loops) for part in seq)
        case tir.SBlockRealize():
            return _block(stmt, loops)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            parts = (then_case,) if else_case is None else (then_case, else_case)
            return _is_quiet(stmt.condition) and all(_has_no_blocks(part) and _statement(part, loops) for part in parts)
        case tir.BufferStore() | tir.Bind() | tir.AllocBuffer() | tir.AssertStmt() | tir.Evaluate():
            return _is_quiet(stmt)
        case tir.DeclBuffer(data=tir.BufferData()):
            return True
        case _:
            return False


def _is_quiet(node: Node) -> bool:
    """True if every call is of an intrinsic."""
    return not any(isinstance(part, tir.Call) and not isinstance(part.callee, str) for part in walk(node))


def _has_no_blocks(node: Node) -> bool:
    return not any(isinstance(part, tir.SBlockRealize) for part in walk(node))


def _block(node: tir.SBlockRealize, loops: tuple[tir.For, ...]) -> bool:
    block = node.block
    if not _is_true(node.predicate) or block.match_buffers or not _has_no_blocks(block.body):
        return False
    if not _binds(node, loops) or not _statement(block.body, ()):
        return False
    reduces = any(axis.kind is IterKind.REDUCE for axis in block.iter_vars)
    if reduces and block.init is None:
        return False
    if block.init is not None and not (_has_no_blocks(block.init) and _statement(block.init, ())):
        return False
    return _is_apart(block) and _is_declared(block)


def _binds(node: tir.SBlockRealize, loops: tuple[tir.For, ...]) -> bool:
    """True if the loops around are the axes, one for one."""
    by_var = {loop.loop_var: loop for loop in loops}
    for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True):
        loop = by_var.pop(value, None) if isinstance(value, tir.Var) else None
        if loop is None or axis.kind not in (IterKind.SPATIAL, IterKind.REDUCE):
            return False
        if not (structural_equal(loop.min, axis.dom.min) and structural_equal(loop.extent, axis.dom.extent)):
            return False
    return not by_var


def _accesses(block: tir.SBlock) -> list[tir.BufferLoad | tir.BufferStore]:
    parts = [block.body] if block.init is None else [block.init, block.body]
    return [node for part in parts for node in walk(part) if isinstance(node, (tir.BufferLoad, tir.BufferStore))]


def _is_apart(block: tir.SBlock) -> bool:
    """True if no instance accesses an element that another one writes."""
    accesses = _accesses(block)
    local_buffers = {node.buffer for node in walk(block) if isinstance(node, tir.AllocBuffer)} | set(
        block.alloc_buffers
    )
    views = {node.buffer for node in walk(block) if isinstance(node, tir.DeclBuffer)}
    spatial = [axis.var for axis in block.iter_vars if axis.kind is IterKind.SPATIAL]
    stored: dict[tir.Buffer, Sequence[tir.Expr]] = {}
    for access in accesses:
        if access.buffer in views:
            return False
        if isinstance(access, tir.BufferStore) and access.buffer not in local_buffers:
            if any(var not in access.indices for var in spatial):
                return False
            indices = stored.setdefault(access.buffer, access.indices)
            if not structural_equal(tuple(indices), access.indices):
                return False
    loads = [load for load in accesses if isinstance(load, tir.BufferLoad) and load.buffer in stored]
    data = {node.buffer for node in walk(block) if isinstance(node, tir.BufferData)}
    return not data & stored.keys() and all(
        structural_equal(tuple(stored[load.buffer]), load.indices) for load in loads
    )


def _is_declared(block: tir.SBlock) -> bool:
    """True if the regions contain each access."""
    local_buffers = {node.buffer for node in walk(block) if isinstance(node, tir.AllocBuffer)} | set(
        block.alloc_buffers
    )
    reads, writes = block.reads, block.writes
    for access in _accesses(block):
        if access.buffer in local_buffers:
            continue
        if isinstance(access, tir.BufferStore):
            regions = writes
        else:
            folds = block.init is not None or not block.iter_vars
            regions = None if reads is None else (*reads, *((writes or ()) if folds else ()))
        if regions is not None and not any(_holds(region, access) for region in regions):
            return False
    return True


def _holds(region: tir.BufferRegion, access: tir.BufferLoad | tir.BufferStore) -> bool:
    if region.buffer is not access.buffer or len(region.region) != len(access.indices):
        return False
    for axis, index, extent in zip(region.region, access.indices, access.buffer.shape, strict=True):
        point = isinstance(axis.extent, tir.IntImm) and axis.extent.value == 1 and structural_equal(axis.min, index)
        whole = isinstance(axis.min, tir.IntImm) and axis.min.value == 0 and structural_equal(axis.extent, extent)
        if not point and not whole:
            return False
    return True


def _is_true(predicate: tir.Expr) -> bool:
    return isinstance(predicate, tir.IntImm) and bool(predicate.value)
