"""Which blocks make what others read: questions that change nothing.

| question            | answer                                                                         |
|---------------------|--------------------------------------------------------------------------------|
| `get_child_blocks`  | the blocks directly in a block, or in a loop                                   |
| `get_producers`     | the blocks beside it that write a buffer which the block reads                 |
| `get_consumers`     | the blocks beside it that read a buffer which the block writes                 |
| `get_output_blocks` | the blocks in a block that write what is not allocated there                   |

Order: of the text. A block reads and writes what it says; where it says nothing, what it loads and stores. Beside it:
in the same block around.
"""

from refmlc.diag.entry import entry_point, entry_points
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.rewrite.schedule.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.places import allocated, get_block, get_loop, is_root, parts, place_of_block, top
from refmlc.rewrite.schedule.session import Session

ROOT = "root"


@entry_point
def get_child_blocks(func: tir.PrimFunc, target: str | tir.Var) -> tuple[str, ...]:
    """The blocks in a block (by name, `root` too) or in a loop (by variable), not those in them. Fails: RM112."""
    if isinstance(target, tir.Var):
        return tuple(_below([get_loop(func, target).body]))
    return tuple(_below(_statements_of(func, target)))


@entry_point
def get_producers(func: tir.PrimFunc, block: str) -> tuple[str, ...]:
    """The blocks whose outputs the block reads. Fails: RM112."""
    loaded = _reads(get_block(func, block).block)
    return tuple(name for name in _beside(func, block) if _writes(get_block(func, name).block) & loaded)


@entry_point
def get_consumers(func: tir.PrimFunc, block: str) -> tuple[str, ...]:
    """The blocks that read the outputs of the block. Fails: RM112."""
    stored = _writes(get_block(func, block).block)
    return tuple(name for name in _beside(func, block) if _reads(get_block(func, name).block) & stored)


@entry_point
def get_output_blocks(func: tir.PrimFunc, block: str = ROOT) -> tuple[str, ...]:
    """The blocks in `block` that write what lives outside of it. Fails: RM112."""
    allocated_here = set(allocated(func)) if _is_root(func, block) else set(get_block(func, block).block.alloc_buffers)
    return tuple(
        name for name in get_child_blocks(func, block) if _writes(get_block(func, name).block) - allocated_here
    )


def _is_root(func: tir.PrimFunc, block: str) -> bool:
    return block == ROOT and (not isinstance(func.body, tir.SBlockRealize) or is_root(func.body))


def _statements_of(func: tir.PrimFunc, block: str) -> list[tir.Stmt]:
    return [*top(func)] if _is_root(func, block) else [get_block(func, block).block.body]


def _below(statements: list[tir.Stmt]) -> list[str]:
    names: list[str] = []
    for stmt in statements:
        if isinstance(stmt, tir.SBlockRealize):
            names.append(stmt.block.name)
        else:
            names += _below([*parts(stmt)])
    return names


def _beside(func: tir.PrimFunc, block: str) -> list[str]:
    around = [name for name in place_of_block(func, block).around if isinstance(name, tir.SBlockRealize)]
    scope = around[-1].block.name if around and not is_root(around[-1]) else ROOT
    return [name for name in get_child_blocks(func, scope) if name != block]


def _writes(block: tir.SBlock) -> set[tir.Buffer]:
    stores = {node.buffer for node in walk(block) if isinstance(node, tir.BufferStore)}
    return stores if block.writes is None else {region.buffer for region in block.writes}


def _reads(block: tir.SBlock) -> set[tir.Buffer]:
    if block.reads is not None:
        return {region.buffer for region in block.reads}
    loads = {node.buffer for node in walk(block) if isinstance(node, tir.BufferLoad)}
    return loads - (_writes(block) if block.init is not None else set())


@entry_points
class Relations(Session):
    """The questions of this file."""

    def get_child_blocks(self, target: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks directly in a block or a loop. Fails: RM112."""
        return self._related(get_child_blocks, target)

    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that write what the block reads. Fails: RM112."""
        return self._related(get_producers, self._block_handle(block))

    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that read what the block writes. Fails: RM112."""
        return self._related(get_consumers, self._block_handle(block))

    def get_output_blocks(self, scope_block: BlockRV | str = "root") -> list[BlockRV]:
        """The blocks in a block that write what lives outside of it. Fails: RM112."""
        return self._related(get_output_blocks, self._block_handle(scope_block))
