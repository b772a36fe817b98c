"""Findings on files, arguments and nodes that no program text shows: each ends in one message, beside it here."""

import numpy as np
import pytest

import refmlc
from refmlc.diag.render import render_text
from refmlc.lang.dtypes import FLOAT32, HANDLE, INT32
from refmlc.lang.ir import tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.script.reader.syntax import LIMIT
from refmlc.lang.spec import clause
from refmlc.lang.wellformed import check_module
from refmlc.run.memory.registry import FunctionRegistry

COPY = """\
from tvm.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((4,), "float32"))
        R.output(y)
    return y
"""


def machine(function, text=COPY):
    registry = FunctionRegistry()
    registry.register("f", function)
    return refmlc.VirtualMachine(refmlc.build(refmlc.read(text, "case.py"), registry=registry))


def message(action):
    with pytest.raises(refmlc.RefmlcError) as raised:
        action()
    return render_text(raised.value.diagnostic)


class OnAnotherDevice:
    """An object of DLPack that lies on a GPU."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError


def test_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message(lambda: refmlc.read_file("missing.py")) == (
        "error[RM109]: `missing.py`: No such file or directory\n  = help: `refmlc explain RM109`"
    )


def test_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message(lambda: refmlc.read_file(".")).splitlines()[0] == "error[RM109]: `.`: Is a directory"


def test_text_too_large():
    assert message(lambda: refmlc.read("#" * (LIMIT + 1))).splitlines()[0] == (
        f"error[RM604]: the text has {LIMIT + 1} bytes; the reader's limit is {LIMIT}"
    )


def test_unknown_tier():
    text = message(lambda: refmlc.build(refmlc.read(COPY), tier="fast"))
    assert text.startswith("error[RM112]: ")
    assert "`fast`" in text.splitlines()[0]


def test_unknown_clause():
    assert message(lambda: clause("TIR-000")).splitlines()[0] == (
        "error[RM112]: the specification has no clause `TIR-000`; ids look like TIR-201"
    )


def test_variable_of_a_loop_that_has_ended():
    handle, i, zero = tir.Var("a", HANDLE), tir.Var("i", INT32), tir.IntImm(INT32, 0)
    buffer = tir.Buffer("A", FLOAT32, (tir.IntImm(INT32, 4),))
    store = tir.BufferStore(buffer, tir.FloatImm(FLOAT32, 0.0), (i,))
    loop = tir.For(i, zero, tir.IntImm(INT32, 4), ForKind.SERIAL, store)
    module = refmlc.IRModule({"main": tir.PrimFunc((handle,), {handle: buffer}, tir.SeqStmt((loop, store)))})
    (found,) = check_module(module)
    assert render_text(found) == (
        "error[RM203]: variable `i` is used outside its scope\n  = help: `refmlc explain RM203`"
    )
    assert message(lambda: refmlc.build(module)) == render_text(found)


def test_tensor_on_another_device():
    assert message(lambda: machine(lambda *_: None)["main"](OnAnotherDevice())).splitlines()[0] == (
        "error[RM505]: `x` of `main`: the tensor lies on device (2, 0) of DLPack, not on the CPU"
    )


@pytest.mark.parametrize(
    ("value", "first_line"),
    [
        (np.zeros(4), "error[RM111]: `x` of `main` has elements of float32, a tensor (4,) of float64 is given"),
        (np.zeros(5, "float32"), "error[RM111]: `x` of `main` has shape (4,), shape (5,) is given"),
        (np.zeros((4, 1), "float32"), "error[RM111]: `x` of `main` has shape (4,), shape (4, 1) is given"),
        ("text", "error[RM111]: `x` of `main` is a tensor (4,) of float32, the string 'text' is given"),
        (None, "error[RM111]: `x` of `main` is a tensor (4,) of float32, null is given"),
    ],
)
def test_wrong_inputs(value, first_line):
    assert message(lambda: machine(lambda *_: None)["main"](value)).splitlines()[0] == first_line


def test_wrong_names_and_numbers_of_inputs():
    main = machine(lambda *_: None)["main"]
    x = np.zeros(4, "float32")
    assert message(lambda: main(x, x)).startswith("error[RM111]")
    assert message(main).startswith("error[RM111]")
    assert message(lambda: main(z=x)).startswith("error[RM111]")


def test_the_exception_of_a_packed_function_is_kept():
    def fails(*_):
        text = "no kernel"
        raise KeyError(text)

    with pytest.raises(refmlc.Trap) as raised:
        machine(fails)["main"](np.zeros(4, "float32"))
    assert raised.value.code.id == "RM403"
    assert isinstance(raised.value.__cause__, KeyError)


def test_what_a_packed_function_keeps_stays_readable():
    kept = []

    def keeps(x, y):
        kept.extend((x, y))
        y.numpy()[:] = x.numpy() + 1

    result = machine(keeps)["main"](np.arange(4, dtype="float32"))
    assert result.numpy().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert [tensor.numpy().tolist() for tensor in kept] == [[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]


def test_arguments_that_violate_a_written_contract():
    def call():
        text = "@T.prim_func\ndef main(A: T.Buffer((3,), 'int32')):\n    A[0] = A[1]\n"
        inputs = {"A": np.array([3, 1, 2], "int32")}
        refmlc.check(text, "main", inputs=inputs, assume=["A: ascending"], implementations=["interp"])

    assert message(call) == (
        "error[RM115]: the arguments violate `A: ascending`: `ascending` does not hold for A = [3, 1, 2]\n"
        "  = note: the contract is from assume\n"
        "  = help: `refmlc explain RM115`"
    )
