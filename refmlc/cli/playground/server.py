"""The server on loopback, and the owner of the worker.

| path          | is                                                                       |
|---------------|--------------------------------------------------------------------------|
| (empty)       | the page                                                                 |
| `ask`         | `POST`: a request for the worker, answered with JSON                     |
| `trace/N`     | the page of the trace with this number, which may run its script alone   |

One request is worked on at a time, for at most `SECONDS`; then the worker is killed with all that it has started, and
the next request gets a new one.
"""

import json
import os
import socket
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import Final, cast

from refmlc.cli.playground.answers import Reply, failed
from refmlc.cli.playground.door import LOOPBACK, PlayDoor, Refused, request_of
from refmlc.cli.playground.page import PlayPage, page
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE, BUG, TIME_EXHAUSTED
from refmlc.system.lines import TIMED_OUT, Broken, LineProcess

SECONDS: Final = 60.0
MEMORY: Final = 4 << 30  # bytes of address space
SILENCE: Final = 10.0  # seconds that a client may be silent within a request
MOST_CLIENTS: Final = 16
MOST_TRACES: Final = 4
COMMAND: Final = (sys.executable, "-P", "-m", "refmlc.cli.playground.worker")
ALONE: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TRACE_POLICY: Final = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


class Owner:
    """The owner of the worker, which it starts for a request. Units: seconds, bytes."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._worker: LineProcess | None = None
        self._lock = Lock()

    def ask(self, request: Mapping[str, object]) -> Reply:
        """The answer of the worker, or the failure that it has none. Fails: `Refused` while another is worked on."""
        if not self._lock.acquire(timeout=self._seconds):
            raise Refused(503, "another request is worked on")
        try:
            return self.worker().ask(request, self._seconds)
        except Broken as broken:
            if broken.why == TIMED_OUT:
                return failed(fail(TIME_EXHAUSTED, f"there is no answer within {self._seconds:g} s"))
            return failed(fail(BUG, f"the process that works on modules ended: {broken.how}"))
        finally:
            self._lock.release()

    def worker(self) -> LineProcess:
        """The worker; it is started if there is none. It loads what it needs meanwhile."""
        if self._worker is None or not self._worker.alive:
            self._worker = LineProcess(COMMAND, memory=self._memory, environment={**os.environ, **ALONE})
        return self._worker

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()


class Playground(ThreadingHTTPServer):
    """The server. A client beyond `MOST_CLIENTS` is turned away."""

    daemon_threads = True

    def __init__(self, port: int = 0, owner: Owner | None = None) -> None:
        """Listen at a port of loopback, 0: a free one. Fails: RM112 for one that is taken or not permitted."""
        self.owner = Owner() if owner is None else owner
        try:
            super().__init__((LOOPBACK, port), Handler)
        except OSError as problem:
            message = f"port {port} of loopback is not free: {problem.strerror or problem}"
            raise fail(BAD_USAGE, message, None, "give another `--port`, or none for a free one") from None
        self.door = PlayDoor(self.server_port)
        self.page: PlayPage = page()
        self._traces: dict[int, str] = {}
        self._count = 0
        self._lock = Lock()
        self._clients = BoundedSemaphore(MOST_CLIENTS)

    def server_bind(self) -> None:
        """Bind, without asking for the name of the machine."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = self.socket.getsockname()[:2]

    def process_request(self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object) -> None:
        """Answer in a thread, if there is room."""
        if not self._clients.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(
        self, request: "socket.socket | tuple[bytes, socket.socket]", client_address: object
    ) -> None:
        """Answer, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._clients.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Forget a connection that broke."""
        del request, client_address

    def server_close(self) -> None:
        """Close, and end the worker."""
        super().server_close()
        self.owner.close()

    def answer(self, request: Mapping[str, object]) -> Reply:
        """The answer to a request; of a trace, the place of its page."""
        reply = self.owner.ask(request)
        text = reply.pop("page", None)
        return {**reply, "trace": f"trace/{self._keep(text)}"} if isinstance(text, str) else reply

    def trace(self, place: str) -> str:
        """The page of a trace. Fails: `Refused`."""
        number = place.removeprefix("trace/")
        with self._lock:
            text = self._traces.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 9 else None
        if text is None:
            raise Refused(404, "there is no such page")
        return text

    def _keep(self, text: str) -> int:
        with self._lock:
            self._count += 1
            self._traces[self._count] = text
            while len(self._traces) > MOST_TRACES:
                del self._traces[next(iter(self._traces))]
            return self._count


class Handler(BaseHTTPRequestHandler):
    """A request. Every answer closes its connection."""

    server_version, sys_version = "refmlc", ""
    timeout = SILENCE

    @property
    def _playground(self) -> Playground:
        return cast("Playground", self.server)

    def do_GET(self) -> None:
        """Send a page."""
        try:
            place = self._playground.door.place(self.path, self.headers)
            if not place:
                text, policy = self._playground.page.text, self._playground.page.policy
                self._send(200, text, "text/html", f"{policy}; frame-ancestors 'none'")
            else:
                text = self._playground.trace(place)
                own = f"http://{self._playground.door.host}"
                self._send(200, text, "text/html", f"{TRACE_POLICY}; frame-ancestors {own}")
        except Refused as refused:
            self._refuse(refused)

    def do_POST(self) -> None:
        """Answer a request of the page."""
        try:
            self._send(200, json.dumps(self._reply(), allow_nan=False), "application/json")
        except Refused as refused:
            self._refuse(refused)

    def _reply(self) -> Reply:
        """The answer to a request. Fails: `Refused`."""
        if self._playground.door.place(self.path, self.headers) != "ask":
            raise Refused(404, "there is no such page")
        body = self.rfile.read(self._playground.door.length(self.headers))
        return self._playground.answer(request_of(body))

    def _refuse(self, refused: Refused) -> None:
        self._send(refused.status, f"{refused}\n", "text/plain")

    def _send(self, status: int, text: str, kind: str, policy: str = "default-src 'none'") -> None:
        data = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Say nothing: the address has the token."""
