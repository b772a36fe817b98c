"""The interpreter as a program over JSON lines, and that program with a fault: `line_adapter.py WAY [BATCH]`.

`right` has none. A fault shows on the module that has `TRIGGER` in its text, and on no other. `BATCH`: so many modules
are taken at once.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from refmlc.diag.errors import RefmlcError
from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.evidence.record import place_of
from refmlc.oracle.implementations.implementation import Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.local_calls import stopped
from refmlc.oracle.implementations.wire import Receiver, Sender

TRIGGER = "C[i] = A[i] - 1"
ENDS = {
    "SIGSEGV": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "SIGABRT": os.abort,
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGFPE": lambda: os.kill(os.getpid(), signal.SIGFPE),
    "status 0": lambda: os._exit(0),
    "status 3": lambda: os._exit(3),
    "traceback": lambda: {}["nothing"],
    "hang": lambda: time.sleep(1000),
    "half a line": lambda: (said(b'{"ok": tr'), time.sleep(1000)),
    "spaces without end": lambda: [said(b" " * 1000) or time.sleep(0.01) for _ in range(100_000)],
    "output closed": lambda: (os.close(1), time.sleep(1000)),
}
LINES = {
    "a word": b"hello\n",
    "a list": b"[1, 2]\n",
    "a number": b"3\n",
    "null": b"null\n",
    "half of an object": b'{"ok": true\n',
    "an empty line": b"\n",
    "bytes that are no text": b"\xff\xfe\x00\n",
    "two objects in a line": b'{"ok": true} {"ok": true}\n',
    "a line without end": b"x" * (17 << 20) + b"\n",
    "an object that says nothing": b"{}\n",
}
ANSWERS = {
    "no value": lambda answer, folder: answer.pop("value"),
    "no arguments": lambda answer, folder: answer.pop("args"),
    "an argument less": lambda answer, folder: answer["args"].pop(),
    "an argument more": lambda answer, folder: answer["args"].append({"kind": "null"}),
    "an unknown kind": lambda answer, folder: answer["args"][1].update(kind="matrix"),
    "an unknown dtype": lambda answer, folder: answer["args"][1].update(dtype="float33"),
    "a negative size": lambda answer, folder: answer["args"][1].update(shape=[-2]),
    "a size that is a word": lambda answer, folder: answer["args"][1].update(shape=["two"]),
    "another size": lambda answer, folder: answer["args"][1].update(shape=[3]),
    "a file elsewhere": lambda answer, folder: answer["args"][1].update(file="../r1"),
    "a file that is not there": lambda answer, folder: answer["args"][1].update(file="gone"),
    "a file that is short": lambda answer, folder: (folder / answer["args"][1]["file"]).write_bytes(b"\0" * 7),
    "a file that is long": lambda answer, folder: (folder / answer["args"][1]["file"]).write_bytes(b"\0" * 9),
    "a folder for a file": lambda answer, folder: (
        (folder / "d").mkdir(exist_ok=True),
        answer["args"][1].update(file="d"),
    ),
    "a pipe for a file": lambda answer, folder: (os.mkfifo(folder / "p"), answer["args"][1].update(file="p")),
    "an unknown stop": lambda answer, folder: answer.update(stop="tired", message=""),
    "a message that is a list": lambda answer, folder: answer.update(stop="trap", message=[]),
}
NUMBERS = {
    "no number": lambda answer: answer.pop("id"),
    "the number before": lambda answer: answer.update(id=answer["id"] - 1),
    "the number after": lambda answer: answer.update(id=answer["id"] + 1),
    "a number that is a word": lambda answer: answer.update(id=str(answer["id"])),
}


def said(data):
    """Write to standard output at once."""
    os.write(1, data)


class Adapter:
    """Answers to requests, right ones."""

    def __init__(self, way, batch):
        self.do, _, self.fault = way.partition(":")
        self.interp = Interp()
        self.batch = batch
        self.number = ""

    def hello(self, request):
        self.folder = Path(request["folder"])
        return {"name": "lines 1.0", "verdicts": True, "batch": self.batch}

    def answered(self, request):
        """Write the answer to one request, or to one of a batch."""
        self.number = request.get("id", "")
        answer = getattr(self, request["do"])(request)
        answer |= {"id": request["id"]} if "id" in request else {}
        if self.do == "left out" and request["do"] == "run" and TRIGGER in self.text:
            return
        if self.do == "number" and request["do"] == "run" and TRIGGER in self.text:
            NUMBERS[self.fault](answer)
        said(json.dumps(answer).encode() + b"\n")
        if self.do == "twice" and request["do"] == "run" and TRIGGER in self.text:
            said(json.dumps(answer).encode() + b"\n")

    def prepare(self, request):
        self.text = request["module"]
        self.made = None
        self.broken("prepare")
        try:
            made = self.interp.prepare(read(self.text, "lines.py", check=False))
        except RefmlcError as failure:
            made = stopped(failure)
        if isinstance(made, Stopped):
            return self.why_not(made)
        self.made = made
        return {"ok": True}

    def run(self, request):
        if self.made is None:
            return {"stop": "unsupported", "message": "there is no module"}
        self.broken("run")
        receiver = Receiver(self.folder)
        answer = self.made.run(request["func"], [receiver.value(arg) for arg in request["args"]])
        if isinstance(answer, Stopped):
            return self.why_not(answer)
        sender = Sender(self.folder, f"r{self.number}_")
        args = [sender.value(arg) for arg in answer.args]
        return self.spoilt({"value": sender.value(answer.value), "args": args})

    def why_not(self, answer):
        found = answer.diagnostic
        told = {} if found is None else {"code": found.code.id, "place": place_of(found)}
        return {"stop": answer.why.value, "message": answer.message, **told}

    def broken(self, do):
        """End, hang, or say something else here, if that is the way."""
        if do != self.do or TRIGGER not in self.text:
            return
        if self.fault in ENDS:
            ENDS[self.fault]()
        elif self.fault in LINES:
            said(LINES[self.fault])
        elif self.fault == "late":
            time.sleep(8.0)

    def spoilt(self, answer):
        if self.do == "answer" and TRIGGER in self.text:
            ANSWERS[self.fault](answer, self.folder)
        return answer


def main():
    adapter = Adapter(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "close":
            break
        for request in asked["requests"] if asked["do"] == "batch" else [asked]:
            adapter.answered(request)


if __name__ == "__main__":
    main()
