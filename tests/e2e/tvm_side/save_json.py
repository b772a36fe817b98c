"""Modules as real TVM saves them: `python save_json.py OUT.json.gz TEXT.py …`, in TVM's environment.

OUT gets, for each file that TVM reads, its text and the JSON of `tvm.ir.save_json`. With apache-tvm-ffi 0.1.15.post2
`save_json` of any object that holds a dtype ends in a segmentation fault; 0.1.14.post0 writes it.
"""

import gzip
import json
import sys
from pathlib import Path

import tvm


def main(out, *texts):
    found = {}
    for path in map(Path, texts):
        try:
            module = tvm.script.from_source(path.read_text())
        except Exception as reason:
            sys.stderr.write(f"{path}: {reason}\n")
            continue
        found[path.stem] = {"text": path.read_text(), "json": tvm.ir.save_json(module)}
    Path(out).write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
