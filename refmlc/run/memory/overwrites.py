"""Writes to bytes that operations which are not complete have read, whatever the values (TIA-002).

Each write marks what it writes in the shadow with 1. `watch` makes 2 of these marks: where a 1 is found later, the unit
was written since, so that a write itself does nothing more than without. Operations that watch the same bytes share the
marks: before they become 2 again, `settle` tells the others of what was written.

| unit                                          | was written since where                                |
|-----------------------------------------------|--------------------------------------------------------|
| watched as a whole                            | its mark is 1                                          |
| watched in part: it is in `rewritten`         | its mark is 1, or the bytes have a bit in `rewritten`  |

An operation that comes in order with the readers (TIM-019) writes with `land`, of which they are not told.
"""

from refmlc.run.memory.storage import READ, WRITTEN, Storage


def watch(storage: Storage, offset: int, nbytes: int) -> None:
    """From now on `is_overwritten` finds writes to `nbytes` bytes from `offset` on."""
    shadow, unit, reserved = storage.shadow, storage.unit, storage.extras.reserved
    if reserved.rewritten or offset % unit or nbytes % unit:
        settle(storage, offset, nbytes)
        _mark(storage, offset, nbytes)
        return
    first, last = offset // unit, (offset + nbytes) // unit
    marks = shadow[first:last]
    if WRITTEN in marks:
        if reserved.buckets:
            settle(storage, offset, nbytes)
        shadow[first:last] = marks.replace(b"\1", b"\2")


def _mark(storage: Storage, offset: int, nbytes: int) -> None:
    shadow, unit, end = storage.shadow, storage.unit, offset + nbytes
    first, last = -(-offset // unit), len(shadow) if end == storage.nbytes else end // unit
    rewritten = storage.extras.reserved.rewritten
    for number in {offset // unit, (end - 1) // unit}:
        if not first <= number < last:
            before = storage.mask(number) if shadow[number] == WRITTEN else rewritten.get(number, 0)
            rewritten[number] = before & ~storage.mask(number, offset, end)
            shadow[number] = READ if shadow[number] else 0
    if shadow.find(WRITTEN, first, last) >= 0:
        shadow[first:last] = shadow[first:last].replace(b"\1", b"\2")
    for number in [number for number in rewritten if first <= number < last]:
        rewritten[number] = 0


def settle(storage: Storage, offset: int, nbytes: int) -> None:
    """Tell the operations that have read any of these bytes of what was written since."""
    reserved = storage.extras.reserved
    if reserved.rewritten or _is_marked(storage, offset, nbytes):
        for item in storage.reserved_at(offset, nbytes):
            if not item.written and is_overwritten(storage, item.start, item.end - item.start):
                item.overwritten = True


def _is_marked(storage: Storage, offset: int, nbytes: int) -> bool:
    unit = storage.unit
    return storage.shadow.find(WRITTEN, offset // unit, -(-(offset + nbytes) // unit)) >= 0


def is_overwritten(storage: Storage, offset: int, nbytes: int) -> bool:
    """Whether any of these bytes, all of which are watched, was written since."""
    if _is_marked(storage, offset, nbytes):
        return True
    rewritten, unit, end = storage.extras.reserved.rewritten, storage.unit, offset + nbytes
    return bool(rewritten) and any(
        rewritten.get(number, 0) & storage.mask(number, offset, end)
        for number in range(offset // unit, -(-end // unit))
    )


def land(storage: Storage, offset: int, data: bytes) -> None:
    """Write what an operation brings, in order with those that have read these bytes, none of which was written."""
    nbytes = len(data)
    storage.bytes[offset : offset + nbytes] = data
    if all(item.written for item in storage.reserved_at(offset, nbytes)):
        storage.initialise(offset, nbytes)
        return
    _mark(storage, offset, nbytes)  # units that are written in part are known as such
    storage.initialise(offset, nbytes)
    _mark(storage, offset, nbytes)
