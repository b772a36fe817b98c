"""The constants around a module: values as Python gives them, names without a value, calls, macros, the budget."""

import time

import pytest

from refmlc.diag import RefmlcError, Source
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.script import read
from refmlc.lang.script.reader.text import program_of

HEAD = "from tvm.script import tirx as T\n"
BODY = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), "float32")):
    for i in range({0}):
        A[i] = T.float32(1)
"""


def program(text):
    return program_of(Source("<text>", HEAD + text))


def extent(text, expression="N"):
    """The extent that a loop over `expression` has, after the statements of `text`."""
    return int(read(HEAD + text + BODY.format(expression))["f"].body.extent.value)


def code_of(text):
    with pytest.raises(RefmlcError) as caught:
        read(HEAD + text)
    return caught.value.code.id


VALUES = {
    "N = 16": 16,
    "N: int = 16": 16,
    "M, N = 3, 4": 4,
    "(M, (K, N)) = (3, (5, 6))": 6,
    "M = N = 5": 5,
    "M = 4\nN = M * 2 + 1": 9,
    "M = 17\nN = -(-M // 4)": 5,
    "SHAPE = (2, 3, 4)\nN = SHAPE[0] * SHAPE[1] * SHAPE[-1]": 24,
    "SHAPE = [2, 3]\nN = len(SHAPE + [1]) + min(SHAPE) + max(SHAPE)": 8,
    "N = sum(i * i for i in range(5))": 30,
    "N = len([x for x in range(10) if x % 3 == 0 for y in range(2)])": 8,
    "D = {'a': 3, 'b': 4}\nN = D['b']": 4,
    "D = {k: v for k, v in zip('ab', (5, 6))}\nN = D['b'] + len(D)": 8,
    "WIDE = True\nN = 32 if WIDE and not False else 16": 32,
    "X = None\nN = 4 if X is None else 8": 4,
    "KIND = 'float16'\nN = 2 if KIND in ('float16', 'bfloat16') else 4": 2,
    "N = int('12') + int(3.9) + round(2.5) + abs(-1)": 18,
    "A, *_ = 1, 2\nN = 3": 3,
    "N = 1 << 4 | 1": 17,
    "N = 2 ** 5": 32,
    "N = 0 or 7": 7,
    "N = 1 < 2 < 3 and 9": 9,
    "import math\nN = math.ceil(7 / 2) + math.prod((2, 3))": 10,
    "from math import sqrt\nN = int(sqrt(49))": 7,
    "def twice(n):\n    m = n * 2\n    return m\nN = twice(8)": 16,
    "def twice(n, k=2, *, plus=0):\n    return n * k + plus\nN = twice(3, plus=1)": 7,
    "def outer(n):\n    def inner(m):\n        return m + n\n    return inner(1)\nN = outer(4)": 5,
    "N = 3\nprint(N)\nassert N == 3\nif __name__ == '__main__':\n    x = 1": 3,
    "N = sorted([3, 1, 2], reverse=True)[0] + reversed((1, 5))[0] + sum([1, 2], 1)": 12,
    "N = len(f'{5:04d}{\"ab\"!r}{1.5:.2f}{(1, 2)}')": 18,
    "R2 = range(2, 10, 3)\nN = [i for i in R2][-1]": 8,
    "import os\nfrom tvm.script.parser import *\nN = 4": 4,
    "from foo import *\nN = 4": 4,
    "def g():\n    L = [8]\n    print(L)\n    return 3\nL = [9]\nN = L[0]": 9,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=[text[:60].replace("\n", "; ") for text in VALUES])
def test_a_constant_has_the_value_of_python(text, value):
    assert extent(text) == value


WITHOUT_VALUE = {
    "N = 8\nN = 9": "bound twice",
    "N = 8\nN += 1": "changed",
    "N = 8\ndel N": "deleted",
    "if True:\n    N = 8": "an `if`",
    "for N in range(3):\n    pass": "a loop",
    "while False:\n    N = 8": "a loop",
    "with open('x') as N:\n    pass": "a `with`",
    "try:\n    N = 8\nexcept ValueError:\n    pass": "a `try`",
    "match 3:\n    case N:\n        pass": "a `match`",
    "(N := 8)": "changed",
    "M = [(N := 8)]": "`:=`",
    "N = 8\ndef g():\n    global N\n    N = 9": "`global`",
    "import numpy as np\nN = np.prod((2, 3))": "not bound to a constant",
    "N = open('x').read()": "not bound to a constant",
    "N = (1).__class__": "not bound to a constant",
    "N = (lambda: 8)()": None,
    "N = lambda: 8": "not a constant",
    "N = {1, 2}": "not bound to a constant",
    "N = 8\nfrom foo import *": "star import",
    "from foo import *\nN = max(3, 4)": "not bound to a constant",
    "N = 8\nexec('N = 9')": "may bind any name",
    "N = 8\nglobals()['N'] = 9": "may bind any name",
    "class N:\n    pass": "a class",
    "def g(N):\n    pass": "not defined",
    "L = [8]\nL.append(9)\nN = L[0]": "list may be changed",
    "L = [8]\nL[0] = 9\nN = L[0]": "changed",
    "L = [8]\nM = L\nM.append(9)\nN = L[0]": "list may be changed",
    "L = [8]\ndef g():\n    L.append(9)\nN = L[0]": "function of the text may change",
    "L = [8]\ndef g():\n    L[0] = 9\nN = L[0]": "function of the text may change",
    "L = [8]\ndef g(M):\n    M = L\n    M[0] = 9\nN = L[0]": "function of the text may change",
    "L = ([8],)\nprint(L)\nN = L[0][0]": "list may be changed",
    "def g(n):\n    if n > 3:\n        return 1\n    return 2\nN = g(8)": "return elsewhere",
    "@decorated\ndef g():\n    return 8\nN = g()": "decorated",
    "def g():\n    yield 8\nN = g()": "generator",
    "def g(n):\n    n = n + 1\n    return n\nN = g(8)": "parameter and is bound again",
    "N = M\nM = 8": "bound later",
    "N = 1 // 0": "not bound to a constant",
    "N = 'x' + 1": "not bound to a constant",
    "N = max(3, key=len)": "not bound to a constant",
}


@pytest.mark.parametrize(
    ("text", "reason"), WITHOUT_VALUE.items(), ids=[text[:60].replace("\n", "; ") for text in WITHOUT_VALUE]
)
def test_a_name_without_a_value_is_refused_where_it_is_used(text, reason):
    if reason is None:
        assert extent(text) == 8
        return
    with pytest.raises(RefmlcError) as caught:
        read(HEAD + text + BODY.format("N"))
    assert caught.value.code.id == ("RM104" if reason == "not defined" else "RM114")
    assert reason in caught.value.diagnostic.message


@pytest.mark.parametrize("text", [text for text, reason in WITHOUT_VALUE.items() if reason is not None])
def test_a_name_without_a_value_does_no_harm_where_it_is_not_used(text):
    assert extent(text, "5") == 5


@pytest.mark.parametrize(
    "text",
    [
        "N = 2 ** 10 ** 9",
        "N = 1 << 10 ** 9",
        "N = 'a' * 10 ** 12",
        "N = [0] * 10 ** 12",
        "N = ((0,) * 60000,) * 60000",
        "N = [i for i in range(10 ** 12)]",
        "N = [[[0 for i in range(5000)] for j in range(5000)] for k in range(5000)]",
        "N = len([0 for i in range(60000) for j in range(60000)])",
        "N = sum(range(10 ** 12))",
        "T0 = (0,) * 60000\nN = [T0 for i in range(60000)]",
        "T0 = (0, 0)\n" + "".join(f"T{i + 1} = (T{i}, T{i})\n" for i in range(40)) + "N = T40 == T40",
        "def g(n):\n    return g(n)\nN = g(1)",
        "".join(f"def g{i}(n):\n    return g{i + 1}(n) + g{i + 1}(n)\n" for i in reversed(range(40))).replace(
            "g40(n)", "n"
        )
        + "N = g0(1)",
        "N = max(i * 2 ** 200 for i in range(3)) * 2 ** 100",
        "N = f'{[0] * 60000}' + f'{[0] * 60000}' * 9",
    ],
)
def test_the_budget_ends_work_at_once(text):
    begin = time.process_time()
    assert code_of(text + BODY.format(4)) in ("RM606", "RM602")
    assert time.process_time() - begin < 30  # on any machine, watched or not; the work itself takes hours and more


def test_a_function_makes_a_module_for_each_call():
    text = """
def make(n, dtype="float32"):
    shape = (n, n)

    @T.prim_func(s_tir=True)
    def fill(A: T.Buffer(shape, dtype)):
        for i, j in T.grid(*shape):
            A[i, j] = T.Cast(dtype, i)

    return fill

small = make(16)
large = make(32, dtype="float16")
"""
    modules = program(text).modules
    shapes = [[int(size.value) for size in next(iter(m["fill"].buffer_map.values())).shape] for m in modules]
    assert shapes == [[16, 16], [32, 32]]
    with pytest.raises(RefmlcError, match="2 modules"):
        read(HEAD + text)


def test_a_function_that_is_not_called_is_read_without_its_parameters():
    text = BODY.format(4) + "\ndef test(n):\n" + BODY.replace("\n", "\n    ").format("n").replace("def f", "def g")
    result = program(text)
    assert [unit.name for unit in result.units] == ["f", "g"]
    assert result.units[1].module is None
    assert "not called with constants" in result.notes[0].message
    assert read(HEAD + text)["f"] is not None


def test_statements_that_are_skipped_are_noted():
    text = "print('x')\n" + BODY.format(4) + "if __name__ == '__main__':\n    print(f)\n"
    assert [(note.span.line, note.message) for note in program(text).notes] == [
        (2, "`print('x')` is skipped: reading executes nothing"),
        (8, "`if __name__ == '__main__':` is skipped: reading executes nothing"),
    ]


def test_a_macro_stands_for_its_statements():
    text = """
STEP = 2

@T.inline
def fill(A, n, value=0):
    for i in range(n):
        with T.sblock("fill"):
            vi = T.axis.spatial(n, i)
            A[vi * STEP] = value

@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), "int32")):
    fill(A, 4)
    fill(A, 8, value=3)
"""
    written = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), "int32")):
    for i in range(4):
        with T.sblock("fill"):
            vi = T.axis.spatial(4, i)
            A[vi * 2] = 0
    for i in range(8):
        with T.sblock("fill_1"):
            vi = T.axis.spatial(8, i)
            A[vi * 2] = 3
"""
    assert structural_equal(read(HEAD + text), read(HEAD + written))


def test_a_macro_that_is_not_hygienic_sees_the_place_of_its_call():
    text = """
@T.macro(hygienic=False)
def store():
    A[i] = i

@T.prim_func(s_tir=True)
def f(A: T.Buffer((64,), "int32")):
    for i in range(4):
        store()
"""
    assert structural_equal(
        read(HEAD + text), read(HEAD + text[text.index("@T.prim") :].replace("store()", "A[i] = i"))
    )
    assert code_of(text.replace("hygienic=False", "hygienic=True")) == "RM104"


def test_a_macro_that_calls_itself_ends():
    assert code_of("@T.inline\ndef m():\n    m()\n@T.prim_func\ndef f():\n    m()\n") in ("RM602", "RM606")


def test_names_of_a_class_are_not_seen_by_its_functions():
    text = "N = 8\nclass Case:\n    N = 16\n" + BODY.replace("\n", "\n    ").format("N")
    assert int(read(HEAD + text)["f"].body.extent.value) == 8


def test_all_problems_of_a_text_are_reported():
    text = """
@T.prim_func
def f(A: T.Buffer((4,), "flaot32")):
    A[0] = A[0]
    for i in T.seril(4):
        B[i] = 0

@T.prim_func
def g(A: T.Buffer((4,), "float32")):
    x = T.foo()
    A[0] = x
    y = T.exq(A[0])
    A[0] = z
"""
    with pytest.raises(RefmlcError) as caught:
        read(HEAD + text)
    first = caught.value.diagnostic
    assert [(part.code.id, part.span.line) for part in (first, *first.others)] == [
        ("RM106", 4),
        ("RM103", 6),
        ("RM104", 7),
        ("RM103", 11),
        ("RM103", 13),
        ("RM104", 14),
    ]
    assert first.helps == ("a name like it is `float32`",)
    assert first.others[0].helps == ("a name like it is `T.serial`",)
    assert first.others[3].helps == ("a name like it is `T.exp`",)


def test_a_module_names_a_function_outside_of_it():
    text = """
from tvm.script import ir as I, relax as R

@T.prim_func(s_tir=True)
def fill(A: T.Buffer((4,), "float32")):
    for i in range(4):
        A[i] = T.float32(1)

@I.ir_module
class Module:
    @R.function
    def main():
        y = R.call_tir(fill, (), out_ty=R.Tensor((4,), "float32"))
        return y
"""
    assert list(program(text).modules[0].functions) == ["fill", "main"]


def test_meta_variables_that_double_each_other_end_with_the_budget():
    doubled = "".join("    x = T.meta_var(x * x)\n" for _ in range(40))
    text = f"@T.prim_func\ndef f(n: T.int32):\n    x = T.meta_var(n)\n{doubled}    T.evaluate(x)\n"
    with pytest.raises(RefmlcError) as failure:
        read(text)
    assert failure.value.code.id == "RM606"
    assert failure.value.diagnostic.span.line == 22  # with 2 ** 20 nodes and more


def test_a_meta_variable_names_a_value_in_relax_too():
    text = """
from tvm.script import ir as I, relax as R

@R.function
def f(x: R.Tensor((4,), "float32")):
    n = I.meta_var(2)
    y = R.add(x, R.const(n, "float32"))
    return y
"""
    assert structural_equal(read(text), read(text.replace("    n = I.meta_var(2)\n", "").replace("(n,", "(2,")))


OTHER = """
import tensorflow as tf

SHAPE = [2, 3]

@tf.function(input_signature=[tf.TensorSpec(shape=(2, 2), dtype=tf.float32)])
def func(x):
    {0}
    return x + 1
"""


def test_function_of_another_package_is_no_definition():
    found = program(OTHER.format("pass") + BODY.format("SHAPE[1]"))
    assert [unit.name for unit in found.units] == ["f"]
    assert found.units[0].failure is None
    assert [note.span.line for note in found.notes] == [8]


def test_function_of_another_package_may_change_what_it_mentions():
    found = program(OTHER.format("SHAPE.append(4)") + BODY.format("SHAPE[1]"))
    assert found.units[0].failure.code.id == "RM114"


@pytest.mark.parametrize(
    "line", ["import mine as R", "from mine import tf", "import tvm.script.relax as tf", "import mine as tf\ntf = 3"]
)
def test_function_of_a_name_that_may_be_of_tvm_is_not_passed_over(line):
    name = line.split()[-1] if " as " in line and "=" not in line else "tf"
    found = program(f"{line}\n@{name}.function\ndef g(x: int):\n    return x\n")
    assert [unit.name for unit in found.units] == ["g"]
    assert found.units[0].failure is not None


def test_the_length_of_a_shape():
    body = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4, 5, 6), 'float32')):\n    for i in range(len(A.shape)):\n"
    assert read(HEAD + body + "        A[i, 0, 0] = T.float32(1)\n")["f"].body.extent.value == 3
