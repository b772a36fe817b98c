"""Threads one after the other: where that is what the threads of a machine do, and where it is not.

| a function                                                                        | is                            |
|-----------------------------------------------------------------------------------|-------------------------------|
| whose threads wait for each other (`refmlc.lang.ir.threads.exchanges`)            | not taken                     |
| with memory private to each index of an axis (`refmlc.lang.ir.scopes`), allocated | not taken                     |
| outside of the axis, and used in several loops over it or outside too             |                               |
| else                                                                              | run one index after the other |

Memory of a thread that is used in one loop over the axis only may be the same for all indices: none reads what another
one wrote, it would read what it has not written.
"""

from typing import TypeAlias

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import axes_of, is_thread
from refmlc.lang.ir.threads import exchanges, has_threads, tag_of
from refmlc.lang.ir.visit import children
from refmlc.oracle.implementations.loops.operators import NotTaken

Place: TypeAlias = tuple[tuple[int, str], ...]


def check_threads(func: tir.PrimFunc) -> None:
    """Fails: `NotTaken` where the threads of `func` cannot be run one after the other."""
    if not has_threads(func):
        return
    if exchanges(func):
        raise NotTaken("threads that wait for each other")
    places: dict[tir.Buffer, set[Place]] = {}
    homes: dict[tir.Buffer, Place] = {}
    _visit(func.body, (), places, homes)
    for buffer, home in homes.items():
        beginnings = axes_of(buffer.scope)
        if beginnings and len({_below(place, home, beginnings) for place in places.get(buffer, set())}) > 1:
            raise NotTaken(f"memory of scope `{buffer.scope}` that several loops over threads share")


def _below(place: Place, home: Place, beginnings: tuple[str, ...]) -> Place:
    """The loops over axes that the memory is private to, from where it is allocated to where it is used."""
    return tuple(step for step in place[len(home) :] if step[1].startswith(beginnings))


def _visit(node: Node, around: Place, places: dict[tir.Buffer, set[Place]], homes: dict[tir.Buffer, Place]) -> None:
    match node:
        case tir.AllocBuffer(buffer=buffer) | tir.DeclBuffer(buffer=buffer):
            homes[buffer] = around
        case tir.SBlock(alloc_buffers=buffers):
            homes.update(dict.fromkeys(buffers, around))
        case tir.BufferLoad(buffer=buffer) | tir.BufferStore(buffer=buffer) | tir.BufferData(buffer=buffer):
            places.setdefault(buffer, set()).add(around)
        case _:
            pass
    tag = tag_of(node)
    if is_thread(tag) and all(tag != other for _, other in around):
        around = (*around, (id(node), tag))
    for child in children(node):
        _visit(child, around, places, homes)
