"""Storage scopes: to the indices of which thread axes memory is private on hardware.

| scope                               | is private to each index of      |
|-------------------------------------|----------------------------------|
| `shared`, `shared.*`, `tmem`        | `blockIdx.*`                     |
| `local`, `warp`, `wmma.*` and so on | `blockIdx.*` and `threadIdx.*`   |
| `global`, `global.*`, `""`          | nothing (TIR-208)                |
"""


def is_global(scope: str) -> bool:
    """Whether memory of `scope`, tagged (`global.texture`) or not, is one for all threads and launches."""
    return scope.split(".", maxsplit=1)[0] in ("", "global")


def axes_of(scope: str) -> tuple[str, ...]:
    """The thread axes to whose indices memory of `scope` is private, by the beginnings of their tags."""
    if is_global(scope):
        return ()
    return ("blockIdx",) if scope.startswith("shared") or scope == "tmem" else ("blockIdx", "threadIdx")


def is_thread(tag: str) -> bool:
    """Whether a loop of this tag is a thread axis; virtual threads are ordinary loops."""
    return tag.startswith(("threadIdx", "blockIdx"))
