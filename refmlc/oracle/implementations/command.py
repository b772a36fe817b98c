"""Any program as an implementation: JSON lines on standard input and output. `cmd:COMMAND ARGUMENTS`.

The program reads one JSON object per line and answers each but `close` with one line. Nothing else may go to standard
output; standard error is free, its last line is shown when the program ends.

| request                                                    | answer                                                 |
|------------------------------------------------------------|--------------------------------------------------------|
| `{"do": "hello", "version": 1, "folder": DIRECTORY,`       | `{"name": "mine"}`; `"verdicts": true` where undefined |
| ` "seconds": 60, "prepare_seconds": 120, "bytes": N}`      | behaviour is found as refmlc finds it; more below      |
| `{"do": "prepare", "module": TVMSCRIPT}` (dialect of 0.27) | `{"ok": true}`, or why not                             |
| `{"do": "run", "func": "main", "args": [VALUE, …]}`        | `{"value": VALUE, "args": [VALUE, …]}`, or why not     |
| `{"do": "close"}`                                          | none: end                                              |

Why not: `{"stop": "unsupported", "message": "one line"}`. `stop` is one of `unsupported` (a limit that it declares,
never a fault), `rejected` (it takes the module for ill-formed), `undefined` and `trap` (where `verdicts` are
promised with `"code": "RM304"`, and with `"place": "10:38"`, line and column from 1), `exhausted` (its own limits),
`crashed`.

`run` calls a function of the module that was prepared last. A prim_func writes into the tensors among its arguments;
`args` in the answer are all arguments after the call, `value` what was returned. `wire` says how values are written.

The answer to `hello` may have more keys: `"version"`; `"features"`, those of cases to run; `"inline": true`, then small
the line has tensors; `"tree": true`: modules come as trees, too. For authors of such programs all this is described
with templates and a schema: `conformance/adapters`.

A program that answers something else, ends, or takes longer than its time gets the verdict crashed, or timed out; its
process group is killed, and it is started again for the next module.
"""

from collections.abc import Sequence

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.implementations.remote import Remote


class Command(Remote):
    """A program that speaks the protocol above. It runs from the first `prepare` on."""

    def __init__(self, command: Sequence[str], limits: Limits | None = None, name: str = "") -> None:
        """Start it once, to see that it answers. Fails: RM112 where it does not start, or says something else."""
        limits = Limits() if limits is None else limits
        super().__init__(command, limits, name or f"cmd:{' '.join(command)}")
        problem = self.start()
        if problem is not None:
            self.close()
            raise fail(BAD_USAGE, f"`{' '.join(command)}` does not start: {problem}")
