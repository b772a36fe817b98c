"""Steps that change notes for a compiler, and nothing that the function means.

| step                     | changes                                      | legal where                          |
|--------------------------|----------------------------------------------|--------------------------------------|
| `annotate`, `unannotate` | an annotation of a loop or a block           | it is there, or is not there yet     |
| `storage_align`          | `buffer_dim_align` of a block, for an output | the output is allocated at the root  |
| `set_scope`              | the scope of an output of a block            | the same, and there are no threads   |

Memory of scope `shared` or `local` is private to threads (`ir.scopes`), so that the scope means something as soon as
there are threads.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import substitute, walk
from refmlc.rewrite.schedule.handles import BlockRV, ExprRV, LoopRV
from refmlc.rewrite.schedule.places import allocated, get_block, get_loop, refused, with_stmt
from refmlc.rewrite.schedule.session import Session

ALIGN = "buffer_dim_align"


@entry_point
def annotate(func: tir.PrimFunc, target: str | tir.Var, key: str, value: tir.Attr) -> tir.PrimFunc:
    """The block (by name) or loop (by variable) with an annotation. Fails: RM112 where it has one of this key."""
    annotations = _annotations(func, target)
    if key in annotations:
        raise fail(BAD_USAGE, f"`{key}` is annotated already", func.span)
    return _annotated(func, target, {**annotations, key: value})


@entry_point
def unannotate(func: tir.PrimFunc, target: str | tir.Var, key: str) -> tir.PrimFunc:
    """The block or loop without the annotation. Fails: RM112 where it has none of this key."""
    annotations = _annotations(func, target)
    if key not in annotations:
        raise fail(BAD_USAGE, f"there is no annotation `{key}`", func.span)
    return _annotated(func, target, {name: value for name, value in annotations.items() if name != key})


def _annotations(func: tir.PrimFunc, target: str | tir.Var) -> Mapping[str, tir.Attr]:
    node = get_block(func, target).block if isinstance(target, str) else get_loop(func, target)
    return node.annotations


def _annotated(func: tir.PrimFunc, target: str | tir.Var, annotations: Mapping[str, tir.Attr]) -> tir.PrimFunc:
    if isinstance(target, tir.Var):
        node = get_loop(func, target)
        return with_stmt(func, node, replace(node, annotations=annotations))
    realize = get_block(func, target)
    return with_stmt(func, realize, replace(realize, block=replace(realize.block, annotations=annotations)))


@entry_point
def storage_align(
    func: tir.PrimFunc, block: str, buffer_index: int, axis: int, factor: int, offset: int
) -> tir.PrimFunc:
    """The stride of `axis` of an output of the block is said to be k · factor + offset. Fails: RM112, RM504."""
    buffer = output_buffer(func, block, buffer_index)
    _allocated_block(func, block, buffer, "storage_align")
    if not -len(buffer.shape) <= axis < len(buffer.shape) or factor < 1:
        raise fail(BAD_USAGE, f"`{buffer.name}` has no dimension {axis}, or the factor {factor} is not positive")
    annotations = _annotations(func, block)
    rows = annotations.get(ALIGN, ())
    row = (buffer_index, axis % len(buffer.shape), factor, offset)
    other_rows: tuple[tir.Attr, ...] = rows if isinstance(rows, tuple) else ()
    other_rows = tuple(entry for entry in other_rows if not (isinstance(entry, tuple) and entry[:2] == row[:2]))
    return _annotated(func, block, {**annotations, ALIGN: (*other_rows, row)})


@entry_point
def set_scope(func: tir.PrimFunc, block: str, buffer_index: int, scope: str) -> tir.PrimFunc:
    """The output of the block is memory of another scope. Fails: RM112, RM504."""
    buffer = output_buffer(func, block, buffer_index)
    realize = _allocated_block(func, block, buffer, "set_scope")
    thread_loops = [node for node in walk(func) if isinstance(node, tir.For) and node.kind is ForKind.THREAD_BINDING]
    if thread_loops or any(isinstance(node, tir.AttrStmt) for node in walk(func)):
        raise refused("set_scope", "there are threads, to which memory would be private", realize.span)
    table: dict[Node, Node] = {buffer: replace(buffer, scope=scope)}
    return replace(func, body=substitute(func.body, table))


def _allocated_block(func: tir.PrimFunc, block: str, buffer: tir.Buffer, step: str) -> tir.SBlockRealize:
    realize = get_block(func, block)
    if buffer not in allocated(func):
        raise refused(step, f"`{buffer.name}` is not allocated at the root", realize.span)
    return realize


def output_buffer(func: tir.PrimFunc, block: str, index: int) -> tir.Buffer:
    """The buffer `index` among those that a block writes. Fails: RM112."""
    block_node = get_block(func, block).block
    stores = [node.buffer for node in walk(block_node) if isinstance(node, tir.BufferStore)]
    buffers = list(
        dict.fromkeys(stores if block_node.writes is None else [region.buffer for region in block_node.writes])
    )
    if not 0 <= index < len(buffers):
        raise fail(BAD_USAGE, f"`{block}` writes {len(buffers)} buffers; there is none of index {index}")
    return buffers[index]


@entry_points
class NoteSteps(Session):
    """`annotate`, `unannotate`, `storage_align`, `set_scope`."""

    def annotate(self, target: BlockRV | LoopRV, ann_key: str, ann_val: "tir.Attr | ExprRV") -> None:
        """Annotate a block or a loop."""
        self._change(annotate, target, ann_key, ann_val)

    def unannotate(self, target: BlockRV | LoopRV, ann_key: str) -> None:
        """Remove an annotation of a block or a loop."""
        self._change(unannotate, target, ann_key)

    def storage_align(self, block: BlockRV | str, buffer_index: int, axis: int, factor: int, offset: int) -> None:
        """Set the stride of `axis` of an output to k · factor + offset."""
        self._change(storage_align, self._block_handle(block), buffer_index, axis, factor, offset)

    def set_scope(self, block: BlockRV | str, buffer_index: int, storage_scope: str) -> None:
        """Set the scope of an output."""
        self._change(set_scope, self._block_handle(block), buffer_index, storage_scope)
