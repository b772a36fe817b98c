"""Models of Relax on tensors of a few elements: nothing counts but what stands around the numbers.

| model                | is                                                                              |
|----------------------|---------------------------------------------------------------------------------|
| chain, 10 and 50     | operators one after the other, in a dataflow block                              |
| chain without block  | the same 50, each binding visible in the whole function                         |
| symbolic chain       | 20, where an extent is a variable                                               |
| calls of TensorIR    | `call_tir`, 10 one after the other                                              |
| tuples, other shapes | `split`, fields, `concat`; `reshape` between operators                          |
| functions            | four calls of a function of Relax                                               |
| cast                 | `match_cast` of a tensor of unknown shape                                       |
| packed functions     | those that TVM's runtime ships: shapes, reshapes, copies                        |
| branch, recursion    | `if`; a function that calls itself 10 times                                     |

The witness is NumPy: each operator rounds once per element.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from refmlc.tools.bench.witness import Array
from refmlc.tools.bench.workloads import Workload, normal

SQUARE = 'R.Tensor((4, 4), "float32")'
OPERATORS = (
    ("R.add({}, y)", np.add),
    ("R.multiply({}, y)", np.multiply),
    ("R.nn.relu({})", lambda x, _: np.maximum(x, np.float32(0))),
    ("R.subtract({}, y)", np.subtract),
    ("R.maximum({}, y)", np.maximum),
)
BRANCH = """
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4, 4), "float32"):
        if c:
            a = R.add(x, x)
            r = R.nn.relu(a)
        else:
            b = R.multiply(x, x)
            r = R.negative(b)
        s = R.add(r, x)
        return s
"""
RECURSION = """
    @R.function
    def loop(i: R.Tensor((), "int32"), x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        c = R.less(i, R.const(10, "int32"))
        if c:
            n = R.add(i, R.const(1, "int32"))
            y = R.add(x, x)
            r = Module.loop(n, y)
        else:
            r = x
        return r

    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        r = Module.loop(R.const(0, "int32"), x)
        return r
"""
TUPLES = """
    @R.function
    def main(x: R.Tensor((4, 6), "float32")) -> R.Tensor((4, 6), "float32"):
        with R.dataflow():
            p = R.split(x, indices_or_sections=2, axis=1)
            a = p[0]
            b = p[1]
            c = R.add(a, b)
            d = R.multiply(a, b)
            t = (c, d)
            e = t[1]
            f = t[0]
            g = R.concat((e, f), axis=1)
            R.output(g)
        return g
"""
SHAPES = """
    @R.function
    def main(x: R.Tensor((4, 6), "float32")) -> R.Tensor((2, 12), "float32"):
        with R.dataflow():
            a = R.reshape(x, R.shape([24]))
            b = R.add(a, a)
            c = R.reshape(b, R.shape([3, 8]))
            d = R.nn.relu(c)
            e = R.reshape(d, R.shape([2, 12]))
            R.output(e)
        return e
"""
PACKED = """
    @R.function(pure=False)
    def main(x: R.Tensor((4, 6), "float32")) -> R.Tensor((24,), "float32"):
        a = R.add(x, x)
        s = R.call_packed("vm.builtin.shape_of", a, ty_args=(R.Shape(ndim=2),))
        b = R.call_packed("vm.builtin.reshape", a, R.shape([24]), ty_args=(R.Tensor((24,), "float32"),))
        c = R.add(b, b)
        d = R.call_packed("vm.builtin.copy", c, ty_args=(R.Tensor((24,), "float32"),))
        return d
"""
CAST = """
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32")) -> R.Tensor(ndim=2, dtype="float32"):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((n, m), "float32"))
            b = R.add(a, a)
            c = R.nn.relu(b)
            d = R.permute_dims(c)
            R.output(d)
        return d
"""
FUNCTIONS = """
    @R.function
    def layer(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        a = Module.layer(x, y)
        b = Module.layer(a, y)
        c = Module.layer(b, y)
        d = Module.layer(c, y)
        return d
"""
INCREASE = """
    @T.prim_func(s_tir=True)
    def increase(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
"""


def small_models() -> Iterator[Workload]:
    """The models with arguments."""
    x, y, z = normal((4, 4), (4, 4), (4, 6))
    yield _workload("chain of 10", _chain(10), (x, y), lambda: _chained(10, x, y))
    yield _workload("chain of 50", _chain(50), (x, y), lambda: _chained(50, x, y))
    yield _workload("chain of 50 without block", _chain(50, dataflow=False), (x, y), lambda: _chained(50, x, y))
    symbolic = _chain(20, 'R.Tensor(("n", 4), "float32")')
    yield _workload("symbolic chain of 20", symbolic, (x, y), lambda: _chained(20, x, y))
    yield _workload("10 calls of TensorIR", _calls(10), (x,), lambda: _increased(10, x))
    yield _workload("tuples", TUPLES, (z,), lambda: np.hstack((z[:, :3] * z[:, 3:], z[:, :3] + z[:, 3:])))
    yield _workload("other shapes", SHAPES, (z,), lambda: np.maximum(z + z, 0).reshape(2, 12))
    yield _workload("functions of Relax", FUNCTIONS, (x, y), lambda: _layers(4, x, y))
    yield _workload("cast", CAST, (z,), lambda: np.ascontiguousarray(np.maximum(z + z, 0).T))
    yield _workload("packed functions", PACKED, (z,), lambda: (z * 4).reshape(24))
    yield _workload("branch", BRANCH, (x, np.array(True)), lambda: np.maximum(x + x, 0) + x)
    yield _workload("recursion", RECURSION, (x,), lambda: x * 1024)


def _workload(name: str, text: str, inputs: tuple[Array, ...], expected: Callable[[], Array]) -> Workload:
    module = f"@I.ir_module\nclass Module:{text}"
    return Workload(f"small: {name}", module, "main", inputs, np.zeros_like(expected()), expected, lambda _: int, 1)


def _chain(length: int, ty: str = SQUARE, *, dataflow: bool = True) -> str:
    """A function of `length` operators, each on the result of the one before."""
    lines = [
        f"v{number} = {OPERATORS[number % len(OPERATORS)][0].format(f'v{number - 1}' if number else 'x')}"
        for number in range(length)
    ]
    last = f"v{length - 1}"
    if dataflow:
        lines = ["with R.dataflow():", *(f"    {line}" for line in (*lines, f"R.output({last})"))]
    body = "".join(f"        {line}\n" for line in lines)
    return f"\n    @R.function\n    def main(x: {ty}, y: {ty}) -> {ty}:\n{body}        return {last}\n"


def _chained(length: int, x: Array, y: Array) -> Array:
    for number in range(length):
        x = OPERATORS[number % len(OPERATORS)][1](x, y)
    return x


def _calls(length: int) -> str:
    """A function of `length` calls of one function of TensorIR."""
    names = ["x", *(f"v{number}" for number in range(length))]
    lines = [
        f"        {after} = R.call_tir(cls.increase, ({before},), out_ty={SQUARE})\n"
        for before, after in pairwise(names)
    ]
    head = f"    @R.function\n    def main(x: {SQUARE}) -> {SQUARE}:\n        cls = Module\n"
    return f"{INCREASE}\n{head}{''.join(lines)}        return {names[-1]}\n"


def _increased(times: int, x: Array) -> Array:
    for _ in range(times):
        x = x + np.float32(1)
    return x


def _layers(times: int, x: Array, y: Array) -> Array:
    for _ in range(times):
        x = np.maximum(x + y, np.float32(0))
    return x
