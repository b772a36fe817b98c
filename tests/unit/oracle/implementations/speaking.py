"""A small program that speaks the protocol of commands, right or wrong in one chosen way; run by its own process.

It doubles: `value` is nothing, the last argument is twice the first. `python speaking.py WAY`.
"""

import json
import os
import struct
import sys
import time
from pathlib import Path


def say(reply):
    """Answer one line."""
    sys.stdout.write((reply if isinstance(reply, str) else json.dumps(reply)) + "\n")
    sys.stdout.flush()


def doubled(request, folder, way):
    """The answer to `run`: float32 numbers are doubled by hand, through their text."""
    source, target = request["args"][0], request["args"][-1]
    raw = (folder / source["file"]).read_bytes()
    numbers = struct.unpack(f"<{len(raw) // 4}f", raw)
    factor = 3 if way == "wrong" else 2
    (folder / target["file"]).write_bytes(struct.pack(f"<{len(numbers)}f", *(factor * one for one in numbers)))
    if way == "shape":
        target = {**target, "shape": [len(numbers) + 1]}
    if way == "outside":
        target = {**target, "file": "../a0"}
    if way == "changes":
        (folder / source["file"]).write_bytes(struct.pack(f"<{len(numbers)}f", *(one + 1 for one in numbers)))
    args = request["args"][:1] if way == "few" else [*request["args"][:-1], target]
    return {"value": {"kind": "null"}, "args": args}


def run(request, folder, way):
    """Do what the way says when a function is called."""
    match way:
        case "crash":
            sys.stderr.write("segmentation\nlast words\n")
            os.abort()
        case "leave":
            sys.exit(7)
        case "hang":
            time.sleep(600)
        case "rubbish":
            say("hello world")
        case "list":
            say([1, 2])
        case "half":
            say({"stop": "trap", "message": "half of a character: \ud800"})
        case "latin":
            sys.stdout.buffer.write(b'{"stop": "unsupported", "message": "Stra\xdfe"}\n')
            sys.stdout.buffer.flush()
        case "nan":
            say('{"value": {"kind": "float", "value": NaN}, "args": []}')
        case "midway":
            sys.stdout.write('{"value": ')
            sys.stdout.flush()
            os._exit(0)
        case "refuse":
            say({"stop": "unsupported", "message": "no\nfloat32 here"})
        case "argument":
            say({"stop": "trap", "message": "ValueError: not this device", "refused": True})
        case "unheard":
            say({"stop": "bored", "message": ""})
        case _:
            say(doubled(request, folder, way))


def main():
    """Answer until the end."""
    way = sys.argv[1]
    folder = None
    for line in sys.stdin:
        request = json.loads(line)
        match request["do"]:
            case "hello":
                folder = Path(request["folder"])
                say({"hello": 1} if way == "nameless" else {"name": way, "verdicts": way == "promises"})
            case "prepare":
                say({"stop": "rejected", "message": "not this one"} if way == "reject" else {"ok": True})
            case "run":
                run(request, folder, way)
            case "close":
                return


if __name__ == "__main__":
    main()
