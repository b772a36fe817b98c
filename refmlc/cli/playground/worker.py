"""The process that makes the answers: a line of JSON for a line of JSON, until its input ends.

Its standard output is for answers alone: what else writes there, in Python or in C, writes to standard error.
"""

import json
import os
import sys

from refmlc.cli.playground.answers import Answers


def main() -> None:
    """Answer requests."""
    answers = Answers()
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request.get("do") == "close":
            return
        stream.write(json.dumps(answers.answer(request), allow_nan=False).encode() + b"\n")
        stream.flush()


if __name__ == "__main__":
    main()
