"""Whether any loop of a function may be executed in another order, without the proofs: no is certain, yes is not.

The conditions are those of `legality` that can be read off the text, and those on what is written when, which is known
of a function anyway.
"""

from refmlc.lang.ir import tir
from refmlc.lang.ir.statements import statements
from refmlc.native.analysis.binding import odd_block, odd_loop
from refmlc.native.analysis.body import Body, parts_of, read_body
from refmlc.native.analysis.written import Written, find_written


def may_move(func: tir.PrimFunc) -> bool:
    """Whether some loop nest of `func` may turn out to be reordered."""
    nests = [
        node.body
        for node in statements(func.body)
        if isinstance(node, tir.For) and isinstance(node.body, tir.SBlockRealize) and not odd_loop(node)
    ]
    bodies = [read_body(realize.block) for realize in nests if not odd_block(realize)]
    bodies_read = [body for body in bodies if isinstance(body, Body)]
    return bool(bodies_read) and any(_is_initialised(body, find_written(func)) for body in bodies_read)


def _is_initialised(body: Body, written: Written) -> bool:
    """Whether all that is read is initialised, and no note need be taken of what is written."""
    if any(written.use_of(store.buffer).tracked or written.use_of(store.buffer).shared for store in body.all_stores):
        return False
    values = [*(let.value for let in body.lets), *(store.value for store in body.all_stores)]
    loads = (part for value in values for part in parts_of(value) if isinstance(part, tir.BufferLoad))
    return all(written.initialised(load) for load in loads)
