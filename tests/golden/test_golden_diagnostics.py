"""Each case of diagnostics/*.toml ends in one message, which stands beside the program, in bounded time.

A case: `code`; `program`, the text (or `hex`, the bytes of a file); for those that run, `arguments`, one table each
(`shape` and `dtype`, filled with 0, 1, 2, …; or `data` and `dtype`; or `int`), optionally `func`, `steps`, `bytes`,
`seconds` (budgets) and `packed` (a function of `PACKED` by registered name); last `message`, the rendering.

`REFMLC_UPDATE_GOLDEN=1 python -m pytest tests/golden` writes the messages anew; then read them.
"""

import os
import re
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.diag.render import render_text
from refmlc.lang.wellformed.reader_checks import read, read_file
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.registry import FunctionRegistry
from refmlc.vm import VirtualMachine, build

CASES = sorted((Path(__file__).parent / "diagnostics").glob("*.toml"))
UPDATE = os.environ.get("REFMLC_UPDATE_GOLDEN") == "1"
SLOWEST = 60.0  # seconds of CPU time; a case without a bound takes hours


def raising(*_args):
    text = "no such kernel"
    raise ValueError(text)


PACKED = {
    "raising": raising,
    "a dict": lambda *_args: {"y": 1},
    "float64": lambda x: np.zeros(x.shape, "float64"),
    "nothing": lambda *_args: None,
}


def argument(row):
    if "int" in row:
        return row["int"]
    if "data" in row:
        return np.array(row["data"], row["dtype"])
    return np.arange(int(np.prod(row["shape"])), dtype=row["dtype"]).reshape(row["shape"])


def run(case, tmp_path, tier="interp"):
    if "hex" in case:
        path = tmp_path / "case.py"
        path.write_bytes(bytes.fromhex(case["hex"]))
        read_file(path)
        return
    module = read(case["program"], "case.py")
    if "arguments" in case:
        registry = FunctionRegistry()
        for name, kind in case.get("packed", {}).items():
            registry.register(name, PACKED[kind])
        budget = Budget(
            max_steps=case.get("steps", 10**6), max_bytes=case.get("bytes", 1 << 26), max_seconds=case.get("seconds")
        )
        executable = build(module, tier, registry=registry, budget=budget)
        VirtualMachine(executable)[case.get("func", "main")](*(argument(row) for row in case["arguments"]))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_ends_in_its_message(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    case = tomllib.loads(text)
    start = time.process_time()
    with pytest.raises(RefmlcError) as raised:
        run(case, tmp_path)
    assert time.process_time() - start < SLOWEST
    message = render_text(raised.value.diagnostic).replace(f"{tmp_path}{os.sep}", "")
    if "seconds" in case:
        message = re.sub(r"step [0-9]+", "step …", message)
    if UPDATE:
        path.write_text(text[: text.index("\nmessage = ")] + f"\nmessage = '''\n{message}\n'''\n", encoding="utf-8")
        return
    assert message == case["message"].rstrip("\n")
    assert raised.value.code.id == case["code"]


RUN = [path for path in CASES if (case := tomllib.loads(path.read_text(encoding="utf-8")))["code"][2] in "34"]


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
def test_guarded_c_ends_in_the_same_message(path, tmp_path):
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(RefmlcError) as raised:
        run(case, tmp_path, "native")
    assert render_text(raised.value.diagnostic) == case["message"].rstrip("\n")


def test_public_api_gives_the_same_errors():
    with pytest.raises(refmlc.RefmlcError, match="RM101"):
        refmlc.read("def f(:")
