"""How loops are cut and ordered does not change what a block computes; NumPy says what that is."""

import numpy as np
from hypothesis import given, strategies as st

from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

SIZE = st.integers(1, 5)


@given(
    n=SIZE, m=SIZE, k=SIZE, factor=st.integers(1, 4), order=st.permutations(["i0", "i1", "j"]), seed=st.integers(0, 99)
)
def test_split_and_reordered_matmul(n, m, k, factor, order, seed):
    ranges = {"i0": -(-n // factor), "i1": factor, "j": m}
    text = f"""
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def matmul(A: T.Buffer(({n}, {k}), "int64"), B: T.Buffer(({k}, {m}), "int64"), C: T.Buffer(({n}, {m}), "int64")):
    for {", ".join(order)}, k in T.grid({", ".join(str(ranges[name]) for name in order)}, {k}):
        with T.sblock("C"):
            vi = T.axis.spatial({n}, i0 * {factor} + i1)
            vj = T.axis.spatial({m}, j)
            vk = T.axis.reduce({k}, k)
            T.where(i0 * {factor} + i1 < {n})
            with T.init():
                C[vi, vj] = T.int64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
    generator = np.random.default_rng(seed)
    a, b = generator.integers(-9, 9, (n, k)), generator.integers(-9, 9, (k, m))
    c = np.full((n, m), 77)
    Machine(read(text)).call("matmul", (a, b, c))
    assert np.array_equal(c, a @ b)


@given(shape=st.lists(SIZE, min_size=1, max_size=4), axes=st.data())
def test_transposition_of_any_rank(shape, axes):
    order = axes.draw(st.permutations(range(len(shape))))
    names = [f"i{axis}" for axis in range(len(shape))]
    target = tuple(shape[axis] for axis in order)
    text = f"""
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def move(A: T.Buffer({tuple(shape)}, "int32"), B: T.Buffer({target}, "int32")):
    for {", ".join(names)} in T.grid({", ".join(map(str, shape))}):
        B[{", ".join(names[axis] for axis in order)}] = A[{", ".join(names)}]
"""
    a = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
    b = np.zeros(target, "int32")
    Machine(read(text)).call("move", (a, b))
    assert np.array_equal(b, a.transpose(order))


@given(n=st.integers(0, 40), stop=st.integers(0, 45), skip=st.integers(1, 7))
def test_break_and_continue(n, stop, skip):
    text = f"""
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def count(A: T.Buffer((1,), "int32")):
    A[0] = 0
    for i in range({n}):
        if i == {stop}:
            T.break_loop()
        if i % {skip} == 0:
            T.continue_loop()
        A[0] = A[0] + i
"""
    a = np.zeros(1, "int32")
    Machine(read(text)).call("count", (a,))
    assert a[0] == sum(i for i in range(min(n, stop)) if i % skip)
