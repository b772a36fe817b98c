"""Whatever a program is given as: one coercion, the same refusal everywhere."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import refmlc
from refmlc.frontends.programs import as_module
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed import reader_checks
from refmlc.rewrite.schedule import Schedule
from refmlc.strategies import prim_funcs, schedules
from refmlc.testing import NotDefined, assert_defined, assert_equivalent

TEXT = """\
@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        B[i] = A[i]
"""


def array(values):
    return np.array(values, "float32")


class OfTvm:
    """An object that prints itself, as those of TVM do."""

    def script(self, *, show_meta: bool = False) -> str:
        return TEXT if show_meta else "?"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "a copy").write_text(TEXT, encoding="utf-8")
    return tmp_path / "copy.py"


@pytest.mark.parametrize(
    "made",
    [
        lambda _: refmlc.read(TEXT),
        lambda _: refmlc.read(TEXT)["main"],
        lambda _: TEXT,
        lambda file: file,
        str,
        lambda _: "copy.py",
        lambda _: "a copy",
        lambda _: OfTvm(),
    ],
)
def test_all_are_the_same_program(file, made):
    program = made(file)
    assert structural_equal(as_module(program), refmlc.read(TEXT))
    assert_defined(program)
    assert_equivalent(program, TEXT)
    assert structural_equal(Schedule(program).mod, refmlc.read(TEXT))


@pytest.mark.parametrize("program", [3, None, b"", [TEXT], int, OfTvm], ids=repr)
@pytest.mark.parametrize("asked", [assert_defined, Schedule, lambda given: assert_equivalent(TEXT, given)])
def test_anything_else_is_refused_by_its_type(program, asked):
    with pytest.raises(refmlc.Malformed) as caught:
        asked(program)
    what = type(program).__name__
    assert caught.value.diagnostic.message == (
        f"an IRModule, a function, a path or TVMScript is needed, this is {what}"
    )
    assert caught.value.code.id == "RM112"


@pytest.mark.parametrize("name", ["missing.py", "dir/missing", "missing.tvmscript"])
def test_a_line_that_names_no_file_is_told_as_that(name):
    with pytest.raises(refmlc.Malformed, match=f"`{name}`: No such file") as caught:
        refmlc.read(name)
    assert caught.value.code.id == "RM109"


@pytest.mark.parametrize("text", ["", "x = 1", "import os", "def f(:", "'a.b'", "x" * 5000, "a\0b.p y"])
def test_other_lines_are_texts(text):
    with pytest.raises(refmlc.RefmlcError) as caught:
        refmlc.read(text)
    assert caught.value.code.id != "RM109"


def test_what_is_no_text_is_refused_by_read():
    with pytest.raises(refmlc.Malformed, match="a path or TVMScript is needed, this is int"):
        refmlc.read(3)


def test_texts_from_elsewhere_are_never_paths(file):
    assert file.exists()
    with pytest.raises(refmlc.Malformed, match="RM103"):
        reader_checks.read("copy.py")


@settings(max_examples=10, deadline=None)
@given(prim_funcs())
def test_a_drawn_case_is_called_as_it_says(case):
    assert_defined(case)
    assert_equivalent(case, case.module)


@settings(max_examples=5, deadline=None)
@given(st.data())
def test_a_drawn_schedule_is_a_function(data):
    text = TEXT.replace(
        "        B[i]", "        with T.sblock('B'):\n            vi = T.axis.spatial(4, i)\n            B[vi]"
    )
    text = text.replace("= A[i]", "= A[vi]")
    assert_equivalent(text, data.draw(schedules(refmlc.read(text)["main"])))


def test_the_calls_of_a_case_are_those_that_are_tried():
    """The function is defined on what its author chose, and on nothing else."""

    class Case:
        module = refmlc.read(TEXT.replace("A[i]", "A[T.cast(A[i], 'int32')]"))
        func = "main"

        def __init__(self, *calls):
            self.calls = calls

    good = [[0.0, 1.0, 2.0, 3.0], [0.0] * 4]
    assert_defined(Case(tuple(map(array, good))))
    with pytest.raises(NotDefined):
        assert_defined(Case(tuple(map(array, good)), tuple(map(array, [[9.0] * 4, [0.0] * 4]))))
