"""Word of what takes long: a progress begins once something has lasted `delay` seconds, and ends when it does."""

import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from refmlc.debug.dap.channel import Outgoing


@dataclass(slots=True)
class Progress:
    """A progress of `title`; `delay` None: nothing is said."""

    out: Outgoing
    title: str
    delay: float | None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _timer: threading.Timer | None = None
    _said: bool = False
    _over: bool = False

    def __enter__(self) -> Self:
        """It begins."""
        if self.delay is not None:
            self._timer = threading.Timer(self.delay, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """It ends."""
        if self._timer is not None:
            self._timer.cancel()
            with self._lock:
                self._over = True
            if self._said:
                self.out.event("progressEnd", {"progressId": self._name})

    def _begin(self) -> None:
        with self._lock:
            if not self._over:
                self._said = True
                body = {"progressId": self._name, "title": f"refmlc: {self.title}", "cancellable": True}
                self.out.event("progressStart", body)

    @property
    def _name(self) -> str:
        return f"{self.title} {id(self)}"
