"""Where a step applies: the statements of a function, with what stands around each; loops and blocks by name.

| function    | gives                                                                            |
|-------------|----------------------------------------------------------------------------------|
| `get_block` | the one block of a name                                                          |
| `get_loops` | the variables of the loops around it, up to the block around, outermost first    |
| `get_loop`  | the loop of a variable                                                           |
| `top`       | the statements at the root of the function, in their order                       |
| `with_top`  | the function with others there                                                   |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_USAGE, UNSUPPORTED_CONSTRUCT
from refmlc.diag.entry import entry_point
from refmlc.lang.dtypes import BOOL, INT32, DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk

TRUE = tir.IntImm(BOOL, 1)


@dataclass(frozen=True)
class Place:
    """A statement and those around it, outermost first."""

    stmt: tir.Stmt
    around: tuple[tir.Stmt, ...]


def refused(step: str, why: str, span: Span | None = None) -> RefmlcError:
    """The refusal of a step: it cannot be shown to keep the meaning."""
    return fail(UNSUPPORTED_CONSTRUCT, f"`{step}` is refused: {why}", span)


def parts(stmt: tir.Stmt) -> tuple[tir.Stmt, ...]:
    """The statements directly inside, in the order of execution."""
    match stmt:
        case tir.For(body=body) | tir.While(body=body) | tir.AttrStmt(body=body):
            return (body,)
        case tir.SeqStmt(seq):
            return seq
        case tir.IfThenElse(_, then_case, else_case):
            return (then_case,) if else_case is None else (then_case, else_case)
        case tir.SBlockRealize(block=block):
            return (block.body,) if block.init is None else (block.init, block.body)
        case _:
            return ()


def places(stmt: tir.Stmt) -> Iterator[Place]:
    """Every statement at or below `stmt`. Order: of the text."""
    stack = [Place(stmt, ())]
    while stack:
        place = stack.pop()
        yield place
        around = (*place.around, place.stmt)
        stack.extend(Place(part, around) for part in reversed(parts(place.stmt)))


def place_of_block(func: tir.PrimFunc, name: str) -> Place:
    """The block of this name, with what stands around it. Fails: RM112 where there is none, or more than one."""
    matches = [
        place
        for place in places(func.body)
        if isinstance(place.stmt, tir.SBlockRealize) and place.stmt.block.name == name
    ]
    if len(matches) != 1:
        number = "no block" if not matches else f"{len(matches)} blocks"
        raise fail(BAD_USAGE, f"the function has {number} called `{name}`", func.span)
    return matches[0]


@entry_point
def get_block(func: tir.PrimFunc, name: str) -> tir.SBlockRealize:
    """The block of this name. Fails: RM112."""
    stmt = place_of_block(func, name).stmt
    assert isinstance(stmt, tir.SBlockRealize)  # noqa: S101 - what `place_of_block` looks for
    return stmt


@entry_point
def get_loops(func: tir.PrimFunc, name: str) -> tuple[tir.Var, ...]:
    """The variables of the loops around a block, up to the block around it. Order: outermost first. Fails: RM112."""
    variables: list[tir.Var] = []
    for stmt in reversed(place_of_block(func, name).around):
        if isinstance(stmt, tir.SBlockRealize):
            break
        if isinstance(stmt, tir.For):
            variables.append(stmt.loop_var)
    return tuple(reversed(variables))


def place_of_loop(func: tir.PrimFunc, loop: tir.Var) -> Place:
    """The loop over this variable, with what stands around it. Fails: RM112."""
    matches = [place for place in places(func.body) if isinstance(place.stmt, tir.For) and place.stmt.loop_var is loop]
    if len(matches) != 1:
        raise fail(BAD_USAGE, f"the function has no loop over the variable `{loop.name}`", func.span)
    return matches[0]


@entry_point
def get_loop(func: tir.PrimFunc, loop: tir.Var) -> tir.For:
    """The loop over this variable. Fails: RM112."""
    stmt = place_of_loop(func, loop).stmt
    assert isinstance(stmt, tir.For)  # noqa: S101 - what `place_of_loop` looks for
    return stmt


def with_stmt(func: tir.PrimFunc, old: tir.Stmt, new: tir.Stmt) -> tir.PrimFunc:
    """The function with `new` in the place of `old`; a sequence in a sequence is part of it, as in the text."""
    body = substitute(func.body, {old: new})
    return replace(func, body=rewrite(body, _flat) if isinstance(new, tir.SeqStmt) else body)


def _flat(node: Node) -> Node:
    if not isinstance(node, tir.SeqStmt) or not any(isinstance(part, tir.SeqStmt) for part in node.seq):
        return node
    seq = [part.seq if isinstance(part, tir.SeqStmt) else (part,) for part in node.seq]
    return replace(node, seq=tuple(part for group in seq for part in group))


def is_root(stmt: tir.Stmt) -> bool:
    """Whether a statement is the block at the root: no axes, always executed."""
    match stmt:
        case tir.SBlockRealize((), tir.IntImm(value=1), block):
            return block.init is None and not block.iter_vars and not block.match_buffers
        case _:
            return False


def top(func: tir.PrimFunc) -> tuple[tir.Stmt, ...]:
    """The statements at the root of the function, in their order."""
    body = func.body
    if isinstance(body, tir.SBlockRealize) and is_root(body):
        body = body.block.body
    return body.seq if isinstance(body, tir.SeqStmt) else (body,)


def with_top(
    func: tir.PrimFunc,
    statements: Sequence[tir.Stmt],
    *,
    added: Sequence[tir.Buffer] = (),
    dropped: Sequence[tir.Buffer] = (),
) -> tir.PrimFunc:
    """The function with these statements at its root, and buffers allocated there or no more."""
    remaining = [part for part in statements if not (isinstance(part, tir.AllocBuffer) and part.buffer in dropped)]
    root = func.body
    if isinstance(root, tir.SBlockRealize) and is_root(root):
        buffers = (*(buffer for buffer in root.block.alloc_buffers if buffer not in dropped), *added)
        if not buffers and not root.block.annotations:
            return replace(func, body=sequence(remaining))  # a root block that allocates nothing is not written
        block = replace(root.block, body=sequence(remaining), alloc_buffers=buffers)
        return replace(func, body=replace(root, block=block))
    blocks = any(isinstance(node, tir.SBlockRealize) for part in remaining for node in walk(part))
    if added and func.s_tir and blocks and not any(isinstance(part, tir.AllocBuffer) for part in remaining):
        block = tir.SBlock("root", (), None, None, sequence(remaining), None, tuple(added))
        return replace(func, body=tir.SBlockRealize((), TRUE, block))
    return replace(func, body=sequence([*(tir.AllocBuffer(buffer) for buffer in added), *remaining]))


def sequence(statements: Sequence[tir.Stmt]) -> tir.Stmt:
    """Statements in order, as one."""
    if len(statements) == 1:
        return statements[0]
    flat = _flat(tir.SeqStmt(tuple(statements)))
    assert isinstance(flat, tir.SeqStmt)  # noqa: S101 - as what it was made of
    return flat


def position(func: tir.PrimFunc, stmt: tir.Stmt) -> int:
    """The place among the statements at the root of the one that holds `stmt`. Fails: RM112 for the root itself."""
    for at, part in enumerate(top(func)):
        if any(place.stmt is stmt for place in places(part)):
            return at
    name = stmt.block.name if isinstance(stmt, tir.SBlockRealize) else "the statement"
    raise fail(BAD_USAGE, f"`{name}` is the root of the function: a step applies to what it holds", stmt.span)


def allocated(func: tir.PrimFunc) -> tuple[tir.Buffer, ...]:
    """The buffers that are allocated at the root."""
    root = func.body
    buffers = root.block.alloc_buffers if isinstance(root, tir.SBlockRealize) and is_root(root) else ()
    return (*buffers, *(part.buffer for part in top(func) if isinstance(part, tir.AllocBuffer)))


def names(func: tir.PrimFunc) -> set[str]:
    """The names of all variables, buffers and blocks of the function."""
    return {node.name for node in walk(func) if isinstance(node, tir.Var | tir.Buffer | tir.SBlock)}


def fresh_name(func: tir.PrimFunc, name: str) -> str:
    """A name like `name` that nothing in the function has."""
    taken, candidate, number = names(func), name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def same_indices(a: tir.BufferStore, b: tir.BufferStore) -> bool:
    """Whether two stores are to one place of one buffer."""
    pairs = zip(a.indices, b.indices, strict=False)
    return a.buffer is b.buffer and len(a.indices) == len(b.indices) and all(structural_equal(*pair) for pair in pairs)


def integer(value: int, dtype: DType) -> tir.IntImm:
    """The constant `value` in `dtype`."""
    return tir.IntImm(dtype, value)


def conjuncts(condition: tir.Expr) -> list[tir.Expr]:
    """The conditions that hold together, in their order; none for the constant."""
    if isinstance(condition, tir.And):
        return [*conjuncts(condition.a), *conjuncts(condition.b)]
    return [] if isinstance(condition, tir.IntImm) and condition.value == 1 else [condition]


def touches(stmt: tir.Stmt, buffer: tir.Buffer) -> bool:
    """Whether a statement loads or stores an element of a buffer."""
    return any(isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer is buffer for node in walk(stmt))


def body_without(func: tir.PrimFunc, *statements: tir.Stmt) -> tir.Stmt:
    """The body of the function, with statements of it left out."""
    no_effect = tir.Evaluate(integer(0, INT32))
    return substitute(func.body, dict.fromkeys(statements, no_effect))
