"""Functions of the text that are called with variables, loads and buffers: the expressions that they return."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read, show

HEAD = """
from tvm import relax, tirx
from tvm.ir import Op
from tvm.script import relax as R
from tvm.script import tirx as T
"""
KERNEL = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 8):
        {0}
"""


def kernel(functions, line):
    """The function with a line in its loops, after the definitions of functions."""
    return read(HEAD + functions + KERNEL.format(line), "substitution.py")["f"]


def code_of(functions, line):
    with pytest.raises(RefmlcError) as caught:
        kernel(functions, line)
    return caught.value.code.id


@pytest.mark.parametrize(
    ("functions", "line", "meaning"),
    [
        ("def g(x):\n    return x + 1\n", "A[i, j] = g(A[i, j])", "A[i, j] = A[i, j] + 1"),
        ("def g(x, n=3):\n    'Doc.'\n    return x * n\n", "A[i, j] = g(i)", "A[i, j] = i * 3"),
        (
            "def g(x):\n    y = x * 2\n    y += 1\n    return y * y\n",
            "A[i, j] = g(j)",
            "A[i, j] = (j * 2 + 1) * (j * 2 + 1)",
        ),
        ("def g(x, *more):\n    return x + more[1]\n", "A[i, j] = g(i, 5, j)", "A[i, j] = i + j"),
        ("def g(x, /, **more):\n    return x + more['y']\n", "A[i, j] = g(i, y=j)", "A[i, j] = i + j"),
        ("def g(n, x):\n    assert n == 4\n    return x << n\n", "A[i, j] = g(4, i)", "A[i, j] = i << 4"),
        ("def h(x):\n    return x + 1\ndef g(x):\n    return h(x) * 2\n", "A[i, j] = g(i)", "A[i, j] = (i + 1) * 2"),
        (
            "def make(n):\n    def g(x):\n        return x + n\n    return g\n",
            "A[i, j] = make(7)(i)",
            "A[i, j] = i + 7",
        ),
        ("def g(i, j):\n    return T.meta_var((j, i // 2))\n", "p, q = g(i, j); A[p, q] = 1", "A[j, i // 2] = 1"),
        ("def g(buffer, offset):\n    return 0\n", "T.evaluate(g(A.data, A.elem_offset))", "T.evaluate(0)"),
    ],
)
def test_the_call_means_what_the_function_returns(functions, line, meaning):
    assert structural_equal(kernel(functions, line), kernel("", meaning))


@pytest.mark.parametrize(
    ("functions", "line", "code"),
    [
        ("def g(x):\n    if x:\n        return 1\n    return 2\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    return 1 if x else 2\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    return x and 1\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    return not x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    return 0 <= x < 4\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    return [k for k in (1, 2) if x][0]\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    assert x > 0\n    return x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    T.evaluate(x)\n    return x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    b = T.alloc_buffer((4,), 'int32')\n    return x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    for k in range(3):\n        x = x + k\n    return x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    global N\n    N = x\n    return x\n", "A[i, j] = g(i)", "RM103"),
        ("def g(x):\n    y = z\n    z = x\n    return y\n", "A[i, j] = g(i)", "RM114"),
        ("def g(x):\n    return g(x)\n", "A[i, j] = g(i)", "RM602"),
        ("def g(x):\n    return x\n", "A[i, j] = g(i, i)", "RM105"),
        ("def g(x, /):\n    return x\n", "A[i, j] = g(x=i)", "RM105"),
        ("def g(x):\n    return x\n", "A[i, j] = g(i, y=i)", "RM105"),
        ("@cached\ndef g(x):\n    return x\n", "A[i, j] = g(i)", "RM114"),
    ],
)
def test_what_python_would_do_otherwise_is_refused(functions, line, code):
    assert code_of(functions, line) == code


def test_values_that_grow_exponentially_use_the_budget_up():
    lines = "".join(f"    x = x * x + {number}\n" for number in range(60))
    assert code_of(f"def g(x):\n{lines}    return x\n", "A[i, j] = g(i)") == "RM606"


CALL = """
def inspect(name, *args):
    return relax.Call(Op.get(f"relax.inspect.{name}"), args)

@R.function
def main(A: R.Tensor):
    return VALUE
"""


def test_a_call_of_relax_is_made_by_the_name_of_its_operator():
    module = read(HEAD + CALL.replace("VALUE", 'inspect("tensor_dtype_code", A)'))
    assert "R.inspect.tensor_dtype_code(A)" in show(module)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (CALL.replace("VALUE", 'inspect("tensor_dtype_code", R.add(A, A))'), "RM103"),
        (CALL.replace("return relax", "x = relax").replace("args)\n", "args)\n    return x\n"), "RM103"),
        (CALL.replace('f"relax.inspect.{name}"', '"tirx.exp"'), "RM105"),
        (CALL.replace('Op.get(f"relax.inspect.{name}")', "name"), "RM105"),
    ],
)
def test_a_call_of_relax_that_would_be_made_twice_is_refused(text, code):
    with pytest.raises(RefmlcError) as caught:
        read(HEAD + text.replace("VALUE", 'inspect("tensor_dtype_code", A)'))
    assert caught.value.code.id == code


def test_a_second_definition_of_a_function_that_is_not_called_begins_a_module():
    definition = "    @R.function\n    def f(x: R.Any):\n        return x\n"
    with pytest.raises(RefmlcError, match=r"RM103.*the text holds 2 modules"):
        read(f"{HEAD}def test():\n{definition}{definition}")


@pytest.mark.parametrize("option", ["persistent=True", "persistent=False"])
def test_a_persistent_kernel_has_an_attribute_that_its_decorator_says(option):
    text = f'{HEAD}@T.prim_func({option})\ndef f(A: T.Buffer((4,), "int32")):\n    T.device_entry()\n    A[0] = 1\n'
    module = read(text)
    assert module["f"].attrs == ({"tirx.persistent_kernel": True} if "True" in option else {})
    assert ("@T.prim_func(persistent=True)" in show(module)) is ("True" in option)
    assert "func_attr" not in show(module)
    assert structural_equal(read(show(module)), module)


def test_a_layout_has_a_name_and_a_buffer_a_layout():
    text = (
        HEAD
        + """
@T.prim_func
def f():
    T.device_entry()
    L = T.TileLayout(T.S[(4, 2):(2, 1)])
    A = T.alloc_local((4, 2), "int32", layout=LAYOUT)
    B = T.decl_buffer((4, 2), "int32", A.data, layout=A.layout)
    B[0, 0] = 1
"""
    )
    named, plain = read(text.replace("LAYOUT", "L")), read(text.replace("LAYOUT", "T.TileLayout(T.S[(4, 2):(2, 1)])"))
    assert structural_equal(named, plain)
