"""Servers in processes of their own, over sockets, for the small programs: `Forks` starts one and talks to it.

One process imports everything, once, and forks for each client: a server is there in milliseconds, and what it leaves
behind is seen by its exit status. Started as a program: a line comes in, the port goes out, then how the server ended.
"""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "debug"))

from dap_client import WAIT, Client
from dap_programs import launcher

from refmlc.debug.dap import leave, listen, serve_socket


class Child:
    """A server that was forked; like the thread that another server is."""

    def __init__(self, forks):
        self.forks = forks
        self.status = None

    def join(self, timeout):
        """Wait for its end."""
        told = threading.Thread(target=self._read, daemon=True)
        told.start()
        told.join(timeout)

    def _read(self):
        if self.status is None:
            self.status = int(self.forks.process.stdout.readline())
            assert self.status == 0, self.status

    def is_alive(self):
        """Whether it has not ended, or not well."""
        return self.status != 0


class Forks:
    """The process that forks."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def connect(self):
        """A client, and the server that serves it."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        port = int(self.process.stdout.readline())
        found = socket.create_connection(("127.0.0.1", port), WAIT)
        client = Client(found.makefile("rb"), found.makefile("wb"))
        client.socket = found
        return client, Child(self)

    def close(self):
        """End it."""
        self.process.stdin.close()
        self.process.wait(WAIT)
        self.process.stdout.close()


def main():
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            listening = listen(0)
            print(listening.getsockname()[1], flush=True)  # noqa: T201 - the other side reads it
            serve_socket(listening, launcher, None, leave=leave)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        print(status, flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
