"""Runs where TVM is: prints the text of each program of `te_programs` as TVM's `create_prim_func` makes it, as JSON."""

import json
import sys
from pathlib import Path

from tvm import te

sys.path.insert(0, str(Path(__file__).parents[1]))
from te_programs import PROGRAMS

json.dump({name: te.create_prim_func(program(te)).script() for name, program in PROGRAMS.items()}, sys.stdout)
