"""A judge in a worker of a campaign: what a file holds is executed within limits of memory and time, as in a campaign.

| the worker                    | the answer                                              |
|-------------------------------|---------------------------------------------------------|
| answers                       | that of the judge                                       |
| ends, or is late              | a refusal that says so; the next question starts another |
| cannot start TVM              | RM112                                                   |

The worker keeps TVM's processes; they end with it.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Generic, cast

import numpy as np

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.cage import START, Cage, WorkerDied
from refmlc.oracle.fuzz.kept_processes import STARTS
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports.import_kinds import KINDS, P, program_of
from refmlc.oracle.fuzz.subjects.imports.importer_process import Answers, ImportJudge, importer
from refmlc.oracle.fuzz.subjects.imports.importers import IMPORTER, OURS

ANSWERED, READY = f"{__name__}:answered", f"{__name__}:ready"


class CagedJudge(Generic[P]):
    """The framework of a kind and importers, asked in one worker. Units: seconds for a program; MiB."""

    def __init__(self, kind: str, seconds: float, memory: int = CampaignSettings().memory) -> None:
        self.kind, self.seconds, self.memory = kind, seconds, memory
        self._cage: Cage | None = None

    def evaluated(self, program: P) -> Answers:
        """What the framework computes."""
        return self._answers("evaluated", "", program)

    def exports(self, program: P) -> bool:
        """Whether the framework gives the program to importers."""
        return self._asked("exports", "", program) is True

    def of(self, path: str, program: P) -> Answers:
        """The answers on a path."""
        return self._answers("of", path, program)

    def compiles_ours(self, python: str, program: P) -> bool:
        """Whether this TVM gives the right result for the module that refmlc imports."""
        return self._asked("compiles_ours", python, program) is True

    def says(self, path: str) -> Mapping[str, object]:
        """What the TVM on a path says of itself; nothing on refmlc's. Fails: RM112 where it does not start."""
        if path == OURS:
            return {}
        said = self._asked("says", path.removeprefix(IMPORTER), None)
        if isinstance(said, str):
            raise fail(BAD_USAGE, said)
        return cast("Mapping[str, object]", said)

    def close(self) -> None:
        """End the worker, and all that it has started."""
        if self._cage is not None:
            self._cage.close()
            self._cage = None

    def _answers(self, what: str, path: str, program: P) -> Answers:
        said = self._asked(what, path, program)
        if isinstance(said, str):
            return said
        arrays = cast("list[tuple[str, list[int], str]]", said)
        return [np.frombuffer(b64decode(data), dtype).reshape(shape) for dtype, shape, data in arrays]

    def _asked(self, what: str, path: str, program: P | None) -> object:
        """The answer of the worker; a refusal where it has none."""
        data = None if program is None else program.to_json()
        starts = 0.0 if path in ("", OURS) else 2 * max(self.seconds, STARTS)
        try:
            if self._cage is None:
                self._cage = Cage(self.memory)
                self._cage.await_start()
                self._cage.ask(READY, [self.kind], START)
            answer = self._cage.ask(ANSWERED, [self.kind, self.seconds, what, path, data], starts + 2 * self.seconds)
        except WorkerDied as died:
            self.close()
            return f"{'crashed' if what == 'of' else 'refused'}: {died.message}"
        return f"refused: {answer['raised']}" if "raised" in answer else answer["result"]


# ------------------------------------------------------------------------------------------ in the worker


def ready(kind: str) -> bool:
    """Whether the framework of a kind is here; it is loaded, which may take longer than a program."""
    return not KINDS[kind].missing()


def answered(kind: str, seconds: float, what: str, path: str, data: Mapping[str, object] | None) -> object:
    """The answer to a question of `CagedJudge`, as data."""
    if data is None:
        try:
            return dict(importer(path, seconds).says)
        except RefmlcError as failure:
            return failure.diagnostic.message
    judge, program = _judge(kind, seconds), program_of(kind, data)
    ask = cast("Callable[..., object]", getattr(judge, what))
    answer = ask(path, program) if path else ask(program)
    return list(map(_as_bytes, cast("list[np.ndarray]", answer))) if isinstance(answer, list) else answer


def _as_bytes(array: np.ndarray) -> list[object]:
    """The tensor as data: a line of JSON has no NaN."""
    return [str(array.dtype), list(array.shape), b64encode(np.ascontiguousarray(array).tobytes()).decode()]


@cache
def _judge(kind: str, seconds: float) -> ImportJudge[Any]:
    """The judge of a kind, as campaigns have it."""
    return KINDS[kind].judge((), seconds)
