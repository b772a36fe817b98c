"""Programs from programs, with the same meaning.

| part         | holds                                                                                   |
|--------------|-----------------------------------------------------------------------------------------|
| `schedule/`  | steps on loops and blocks that are shown to be legal, and the session `Schedule`        |
| `launches/`  | launches of kernels as loops over thread axes                                           |
| `kernels/`   | functions as kernels: what kind of computation each is, its loops as threads             |
| `partition/` | parts of a graph for other compilers, as patterns describe them                          |
| `transform/` | passes on whole modules: legalise, fuse, normalise, remove dead code                    |
"""
