"""Ctrl-C ends a command soon, in either tier, with status 130 and without a traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

import refmlc

SOON = 5.0  # seconds, on a busy machine: less than one where it has a core
POWERS = "A[i % 8]"
for number in range(60):
    POWERS = f"T.pow({POWERS}, T.float64(1.{number:03d}1))"
SLOW = f"""
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64")):
    for i in range(1000000000):
        B[i % 8] = {POWERS}
"""
ENDLESS = """
from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def quick(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64")):
        for i in range(8):
            B[i] = A[i]

    @T.prim_func(s_tir=True)
    def slow(A: T.Buffer((8,), "float64"), B: T.Buffer((8,), "float64")):
        B[0] = A[0]
        while A[0] == A[0]:
            B[0] = A[1] + B[0]
"""
COMPILER = """#!/bin/sh
case "$*" in *--version*) echo "gcc (slow)"; exit 0;; esac
{python} -c "import os; os.setsid(); os.execvp('sleep', ['sleep', '1000'])" &
echo $! > {pid}
wait
"""
LOADING = """
import click
from refmlc.cli.console import GuardedGroup

class Group(GuardedGroup):
    places = {"load": "loading:command"}

    def get_command(self, ctx, name):
        return click.Command(name, callback=lambda: exec("raise KeyboardInterrupt"))

Group("group").main(["load"])
"""
ONES = ["--input", "A=ones", "--max-steps", "10000000000"]
COMMANDS = {
    "run in the interpreter": (["run", "slow.py", "--tier", "interp", *ONES], 3.0),
    "run in C": (["run", "slow.py", "--tier", "native", *ONES], 5.0),
    "run in C, endless": (["run", "endless.py", "--func", "slow", "--tier", "native", *ONES], 5.0),
    "check": (["check", "slow.py"], 3.0),
    "trace": (["trace", "slow.py", "--input", "A=ones", "-o", "trace.html"], 3.0),
    "why": (["why", "slow.py", "--element", "B[3]", "--input", "A=ones"], 3.0),
    "reduce": (["reduce", "slow.py", "--while", "sleep 100"], 3.0),
}


@pytest.fixture
def start(tmp_path):
    """`start(*arguments, **environment)`: the command at work on the programs here."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "endless.py").write_text(ENDLESS)
    running = []

    def begin(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-m", "refmlc", *arguments],
            cwd=tmp_path,
            env={**os.environ, "REFMLC_CACHE_DIR": str(tmp_path / "cache"), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def interrupted(process):
    """What it has told by Ctrl-C, after which it ends soon."""
    assert process.poll() is None, process.communicate()
    begin = monotonic()
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=60)
    assert monotonic() - begin < SOON
    assert process.returncode == 130, (told, errors)
    assert "interrupted" in errors
    assert "Traceback" not in errors
    return told, errors


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_ends_a_command(start, name):
    arguments, seconds = COMMANDS[name]
    process = start(*arguments)
    sleep(seconds)
    interrupted(process)


def test_the_compiler_is_ended_too(start, tmp_path):
    compiler, pid = tmp_path / "cc", tmp_path / "pid"
    compiler.write_text(COMPILER.format(pid=pid, python=sys.executable))
    compiler.chmod(0o755)
    process = start("run", "slow.py", "--tier", "native", *ONES, REFMLC_CC=str(compiler))
    until = monotonic() + 60
    while not (pid.exists() and pid.read_text()) and monotonic() < until:
        sleep(0.05)
    interrupted(process)
    stat = Path("/proc", pid.read_text().strip(), "stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_an_interrupt_while_a_module_loads_has_the_same_status(tmp_path):
    """`@dataclass` executes texts: CPython ends a process by SIGINT when an interrupt meets one."""
    (tmp_path / "loading.py").write_text(LOADING)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(refmlc.__file__).parents[1]), str(tmp_path)])}
    ended = subprocess.run(
        [sys.executable, "-m", "loading"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_check_tells_what_it_knows(start):
    process = start("check", "endless.py")
    sleep(10.0)
    told, errors = interrupted(process)
    assert "quick" in told
    assert "slow not checked" in errors
