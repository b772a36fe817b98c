"""`tensorize`: a block replaced by the implementation of an intrinsic, whose description it is.

An intrinsic is a pair of functions of the same buffers: what it means (`desc`), and what stands for that (`impl`).

Legal where

* the block, or the loop made a block (`blockize`), is the nest of the description at an offset (`described`);
* the description touches all elements of its buffers, so that the parts of memory that are handed over are there;
* what it writes is no part of a buffer that it has as another one too;
* the buffers of the implementation have the shapes, dtypes and scopes, and promise nothing else: strides are variables
  or those that are there, offsets are variables, of which `offset_factor` is a divisor.

The implementation sees views of the parts. Decision: that it means what the description says is its author's word,
as in TVM; `Schedule(validate=True)` runs both, and so does `assert_equivalent(desc, impl)`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.arith.polynomial import constant
from refmlc.lang.dtypes import INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.rewrite.schedule.accesses import accesses
from refmlc.rewrite.schedule.blocks import blockize
from refmlc.rewrite.schedule.boxes import box, expression
from refmlc.rewrite.schedule.described import BufferPart, Comparison, axes_of
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.places import allocated, fresh_name, get_block, integer, names, refused, top, with_stmt
from refmlc.rewrite.schedule.session import Session

STEP = "tensorize"


@dataclass(frozen=True)
class TensorIntrin:
    """What an intrinsic means, and what stands for it; both take the same buffers in the same order."""

    desc: tir.PrimFunc
    impl: tir.PrimFunc

    def __repr__(self) -> str:
        return "TensorIntrin(desc, impl)"

    @staticmethod
    def register(name: str, desc: tir.PrimFunc, impl: tir.PrimFunc, override: bool = False) -> "TensorIntrin":
        """Let `tensorize` and `get` know the pair by a name. Fails: RM112 where it is taken, unless `override`."""
        if name in _REGISTER and not override:
            raise fail(BAD_USAGE, f"there is an intrinsic called `{name}`; `override=True` replaces it")
        _REGISTER[name] = TensorIntrin(desc, impl)
        return _REGISTER[name]

    @staticmethod
    def get(name: str, allow_missing: bool = False) -> "TensorIntrin | None":
        """The pair that is registered. Fails: RM112 where there is none, unless `allow_missing`."""
        if name not in _REGISTER and not allow_missing:
            raise fail(BAD_USAGE, f"there is no intrinsic called `{name}`; TensorIntrin.register makes one")
        return _REGISTER.get(name)


_REGISTER: dict[str, TensorIntrin] = {}
"""The pairs by name, for the whole process, as TVM's register is; a schedule holds the pair that it used."""


@entry_point
def tensorize(func: tir.PrimFunc, target: str | tir.Var, intrin: TensorIntrin) -> tuple[tir.PrimFunc, str]:
    """The block (by name) or the loop (by variable) as the intrinsic.

    Returns the function and the name of the block that holds the implementation. Fails: RM112, RM504.
    """
    func, name = blockize(func, target) if isinstance(target, tir.Var) else (func, target)
    realize = get_block(func, name)
    block = realize.block
    described = _buffers(intrin.desc)
    parts = _match_buffers(intrin.desc, block, described)
    _check_aliases(intrin.desc, parts)
    impl = _renamed(func, intrin.impl)
    views = _buffers(impl)
    if len(views) != len(described):
        raise fail(BAD_USAGE, "description and implementation have different parameters", intrin.impl.span)
    dtype = block.iter_vars[0].var.dtype if block.iter_vars else INT32
    matches = []
    for buffer, view in zip(described, views, strict=True):
        _check_view(impl, view, buffer, parts[buffer])
        matches.append(tir.MatchBufferRegion(view, _region(parts[buffer], buffer, dtype)))
    regions = dict(zip(described, (match.source for match in matches), strict=True))
    nodes = [*walk(top(intrin.desc)[0])]
    reads = {node.buffer for node in nodes if isinstance(node, tir.BufferLoad)}
    writes = {node.buffer for node in nodes if isinstance(node, tir.BufferStore)}
    new_block = replace(
        block,
        body=_body(impl),
        reads=tuple(regions[buffer] for buffer in described if buffer in reads),
        writes=tuple(regions[buffer] for buffer in described if buffer in writes),
        alloc_buffers=allocated(impl),
        match_buffers=tuple(matches),
    )
    return with_stmt(func, realize, replace(realize, block=new_block)), name


def _buffers(func: tir.PrimFunc) -> list[tir.Buffer]:
    """The buffers that the parameters are, in their order."""
    if any(var not in func.buffer_map for var in func.params):
        raise fail(BAD_USAGE, "an intrinsic takes buffers only", func.span)
    buffers = [func.buffer_map[var] for var in func.params]
    declared = {
        *buffers,
        *(buffer for node in walk(func) if isinstance(node, tir.SBlock) for buffer in node.alloc_buffers),
    }
    declared |= {node.buffer for node in walk(func) if isinstance(node, tir.AllocBuffer | tir.DeclBuffer)}
    declared |= {node.buffer for node in walk(func) if isinstance(node, tir.MatchBufferRegion)}
    for node in walk(func.body):
        if isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer not in declared:
            raise fail(
                BAD_USAGE, f"an intrinsic takes all of its buffers: `{node.buffer.name}` is no parameter", func.span
            )
    return buffers


def _match_buffers(
    desc: tir.PrimFunc, block: tir.SBlock, described: Sequence[tir.Buffer]
) -> dict[tir.Buffer, BufferPart]:
    """Where the buffers of the description are in the block, which must be what it says."""
    statements = top(desc)
    if len(statements) != 1 or allocated(desc) or block.match_buffers or block.alloc_buffers:
        raise refused(STEP, "the description is not one nest, or the block has memory of its own", desc.span)
    nest = statements[0]
    comparison = Comparison(axes_of(block.body), axes_of(nest))
    if not comparison.stmt(nest, block.body):
        raise refused(STEP, f"`{block.name}` is not what the description says", block.span)
    uses = accesses(nest)
    for buffer in described:
        sides = box(uses, buffer) if buffer in uses.indices else [None]
        if not all(side and side.is_all_of(size) for side, size in zip(sides, buffer.shape, strict=False)):
            raise refused(STEP, f"the description does not touch all of `{buffer.name}`", desc.span)
    return comparison.buffers


def _check_aliases(desc: tir.PrimFunc, parts: dict[tir.Buffer, BufferPart]) -> None:
    """What is written is nothing else that is handed over."""
    for node in walk(desc):
        if isinstance(node, tir.BufferStore):
            buffer = parts[node.buffer].buffer
            if sum(part.buffer is buffer for part in parts.values()) != 1:
                raise refused(STEP, f"`{buffer.name}` would be written under two names", desc.span)


def _check_view(impl: tir.PrimFunc, view: tir.Buffer, buffer: tir.Buffer, part: BufferPart) -> None:
    """The view may stand for the part."""
    sizes = [
        (a.value, b.value)
        for a, b in zip(view.shape, buffer.shape, strict=False)
        if _is_constant(a) and _is_constant(b)
    ]
    if (
        view.dtype != buffer.dtype
        or len(sizes) != len(buffer.shape) != len(view.shape)
        or any(a != b for a, b in sizes)
    ):
        raise fail(BAD_USAGE, f"`{view.name}` is not the buffer that the description has", impl.span)
    if view.scope != part.buffer.scope:
        message = f"`{view.name}` is of scope {view.scope}, `{part.buffer.name}` of {part.buffer.scope}"
        raise refused(STEP, message, impl.span)
    steps = _strides(part.buffer)
    part_strides = steps[len(steps) - len(buffer.shape) :] if steps else None
    for at, stride in enumerate(view.strides):
        same_stride = part_strides is not None and _is_constant(stride) and stride.value == part_strides[at]
        if not isinstance(stride, tir.Var) and not same_stride:
            raise refused(STEP, f"`{view.name}` may not have the stride that it says", impl.span)
    if view.elem_offset is not None and not isinstance(view.elem_offset, tir.Var):
        raise refused(STEP, f"`{view.name}` may not have the offset that it says", impl.span)
    if view.offset_factor > 1 and not _divides(view.offset_factor, part, steps):
        raise refused(STEP, f"the offset of `{view.name}` may be no multiple of {view.offset_factor}", impl.span)
    pointed = any(isinstance(node, tir.BufferData) and node.buffer is view for node in walk(impl.body))
    dense = part_strides is not None and part_strides == _compact([size for size, _ in sizes])
    if pointed and not view.strides and not dense:
        raise refused(STEP, f"`{view.name}` has no strides, its part has", impl.span)


def _is_constant(size: tir.Expr) -> TypeGuard[tir.IntImm]:
    return isinstance(size, tir.IntImm)


def _compact(sizes: Sequence[int]) -> list[int]:
    """The strides of a compact buffer of these sizes."""
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def _strides(buffer: tir.Buffer) -> list[int] | None:
    """The strides of a buffer, where they are known."""
    sizes = [size.value for size in buffer.strides or buffer.shape if isinstance(size, tir.IntImm)]
    if len(sizes) != len(buffer.shape):
        return None
    return sizes if buffer.strides else _compact(sizes)


def _divides(factor: int, part: BufferPart, steps: Sequence[int] | None) -> bool:
    """Whether the place in memory where the part begins is a multiple of `factor`."""
    offset = part.buffer.elem_offset
    begins = offset is None or (isinstance(offset, tir.IntImm) and offset.value % factor == 0)
    if steps is None or not begins:
        return False
    place = constant(0)
    for begin, step in zip(part.begin, steps, strict=True):
        place += begin.scaled(step)
    return all(times % factor == 0 for times in place.terms.values())


def _region(part: BufferPart, buffer: tir.Buffer, dtype: DType) -> tir.BufferRegion:
    """The part of memory that stands for a buffer of the description."""
    leading = len(part.begin) - len(buffer.shape)
    lengths = [1] * leading + [size.value for size in buffer.shape if isinstance(size, tir.IntImm)]
    sides = []
    for begin, length in zip(part.begin, lengths, strict=True):
        low = expression(begin, dtype)
        if low is None:
            raise refused(STEP, "the axes of the block are of different dtypes")
        sides.append(tir.Range(low, integer(length, dtype)))
    return tir.BufferRegion(part.buffer, tuple(sides))


def _body(impl: tir.PrimFunc) -> tir.Stmt:
    """What the implementation does, without the memory that the block allocates for it."""
    parts = tuple(part for part in top(impl) if not isinstance(part, tir.AllocBuffer))
    return parts[0] if len(parts) == 1 else tir.SeqStmt(parts)


def _renamed(func: tir.PrimFunc, impl: tir.PrimFunc) -> tir.PrimFunc:
    """The implementation with variables, buffers and names of blocks of its own, as it may be used more than once."""
    nodes = [*walk(impl)]
    table: dict[Node, Node] = {node: replace(node) for node in nodes if isinstance(node, tir.Var)}
    for node in nodes:
        if isinstance(node, tir.Buffer):
            table[node] = substitute(replace(node), table)
    used_names = names(func)

    def change(node: Node) -> Node:
        is_taken = isinstance(node, tir.SBlock) and node.name in used_names
        return replace(node, name=fresh_name(func, node.name)) if is_taken and isinstance(node, tir.SBlock) else node

    params = tuple(substitute(var, table) for var in impl.params)
    views = {new: substitute(impl.buffer_map[old], table) for old, new in zip(impl.params, params, strict=True)}
    body = rewrite(substitute(impl.body, table), change)
    return replace(impl, params=params, buffer_map=views, body=body)


@entry_points
class IntrinsicSteps(Session):
    """The method that replaces a block by an intrinsic."""

    def tensorize(
        self,
        block_or_loop: BlockRV | LoopRV | str,
        tensor_intrin: TensorIntrin | str,
        *,
        preserve_unit_iters: bool = True,
    ) -> None:
        """Replace the block, or the loop made a block, by the intrinsic: a pair, or the name of one."""
        intrin = TensorIntrin.get(tensor_intrin) if isinstance(tensor_intrin, str) else tensor_intrin
        if not isinstance(intrin, TensorIntrin):
            raise fail(BAD_USAGE, f"`tensorize` takes a TensorIntrin(desc, impl) or its name, not {tensor_intrin!r}")
        del preserve_unit_iters
        target = self._target(block_or_loop)
        name_or_var = target.name if isinstance(target, BlockRV) else target.var
        self._apply("tensorize", (target, tensor_intrin), lambda f: (tensorize(f, name_or_var, intrin)[0], ()))
