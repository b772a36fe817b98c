"""An implementation that is a command: it transposes what it should copy, or does not start. `check_answers.py WAY`."""

import json
import sys
from pathlib import Path


def main():
    """Speak the protocol of commands."""
    if sys.argv[1] == "mute":
        sys.exit("no licence today")
    folder = Path()
    for line in sys.stdin:
        request = json.loads(line)
        match request["do"]:
            case "hello":
                folder = Path(request["folder"])
                reply = {"name": "copies"}
            case "prepare":
                reply = {"ok": True}
            case "run" if sys.argv[1] == "nothing":
                reply = {"stop": "unsupported", "message": "nothing at all"}
            case "run":
                source, target = request["args"]
                raw = (folder / source["file"]).read_bytes()
                rows, columns = source["shape"]
                cells = [raw[at : at + 4] for at in range(0, len(raw), 4)]
                if sys.argv[1] == "transposes":
                    cells = [cells[row * columns + column] for column in range(columns) for row in range(rows)]
                (folder / target["file"]).write_bytes(b"".join(cells))
                reply = {"value": {"kind": "null"}, "args": [source, target]}
            case _:
                return
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
