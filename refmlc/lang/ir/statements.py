"""Statements without their expressions: what asks only for stores, loops or blocks has a tenth of the way to go."""

from collections.abc import Iterator

from refmlc.lang.ir import tir


def statements(body: tir.Stmt) -> Iterator[tir.Stmt | tir.SBlock]:
    """`body`, and every statement and block in it. Order: parents first, left to right."""
    stack: list[tir.Stmt | tir.SBlock] = [body]
    while stack:
        here = stack.pop()
        yield here
        match here:
            case tir.SeqStmt(seq):
                stack.extend(reversed(seq))
            case tir.For() | tir.While() | tir.AttrStmt():
                stack.append(here.body)
            case tir.SBlockRealize():
                stack.append(here.block)
            case tir.SBlock():
                stack.append(here.body)
                if here.init is not None:
                    stack.append(here.init)
            case tir.IfThenElse():
                if here.else_case is not None:
                    stack.append(here.else_case)
                stack.append(here.then_case)
            case _:
                pass


def stored_buffers(body: tir.Stmt) -> set[tir.Buffer]:
    """The buffers that statements of `body` store to."""
    return {node.buffer for node in statements(body) if isinstance(node, tir.BufferStore)}
