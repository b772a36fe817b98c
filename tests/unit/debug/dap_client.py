"""A client of the Debug Adapter Protocol, with framing of its own; every message of both sides is held to the schema.

It knows nothing of the server: it speaks over a pair of streams, and keeps what comes in the order in which it comes.
"""

import json
import queue
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

import fastjsonschema

ROOT = Path(__file__).parents[3]
STORY = ROOT / "tests" / "golden" / "debug" / "transformer.py"
STORY_INPUTS = [
    f"{name}=normal({seed})" for name, seed in (("x", 7), ("wq", 1), ("wk", 2), ("wv", 3), ("w1", 4), ("w2", 5))
]
SCHEMA = Path(__file__).parent / "dap_protocol" / "debugProtocol.json"
WAIT = 120


@cache
def schema():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


@cache
def validator(name):
    """Fails where a message does not fit a definition. Compiled, because a long run holds millions to it."""
    wanted = {"$schema": schema()["$schema"], "$ref": f"#/definitions/{name}", "definitions": schema()["definitions"]}
    return fastjsonschema.compile(wanted)


def problem(name, message):
    """Why a message does not fit a definition; None: it does."""
    try:
        validator(name)(message)
    except fastjsonschema.JsonSchemaException as wrong:
        return wrong.message
    return None


def name_of(message):
    """The definition that a message of the server has to fit."""
    if message["type"] == "event":
        found = f"{message['event'][0].upper()}{message['event'][1:]}Event"
        return found if found in schema()["definitions"] else "missing"
    if not message["success"]:
        return "ErrorResponse"
    return f"{message['command'][0].upper()}{message['command'][1:]}Response"


def check(message):
    """Fail where a message of the server breaks the schema."""
    wrong = problem(name_of(message), message)
    assert wrong is None, (message, wrong)
    properties = {
        "StackTraceResponse": ("stackFrames", "StackFrame"), "VariablesResponse": ("variables", "Variable"),
        "ScopesResponse": ("scopes", "Scope"), "SetBreakpointsResponse": ("breakpoints", "Breakpoint"),
        "InitializeResponse": (None, "Capabilities"),
    }.get(name_of(message))  # fmt: skip
    if properties is not None:  # the schema lets unknown keys pass: a misspelt one would
        rows, kind = properties
        known = schema()["definitions"][kind]["properties"]
        for row in [message.get("body", {})] if rows is None else message["body"][rows]:
            assert set(row) <= set(known), row


class Lost(Exception):
    """The server closed the connection."""


class Client:
    """`reader` and `writer` are binary streams."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.number = 0
        self.came = queue.Queue()
        self.events = []
        self.strict = True
        self.socket = self.token = None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            while True:
                length = None
                while (line := self.reader.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                if length is None:
                    break
                self.came.put(json.loads(self.reader.read(length)))
        except (OSError, ValueError):
            pass
        self.came.put(None)

    def close(self):
        """Leave."""
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self.writer.close()
        self.thread.join(WAIT)
        self.reader.close()
        if self.socket is not None:
            self.socket.close()

    def raw(self, data):
        self.writer.write(data)
        self.writer.flush()

    def send(self, command, arguments=None, **more):
        """Send a request and give its number."""
        self.number += 1
        given = {**(arguments or {}), **more}
        message = {"seq": self.number, "type": "request", "command": command, "arguments": given}
        if self.strict:
            assert problem(f"{command[0].upper()}{command[1:]}Request", message) is None
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self.number

    def next(self):
        """The next message of the server."""
        message = self.came.get(timeout=WAIT)
        if message is None:
            self.came.put(None)
            raise Lost
        check(message)
        return message

    def answer(self, number):
        """The answer to a request; events that come before it are kept."""
        while True:
            message = self.next()
            if message["type"] == "response" and message["request_seq"] == number:
                return message
            assert message["type"] == "event", message
            self.events.append(message)

    def ask(self, command, arguments=None, **more):
        """The body of the answer to a request that must work."""
        found = self.answer(self.send(command, arguments, **more))
        assert found["success"], found
        return found.get("body", {})

    def refused(self, command, arguments=None, **more):
        """The message of the answer to a request that must not work."""
        found = self.answer(self.send(command, arguments, **more))
        assert not found["success"], found
        return found["message"]

    def event(self, *names):
        """The body of the next event of one of these names; what comes before is dropped."""
        while True:
            while self.events:
                found = self.events.pop(0)
                if found["event"] in names:
                    return found.get("body", {}) | {"event": found["event"]}
            message = self.next()
            assert message["type"] == "event", message
            self.events.append(message)

    def stopped(self):
        """Where it stops next."""
        found = self.event("stopped", "terminated")
        assert found["event"] == "stopped", found
        return found

    def move(self, command, **more):
        """Move, and give the stop."""
        self.events.clear()
        self.ask(command, threadId=1, **more)
        return self.stopped()

    def launch(self, program, inputs=(), *, points=None, **more):
        """From the beginning to the first stop or the end. `points`: called where breakpoints are set."""
        self.ask("initialize", adapterID="refmlc", supportsVariablePaging=True)
        shown = {} if self.token is None else {"token": self.token}
        self.ask("launch", program=str(program), inputs=list(inputs), **shown, **more)
        self.event("initialized")
        if points is not None:
            points(self)
        self.ask("configurationDone")

    def top(self):
        """The innermost frame."""
        return self.ask("stackTrace", threadId=1, levels=1)["stackFrames"][0]

    def variables(self, frame, number=0):
        """The variables of a scope of a frame, by name."""
        scopes = self.ask("scopes", frameId=frame)["scopes"]
        rows = self.ask("variables", variablesReference=scopes[number]["variablesReference"])["variables"]
        return {row["name"]: row for row in rows}


class Process:
    """A server in a process of its own; `port`: over a socket, else over its standard streams."""

    def __init__(self, *options, port=False):
        command = [sys.executable, "-m", "refmlc", "dap", *(["--port", "0"] if port else []), *options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        self.port = int(self.process.stdout.readline().rsplit(b":", 1)[1]) if port else 0
        self.token = self.process.stdout.readline().split()[1].decode() if port else None
        self.clients = []
        self.client = None if port else Client(self.process.stdout, self.process.stdin)

    def connect(self):
        """A client over a socket."""
        found = socket.create_connection(("127.0.0.1", self.port), WAIT)
        client = Client(found.makefile("rb"), found.makefile("wb"))
        client.socket, client.token = found, self.token
        self.clients.append(client)
        return client

    def ends(self):
        """The exit status."""
        return self.process.wait(WAIT)

    def close(self):
        """Whatever happened: nothing is left."""
        self.process.kill()
        self.process.wait(WAIT)
        for one in (*self.clients, *([] if self.client is None else [self.client])):
            one.close()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                stream.close()


def joined(launcher):
    """A client and a server in threads of this process, over a pair of sockets; the thread of the server."""
    from refmlc.debug.dap import serve  # noqa: PLC0415 - the processes above know nothing of it

    ours, theirs = socket.socketpair()

    def run():
        # A writer that is closed sends what it still holds: to nobody, where the client has gone.
        with suppress(OSError), theirs, theirs.makefile("rb") as reader, theirs.makefile("wb") as writer:
            serve(reader, writer, launcher)
            theirs.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    client = Client(ours.makefile("rb"), ours.makefile("wb"))
    client.socket = ours
    return client, thread
