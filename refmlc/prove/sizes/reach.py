"""Initialisation and order as conditions on integers, from the accesses of a function.

A read is of an element that is written before, if for some store and some iteration of its loops: the store is
executed, it writes this place, and it comes before. Which iteration is guessed (`inverse`) and then put into the
condition, so that it has no quantifier.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import z3

from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.sizes.accesses import LoopFrame, SizedAccess, renaming, shared
from refmlc.prove.sizes.inverse import Inverse

MOST_STORES = 24


def written_before(
    load: SizedAccess, stores: Iterable[SizedAccess], made: Sequence["z3.ExprRef"], around: int = 0
) -> "z3.BoolRef | None":
    """What is enough for the element that is read to be written before; None: no store can be shown to write it.

    `made`: the constants of the function, in order. `around`: the number of loops around the allocation of the memory,
    which is another one in each of their iterations.
    """
    ways = [way for store in list(stores)[:MOST_STORES] for way in _ways(load, store, made, around)]
    return z3.Or(*ways) if ways else None


def _ways(load: SizedAccess, store: SizedAccess, made: Sequence["z3.ExprRef"], around: int) -> Iterator["z3.BoolRef"]:
    """The conditions under which an instance of the store comes before the load and writes its place."""
    frames, order = shared(store, load)
    same = list(zip(store.indices, load.indices, strict=True))
    if order < 0:
        yield at_instance(store, solved(store, len(frames), same, made), load.indices)
    for level, frame in enumerate(frames):
        if level < around or not frame.is_in_order:
            continue
        pairs = solved(store, level, same, made)
        earlier = lexicographic([(z3.substitute(each, *pairs), each) for each in frame.variables])
        yield z3.And(at_instance(store, pairs, load.indices), earlier)


Pairs: TypeAlias = "list[tuple[z3.ExprRef, z3.ExprRef]]"


def solved(
    store: SizedAccess,
    level: int,
    equations: Sequence[tuple["z3.ArithRef", "z3.ArithRef"]],
    made: Sequence["z3.ExprRef"],
) -> Pairs:
    """The iteration of the loops from `level` on for which the equations hold, if it is a simple one.

    What memory holds in another iteration is another unknown.
    """
    free_frames = store.loops[level:]
    if not free_frames:
        return []
    others = renaming(made, free_frames[0].made, "*")
    unknown = [z3.substitute(each, *others) for frame in free_frames for each in frame.variables]
    first = [z3.substitute(each, *others) for frame in free_frames for each in frame.first]
    conditions = [each for each in store.path if z3.is_eq(each) and z3.is_int(each.arg(0))]
    more = [*equations, *((each.arg(0), each.arg(1)) for each in conditions)]
    moved = [(z3.substitute(side, *others), target) for side, target in more]
    free = {variable.get_id(): value for variable, value in zip(unknown, first, strict=True)}
    pairs = Inverse(unknown).solve(moved, free)
    for _ in unknown:  # a value may name another unknown, as a first value that depends on an outer loop does
        pairs = [(constant, z3.simplify(z3.substitute(value, *pairs))) for constant, value in pairs]
    return [(constant, z3.substitute(starred, *pairs)) for constant, starred in others]


def at_instance(store: SizedAccess, pairs: Pairs, place: Sequence["z3.ArithRef"]) -> "z3.BoolRef":
    """Enough for an instance of the store to be executed, and to write a place."""
    same = [z3.substitute(index, *pairs) == at for index, at in zip(store.indices, place, strict=True)]
    return z3.And(*(z3.substitute(condition, *pairs) for condition in store.path), *same)


def lexicographic(pairs: Sequence[tuple["z3.ArithRef", "z3.ArithRef"]]) -> "z3.BoolRef":
    """Whether the first ones come before the second ones."""
    ways: list[z3.BoolRef] = []
    equal: list[z3.BoolRef] = []
    for a, b in pairs:
        ways.append(z3.And(*equal, a < b))
        equal.append(a == b)
    return z3.Or(*ways)


# ------------------------------------------------------------------------------------------------- order


def conflicts(
    frame: LoopFrame, accesses: Sequence[SizedAccess], constants: Sequence["z3.ExprRef"]
) -> Iterator[tuple["z3.BoolRef", tuple["z3.BoolRef", ...], str, SizedAccess]]:
    """For each two accesses of one buffer of which one stores: that two iterations of the loop use different elements.

    Gives the goal, the conditions, a text and the access.
    """
    own = _allocated(frame.node)
    inside = [each for each in accesses if frame in each.position and each.buffer not in own]
    other = renaming(constants, frame.made, "'")
    differ = z3.Or(*(v != z3.substitute(v, *other) for v in frame.variables))
    for a in inside:
        if not isinstance(a.node, tir.BufferStore):
            continue
        for b in inside:
            if b.buffer is not a.buffer or (isinstance(b.node, tir.BufferStore) and inside.index(b) < inside.index(a)):
                continue
            places = [z3.substitute(index, *other) for index in b.indices]
            goal = z3.Or(*(i != j for i, j in zip(a.indices, places, strict=True)))
            conditions = (*a.conditions, *(z3.substitute(each, *other) for each in b.conditions), differ)
            yield goal, conditions, f"iterations use different elements of `{a.buffer.name}`", b


def _allocated(node: tir.Stmt) -> set[tir.Buffer]:
    own = {each.buffer for each in walk(node) if isinstance(each, tir.AllocBuffer)}
    return own | {buffer for each in walk(node) if isinstance(each, tir.SBlock) for buffer in each.alloc_buffers}
