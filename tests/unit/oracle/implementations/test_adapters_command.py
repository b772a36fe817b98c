"""Commands as implementations: right ones, and each way in which one can be wrong; processes, values on the line."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.lang.dtypes import dtype
from refmlc.oracle.implementations.command import Command
from refmlc.oracle.implementations.implementation import Ended, Limits, Stop
from refmlc.oracle.implementations.wire import Misspelt, Receiver, Sender, Unsendable
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.system.lines import Broken, LineProcess

SPEAKING = str(Path(__file__).parent / "speaking.py")
TEXT = """
@T.prim_func
def double(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i] * T.float32(2)
"""
MODULE = refmlc.read(TEXT, "double.py")


def command(way, seconds=20.0):
    return Command([sys.executable, SPEAKING, way], Limits(seconds=seconds, prepare=20.0))


def arguments():
    return [Tensor.from_numpy(np.array([1, 2, 4], "float32")), Tensor.empty((3,), dtype("float32"))]


def called(way, seconds=20.0):
    made = command(way, seconds)
    try:
        return made.prepare(MODULE).run("double", arguments())
    finally:
        made.close()


def test_what_a_command_gives_back_is_the_result():
    answer = called("right")
    assert isinstance(answer, Ended)
    assert answer.value is None
    assert answer.args[0].numpy().tolist() == [1, 2, 4]
    assert answer.args[1].numpy().tolist() == [2, 4, 8]
    assert answer.args[1].initialised


@pytest.mark.parametrize(
    ("way", "why", "words"),
    [
        ("crash", Stop.CRASHED, "SIGABRT: last words"),
        ("leave", Stop.CRASHED, "status 7"),
        ("rubbish", Stop.CRASHED, "hello world"),
        ("list", Stop.CRASHED, "[1, 2]"),
        ("half", Stop.CRASHED, "not a JSON object"),
        ("latin", Stop.CRASHED, "not a JSON object"),
        ("nan", Stop.CRASHED, "not a JSON object"),
        ("midway", Stop.CRASHED, "status 0"),
        ("shape", Stop.CRASHED, "has 12 bytes, shape and dtype make 16"),
        ("outside", Stop.CRASHED, "is not a tensor"),
        ("few", Stop.CRASHED, "needs `value` and all `args`"),
        ("unheard", Stop.CRASHED, "bored"),
        ("refuse", Stop.UNSUPPORTED, "no float32 here"),
    ],
)
def test_what_is_no_answer_is_told(way, why, words):
    answer = called(way)
    assert answer.why is why
    assert words in answer.message


def test_a_command_that_refuses_a_module_says_so():
    made = command("reject")
    answer = made.prepare(MODULE)
    made.close()
    assert (answer.why, answer.message) == (Stop.REJECTED, "not this one")


def test_a_command_that_hangs_is_ended_and_started_again(monkeypatch):
    monkeypatch.setattr("refmlc.oracle.implementations.remote.GRACE", 0.0)
    made = command("hang", seconds=0.2)
    prepared = made.prepare(MODULE)
    assert [prepared.run("double", arguments()).why for _ in range(2)] == [Stop.TIMED_OUT, Stop.TIMED_OUT]
    made.close()


def test_after_a_crash_the_next_module_is_taken():
    made = command("crash")
    assert made.prepare(MODULE).run("double", arguments()).why == Stop.CRASHED
    assert not hasattr(made.prepare(MODULE), "why")
    made.close()


def test_two_modules_of_one_command_do_not_meet():
    made = command("right")
    first, second = made.prepare(MODULE), made.prepare(MODULE)
    answers = [one.run("double", arguments()) for one in (first, second, first)]
    made.close()
    assert [answer.args[1].numpy().tolist() for answer in answers] == [[2, 4, 8]] * 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/nowhere/at/all"], "No such file"),
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "no licence"),
        ([sys.executable, "-c", "print('Welcome!')"], "Welcome!"),
        ([sys.executable, SPEAKING, "nameless"], "its first answer has no name"),
    ],
)
def test_what_does_not_start_is_bad_usage(words, told):
    with pytest.raises(refmlc.Malformed, match="does not start") as raised:
        Command(words, Limits(prepare=20.0))
    assert raised.value.code.id == "RM112"
    assert told in str(raised.value)


def test_who_promises_verdicts_is_believed():
    made = command("promises")
    assert made.promises_verdicts
    made.close()
    other = command("right")
    assert not other.promises_verdicts
    other.close()


def test_the_whole_group_is_ended():
    child = (
        "import subprocess as s; p = s.Popen(['sleep', '600']); print('{\"pid\": %d}' % p.pid, flush=True); p.wait()"
    )
    process = LineProcess([sys.executable, "-c", child])
    pid = process.ask({}, 20.0)["pid"]
    with pytest.raises(Broken):
        process.ask({}, 0.2)
    for _ in range(100):
        if not alive(pid):
            break
        time.sleep(0.05)
    assert not alive(pid)


def alive(pid):
    """Whether the process runs; one that nobody waited for has ended."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def test_an_endless_line_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("refmlc.system.lines.LONGEST_LINE", 1 << 16)
    process = LineProcess([sys.executable, "-c", "while True: print('x' * 4096, end='')"])
    with pytest.raises(Broken, match="more than 65536 bytes"):
        process.ask({}, 20.0)


def test_who_does_not_read_does_not_block():
    process = LineProcess([sys.executable, "-c", "import time; time.sleep(600)"])
    with pytest.raises(Broken, match="no answer") as raised:
        process.ask({"text": "x" * (1 << 20)}, 0.3)
    assert raised.value.why == Stop.TIMED_OUT.value


def test_values_come_back_as_they_were(tmp_path):
    sender, receiver = Sender(tmp_path), Receiver(tmp_path)
    values = [True, 3, 1.5, float("inf"), Shape((2, 3)), (1, (2.0,)), "name", None]
    assert [receiver.value(sender.value(value)) for value in values] == values
    assert np.isnan(receiver.value(sender.value(float("nan"))))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int8", "uint64", "bool", "float8_e4m3fn", "int4"])
def test_tensors_come_back_bit_by_bit(tmp_path, name):
    tensor = Tensor.empty((2, 3), dtype(name))
    cells = tensor.cells
    for number in range(6):
        cells[number] = number % 2 if name == "bool" else number
    tensor.mark_initialised()
    back = Receiver(tmp_path).value(Sender(tmp_path).value(tensor))
    assert (back.shape, back.dtype) == ((2, 3), dtype(name))
    assert back.numpy().tobytes() == tensor.numpy().tobytes()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("float32", [1.5, "nan", "-inf", -0.0]),
        ("bfloat16", [0.5, 3.0, "inf", 2.0]),
        ("int64", [-(1 << 63), (1 << 63) - 1, 0, 1]),
        ("uint64", [(1 << 64) - 1, 0, 1, 2]),
        ("bool", [True, False, True, True]),
        ("int4", [-8, 7, 0, 1]),
    ],
)
def test_small_tensors_stand_in_the_line(tmp_path, name, values):
    line = {"kind": "tensor", "dtype": name, "shape": [4], "values": values}
    tensor = Receiver(tmp_path).value(line)
    assert [str(float(one)) for one in tensor.numpy()] == [str(float(one)) for one in values]
    assert Sender(tmp_path, inline=4).value(tensor) == line
    assert "file" in Sender(tmp_path, inline=3).value(tensor)


def test_what_was_not_written_shows_when_it_is_read(tmp_path):
    sent = Sender(tmp_path).value(Tensor.empty((2,), dtype("float32")))
    assert np.isnan(np.frombuffer((tmp_path / sent["file"]).read_bytes(), "<f4")).all()
    whole = Sender(tmp_path, "b").value(Tensor.empty((2,), dtype("int32")))
    assert np.frombuffer((tmp_path / whole["file"]).read_bytes(), "<i4").tolist() == [-1, -1]


def test_one_tensor_given_twice_is_the_same_one(tmp_path):
    tensor = arguments()[0]
    sender = Sender(tmp_path)
    assert [sender.value(tensor), sender.value(tensor)][1] == {"kind": "same", "value": 0}


def test_views_and_functions_are_not_sent(tmp_path):
    whole = Tensor.from_numpy(np.zeros((4, 4), "float32"))
    with pytest.raises(Unsendable):
        Sender(tmp_path).value(Tensor(whole.storage, whole.dtype, (2, 2), (4, 1)))
    with pytest.raises(Unsendable):
        Sender(tmp_path).value(object())


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"kind": "int", "value": True},
        {"kind": "float", "value": "1.5"},
        {"kind": "same", "value": 0},
        {"kind": "tensor", "dtype": "float33", "shape": [1], "file": "a0"},
        {"kind": "tensor", "dtype": "float32", "shape": [-1], "file": "a0"},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "file": "missing"},
        {"kind": "tensor", "dtype": "float32", "shape": [1]},
        {"kind": "tensor", "dtype": "float32", "shape": [2], "values": [1.5]},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "values": ["1.5"]},
        {"kind": "tensor", "dtype": "float32", "shape": [1], "values": [True]},
        {"kind": "tensor", "dtype": "int8", "shape": [1], "values": [1.0]},
        {"kind": "tensor", "dtype": "int8", "shape": [1], "values": [128]},
        {"kind": "tensor", "dtype": "bool", "shape": [1], "values": [1]},
        {"kind": "tensor", "dtype": "float32", "shape": [1 << 40], "file": "a0"},
        {"kind": "tensor", "dtype": "float32", "shape": [1 << 62, 1 << 62, 0], "values": []},
    ],
)
def test_what_is_no_value_is_misspelt(tmp_path, value):
    with pytest.raises(Misspelt):
        Receiver(tmp_path).value(value)


def test_an_integer_beyond_every_float_is_an_infinity(tmp_path):
    assert Receiver(tmp_path).value({"kind": "float", "value": -(10**400)}) == float("-inf")


def test_a_file_without_an_end_is_not_read(tmp_path):
    value = {"kind": "tensor", "dtype": "float32", "shape": [4], "file": "a0"}
    (tmp_path / "a0").symlink_to("/dev/zero")
    with pytest.raises(Misspelt, match="not a regular file"):
        Receiver(tmp_path).value(value)
    (tmp_path / "a0").unlink()
    os.mkfifo(tmp_path / "a0")
    with pytest.raises(Misspelt, match="not a regular file"):
        Receiver(tmp_path).value(value)


def test_a_command_that_refuses_arguments_says_so_cleanly():
    made = command("argument")
    answer = made.prepare(MODULE).run("main", [])
    made.close()
    assert (answer.why, answer.refused, answer.fault) == (Stop.TRAP, True, False)
