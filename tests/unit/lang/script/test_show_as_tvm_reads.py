"""What TVM 0.27 prints in one way and reads in another is shown as it reads it. The texts were read by TVM itself."""

import pytest

from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read, show

HEAD = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def fill(A: T.Buffer((2,), "int64"), k: T.int64):
        for i in range(2):
            A[i] = k

    @R.function(pure=False)
    def main({params}):
        cls = Module
{lines}
"""


def shown(lines, params='x: R.Tensor(dtype="float32", ndim=2), n: T.int64'):
    """The lines of `main` as they are shown, and the whole text."""
    module = read(HEAD.format(params=params, lines="\n".join(f"        {line}" for line in lines)), "m.py")
    text = show(module)
    assert structural_equal(read(text, "again.py"), module)
    return [line.strip() for line in text.partition("def main")[2].splitlines()[1:]], text


@pytest.mark.parametrize(
    "line",
    [
        'y = R.call_packed("f", n, ty_args=(R.Prim("int64"),))',
        'y = R.call_pure_packed("f", n, ty_args=(R.Tuple(R.Prim("bool"), R.Tensor),))',
        'y = R.call_packed("f", n, ty_args=(R.Callable((R.Prim("int64"),), R.Prim("int64"), True),))',
        'y = R.match_cast(n, R.Prim("int64"))',
        'y = R.call_py_func("f", x, n, out_ty=R.Tensor((2,), dtype="float32"))',
        'y = R.call_packed("f", x, 3, ty_args=(R.Any,))',
    ],
)
def test_a_type_that_is_an_argument_is_no_function_of_tensorir(line):
    assert shown([line, "return y"])[0] == [line, "return y"]


def test_annotations_have_the_short_form():
    assert "y: T.int64 = " in shown(['y: R.Prim("int64") = R.call_packed("f", n, ty_args=(R.Any,))', "return y"])[1]


def test_a_number_is_a_value_where_a_function_is_called():
    call = "cls.fill(t, R.prim_value(4))"
    lines, _ = shown(["t = R.zeros(R.shape([2]), 'int64')", "cls.fill(t, 4)", "return t"])
    assert call in lines


def test_dimensions_that_no_signature_names_are_declared_in_the_body():
    cast = 'y = R.match_cast(x, R.Tensor((a, b), dtype="float32"))'
    lines, text = shown(["a = T.int64()", "b = T.int64()", cast, "return R.shape([a * b])"])
    assert lines[:4] == ["a = T.int64()", "b = T.int64()", cast, "return R.shape([a * b])"]
    assert "TypeVar" not in text


def test_such_a_dimension_has_no_name_that_is_one_of_another_function():
    other = (
        '@I.ir_module\nclass Module:\n    @R.function\n    def g(z: R.Tensor(("a",), "float32")):\n        return z\n'
    )
    main = '    @R.function\n    def main(x: R.Tensor(ndim=1, dtype="float32")):\n        a = T.int64()\n'
    main += '        y = R.match_cast(x, R.Tensor((a,), "float32"))\n        return y\n'
    text = show(read(other + main, "m.py"))
    assert 'a = TypeVar("a")' in text
    assert "a_1 = T.int64()" in text
    assert 'R.Tensor((a_1,), dtype="float32")' in text


def test_a_function_of_tensorir_names_others_by_the_module():
    text = HEAD.replace(
        "A[i] = k\n",
        "A[i] = k\n        cls.other(A.data)\n\n    @T.prim_func(s_tir=True)\n"
        '    def other(p: T.handle("int64")):\n        T.evaluate(0)\n',
    )
    found = show(read(text.format(params="", lines="        return R.tuple()"), "m.py"))
    assert "        Module.other(A.data)\n" in found
