"""Thread axes that several launches have, and views, as TVM 0.27 takes them: the texts were read by TVM itself."""

import pytest

from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read, show

LAUNCHES = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    t = T.env_thread("threadIdx.x"{dtype})
    with T.launch_thread(t, {extent}):
        A[t] = A[t] + T.float32(1.0)
    with T.launch_thread(t, {extent}):
        A[t] = A[t] + T.float32(2.0)
"""


def lines_of(text):
    """The lines of a function as they are shown; what is shown is read as the same."""
    module = read(text, "f.py")
    again = show(module)
    assert structural_equal(read(again, "again.py"), module)
    return [line.strip() for line in again.partition("def f(")[2].splitlines()[1:] if line.strip()]


@pytest.mark.parametrize(("dtype", "extent"), [("", "8"), (', "int64"', "T.int64(8)")])
def test_the_variable_of_two_launches_is_declared_before_them(dtype, extent):
    lines = lines_of(LAUNCHES.format(dtype=dtype, extent=extent))
    assert lines[0] == f't = T.env_thread("threadIdx.x"{dtype})'
    assert [line for line in lines if "launch" in line] == [f"with T.launch_thread(t, {extent}):"] * 2


def test_a_launch_for_the_rest_of_a_body_names_the_declared_variable():
    lines = lines_of(
        """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "float32")):
    t = T.env_thread("threadIdx.x")
    for i in range(2):
        T.launch_thread(t, 8)
        A[t] = T.float32(1.0)
    for i in range(2):
        T.launch_thread(t, 8)
        A[t] = T.float32(2.0)
"""
    )
    assert lines[0] == 't = T.env_thread("threadIdx.x")'
    assert sum("T.launch_thread(t, 8)" in line for line in lines) == 2


def test_the_variable_of_one_launch_is_named_by_it():
    text = LAUNCHES.format(dtype="", extent="8").rpartition("    with")[0]
    assert lines_of(text)[0] == 't = T.launch_thread("threadIdx.x", 8)'


TEXT = """
@T.prim_func{option}
def f(A: T.Buffer((64,), "float32")):
    B = {view}
    B[0, 0] = T.float32(1.0)
"""


@pytest.mark.parametrize(
    ("option", "view", "expected"),
    [
        ("", "A.view(8, 8)", "A.view(8, 8)"),
        ("", "A.view(4, 8, layout=T.TileLayout(T.S[(4, 8):(8, 1)]))", None),
        ("(s_tir=True)", "A.view(4, 8)", "A.view(4, 8)"),
        ("(s_tir=True)", 'T.decl_buffer((T.int64(8), T.int64(8)), "float32", data=A.data)', None),
    ],
)
def test_a_view_says_the_layout_and_the_offset_that_tvm_would_take_otherwise(option, view, expected):
    wanted = expected or view.replace(', "float32"', "")
    assert lines_of(TEXT.format(option=option, view=view))[0] == f"B = {wanted}"
