"""Which of the texts that `gather_rejects` noted does TVM refuse too: `PYTHON-WITH-TVM refused_by_tvm.py FILE OUT`.

Each is parsed in a child of its own. OUT: a list of booleans.
"""

import json
import os
import sys
from pathlib import Path

from tvm.script import from_source


def refused(text):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        from_source(text)
    except BaseException:  # noqa: BLE001 - whatever it raises is a refusal
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_text(json.dumps([refused(row[0]) for row in rows]), encoding="utf-8")
