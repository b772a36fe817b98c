"""Storage scopes: to the indices of which thread axes memory is private on hardware.

| scope                               | is private to each index of      |
|-------------------------------------|----------------------------------|
| `shared`, `shared.*`                | `blockIdx.*`                     |
| `local`, `warp`, `wmma.*` and so on | `blockIdx.*` and `threadIdx.*`   |
| `global`, `""`                      | nothing                          |
"""


def axes_of(scope: str) -> tuple[str, ...]:
    """The thread axes to whose indices memory of `scope` is private, by the beginnings of their tags."""
    if scope in ("", "global"):
        return ()
    return ("blockIdx",) if scope.startswith("shared") else ("blockIdx", "threadIdx")


def is_thread(tag: str) -> bool:
    """Whether a loop of this tag is a thread axis; virtual threads are ordinary loops."""
    return tag.startswith(("threadIdx", "blockIdx"))
