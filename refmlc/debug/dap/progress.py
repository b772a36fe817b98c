"""Progress of long operations: it begins after `delay` seconds, and ends with the operation.

In between it reports every `AGAIN` seconds how far the operation is, if that is known.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from refmlc.debug.dap.channel import MessageSender

AGAIN = 1.0


@dataclass(slots=True)
class ProgressReport:
    """A progress of `title`; `delay` None: never sent. `far`: the progress so far; without it, not cancellable."""

    out: MessageSender
    title: str
    delay: float | None
    far: Callable[[], str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _timer: threading.Timer | None = None
    _shown_to_client: bool = False
    _over: bool = False

    def __enter__(self) -> Self:
        if self.delay is not None:
            self._wait(self.delay, self._begin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._shown_to_client:
            self.out.event("progressEnd", {"progressId": self.name})

    @property
    def name(self) -> str:
        """The id of the progress."""
        return f"{self.title} {id(self)}"

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, then)
        self._timer.daemon = True
        self._timer.start()

    def _begin(self) -> None:
        with self._lock:
            if self._over:
                return
            self._shown_to_client = True
            body = {"progressId": self.name, "title": f"refmlc: {self.title}", "cancellable": self.far is not None}
            self.out.event("progressStart", body)
            if self.far is not None:
                self._wait(AGAIN, self._again)

    def _again(self) -> None:
        with self._lock:
            if self._over or self.far is None:
                return
            self.out.event("progressUpdate", {"progressId": self.name, "message": self.far()})
            self._wait(AGAIN, self._again)
