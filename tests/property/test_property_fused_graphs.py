"""Graphs of calls give the same values, and end in the same verdict, fused in C and interpreted binding by binding."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.memory.registry import FunctionRegistry, register_func
from refmlc.vm import VirtualMachine, build

FUNCTIONS = """
from tvm.script import ir as I, tirx as T, relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32"), C: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.sblock("add"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v]

    @T.prim_func(private=True)
    def split(A: T.Buffer(("n",), "float32"), C: T.Buffer(("n",), "float32"), D: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.sblock("split"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + T.float32(1)
                D[v] = A[v] * T.float32(2)

    @T.prim_func(private=True)
    def scatter(A: T.Buffer(("n",), "float32"), P: T.Buffer(("n",), "int64"), C: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.sblock("scatter"):
                v = T.axis.spatial(n, i)
                C[P[v]] = A[v]

    @T.prim_func(private=True)
    def increase(A: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.sblock("increase"):
                v = T.axis.spatial(n, i)
                A[v] = A[v] + T.float32(1)

    @T.prim_func(private=True)
    def first(A: T.Buffer(("n",), "float32"), k: T.int64, C: T.Buffer(("m",), "float32")):
        n, m = T.int64(), T.int64()
        for i in range(m):
            with T.sblock("first"):
                v = T.axis.spatial(m, i)
                C[v] = A[v * k]
"""
F = 'R.Tensor((n,), "float32")'
GRAPHS = """
    @R.function(private=True)
    def sums(x: R.Tensor(("k",), "float32"), y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        k = T.int64()
        cls = Module
        a = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((k,), "float32"))
        b: R.Tensor((k,), "float32") = cls.second(a, x)
        return R.call_tir(cls.add, (a, b), out_sinfo=R.Tensor((k,), "float32"))

    @R.function(private=True)
    def second(x: R.Tensor(("k",), "float32"), y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return y

    @R.function(private=True)
    def swapped(x: R.Tensor(("k",), "float32"), y: R.Tensor(("k",), "float32")):
        k = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.split, (x,), out_sinfo=[R.Tensor((k,), "float32"), R.Tensor((k,), "float32")])
            b = R.reshape(a[1], R.shape([1, k]))
            c = R.reshape(b, R.shape([k]))
            R.output(c)
        return (c, y)
"""
INPUTS = ("x", "y")
GRAPH_KINDS = ("tuple", "tuple", "reshape", "reshape", "function", "several")


def reversal(source, target):
    """The library function: it writes its second argument."""
    target.numpy()[...] = source.numpy()[::-1]
    target.mark_initialised()


LIBRARY = FunctionRegistry()
register_func("lib.reverse", reversal, registry=LIBRARY)


@st.composite
def graphs(draw):
    """Lines of a block, and the variables that it hands out."""
    names, tensors, lines = [], list(INPUTS), []
    for number in range(draw(st.integers(1, 7))):
        name = f"v{number}"
        a, b = (draw(st.sampled_from(tensors)) for _ in range(2))
        kind = draw(
            st.sampled_from(
                ("add", "add", "split", "scatter", "increase", "name", "cast", "library", "first", *GRAPH_KINDS)
            )
        )
        typed = f": {F}" if draw(st.booleans()) else ""
        match kind:
            case "add":
                lines.append(f"{name}{typed} = R.call_tir(cls.add, ({a}, {b}), out_sinfo={F})")
            case "split":
                lines.append(f"t{number} = R.call_tir(cls.split, ({a},), out_sinfo=[{F}, {F}])")
                lines.append(f"{name}{typed} = t{number}[{draw(st.integers(0, 1))}]")
            case "scatter":
                lines.append(f"{name}{typed} = R.call_tir(cls.scatter, ({a}, p), out_sinfo={F})")
            case "increase":
                lines.append(f"{name} = R.call_tir_inplace(cls.increase, ({a},), inplace_indices=[0], out_sinfo={F})")
            case "name":
                lines.append(f"{name}{typed} = {a}")
            case "cast":
                lines.append(f"{name} = R.match_cast({a}, {F})")
            case "library":
                lines.append(f'{name}{typed} = R.call_dps_packed("lib.reverse", ({a},), out_sinfo={F})')
            case "first":
                step = draw(st.integers(0, 2))
                lines.append(f"{name}{typed} = R.call_tir(cls.first, ({a}, R.prim_value({step})), out_sinfo={F})")
            case "tuple":
                lines.append(f"t{number} = ({a}, {b})")
                lines.append(f"{name}{typed} = t{number}[{draw(st.integers(0, 1))}]")
            case "reshape":
                shape = draw(st.sampled_from(("n", "n", "1, n", "n + 1")))
                lines.append(f"r{number} = R.reshape({a}, R.shape([{shape}]))")
                lines.append(f"{name}{typed} = R.reshape(r{number}, R.shape([n]))")
            case "function":
                lines.append(f"{name}{typed} = cls.{draw(st.sampled_from(('sums', 'second')))}({a}, {b})")
            case "several":
                lines.append(f"t{number} = cls.swapped({a}, {b})")
                lines.append(f"{name}{typed} = t{number}[{draw(st.integers(0, 1))}]")
        names.append(name)
        tensors.append(name)
        names += [line.split(" = ")[0] for line in lines if line.startswith(f"t{number} = (")]
    results = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    return lines, results, draw(st.booleans())


def module(lines, results, dataflow):
    body = "".join(f"            {line}\n" if dataflow else f"        {line}\n" for line in lines)
    block = f"        with R.dataflow():\n{body}            R.output({', '.join(results)})\n" if dataflow else body
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return read(
        f"{FUNCTIONS}{GRAPHS}\n"
        '    @R.function(pure=False)\n    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32"), '
        'p: R.Tensor(("n",), "int64")):\n        cls = Module\n        n = T.int64()\n'
        f"{block}        return {returned}\n",
        "graph.py",
    )


def flattened(result):
    """The tensors in a result."""
    return [part for field in result for part in flattened(field)] if isinstance(result, tuple) else [result]


def outcome(mod, tier, arrays, times=2):
    """What calls give, or what fails and where; and what became of the arguments."""
    vm = VirtualMachine(build(mod, tier=tier, registry=LIBRARY, check=False))
    given = [array.copy() for array in arrays]
    seen = []
    for _ in range(times):
        try:
            result = vm["main"](*given)
        except RefmlcError as failure:
            found = failure.diagnostic  # its notes count steps, which C does not
            seen.append((found.code, found.message, found.span))
        else:
            seen += [(part.array.tolist(), part.initialised) for part in flattened(result)]
    return seen, [array.tolist() for array in given]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFMLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


LONG = [
    f"t0 = R.call_tir(cls.split, (x,), out_sinfo=[{F}, {F}])",
    "v0 = t0[1]",
    f"v1 = R.call_tir(cls.scatter, (v0, p), out_sinfo={F})",
    f"v2 = R.call_tir_inplace(cls.increase, (v1,), inplace_indices=[0], out_sinfo={F})",
    f"v3 = R.call_tir(cls.add, (v2, v1), out_sinfo={F})",
]


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.integers(0, 6), st.randoms(use_true_random=False), st.booleans())
@example((LONG, ["v3"], True), 5, None, True)
@example((LONG, ["v1", "v2"], True), 5, None, False)
@example((LONG, ["v1", "v2"], False), 5, None, False)
def test_fused_graphs_are_as_interpreted_ones(graph, size, order, permutes):
    places = list(range(size))
    if order is not None:
        order.shuffle(places)
    if not permutes and size:
        places[0] = size - 1 if order is None else order.randrange(-1, size + 1)
    arrays = [
        np.arange(size, dtype=np.float32),
        np.arange(size, dtype=np.float32) * 3 + 1,
        np.array(places, dtype=np.int64),
    ]
    mod = module(*graph)
    assert outcome(mod, "native", arrays) == outcome(mod, "interp", arrays)


FUNCTIONS_OF_RELAX = [
    "v0 = cls.sums(x, y)",
    "t1 = cls.swapped(v0, v0)",
    "t2 = (v0, v0)",
    "v3 = R.reshape(v0, R.shape([1, n]))",
    "v4 = R.reshape(v3, R.shape([n]))",
    f"v5 = R.call_tir(cls.add, (v4, x), out_sinfo={F})",
]


@pytest.mark.parametrize(
    ("lines", "result", "calls"),
    [
        (LONG, "v3", ("split", "scatter", "increase", "add")),
        (FUNCTIONS_OF_RELAX, "v5", ("add", "add", "split", "add")),
    ],
)
@pytest.mark.parametrize("dataflow", [True, False])
def test_such_graphs_are_fused(lines, result, calls, dataflow):
    vm = VirtualMachine(build(module(lines, [result], dataflow), tier="native", registry=LIBRARY, check=False))
    assert vm.executable.native is not None
    (run,) = [run for run in vm.executable.native.compiled().translation.fused if run.function == "main"]
    assert (run.start, run.stop, run.calls) == (0, len(lines), calls)
