"""Mutated programs that still read, run on generated inputs: only findings come out, none of them our own bug."""

import random
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import refmlc
from refmlc.diag import Internal, RefmlcError
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType
from refmlc.lang.ops.intrinsics import INTRINSICS
from refmlc.lang.ops.intrinsics.device import NAMED_OPERATORS, PTX_FAMILIES
from refmlc.vm.parameters import parameters_of

SECONDS = 60  # far above what any run needs, traced or not: what takes longer hangs
MOST_AXES = 32
SMALLER = (("784", "7"), ("128", "6"))
PIECES = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def loops(A: T.Buffer((4, 6), "float32"), B: T.Buffer((6,), "int8"), C: T.Buffer((4,), "float16")):
        for i in T.serial(0, 4, step=2):
            C[i] = T.float16(0)
            for j in T.vectorized(6):
                if A[i, j] > T.float32(0.5) and B[j] != T.int8(3):
                    continue
                C[i] = C[i] + T.Cast("float16", A[i, j]) * T.Cast("float16", B[j])
            while C[i] < T.float16(9):
                C[i] = C[i] + T.float16(1.5)
                if i == 2:
                    break
            C[i + 1] = T.if_then_else(i > 0, C[i - 1], T.float16(1))

    @T.prim_func(s_tir=True)
    def blocks(a: T.handle, b: T.handle, n: T.int32):
        m = T.int32()
        A = T.match_buffer(a, (m, 4), "int32")
        B = T.match_buffer(b, (m * 4,), "int32", strides=(1,))
        W = T.sblock_alloc_buffer((m, 4), "int32")
        for i, j in T.grid(m, 4):
            with T.sblock("W"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(W[vi, vj])
                W[vi, vj] = T.max(A[vi, vj] // (vj + 1), A[vi, vj] % 3) << 1
        for i, j, k in T.grid(m, 4, 4):
            with T.sblock("sum"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.where(k < n)
                with T.init():
                    B[vi * 4 + vj] = 0
                B[vi * 4 + vj] += W[vi, vk] - T.Select(vk > 2, vj, vi)

    @T.prim_func(s_tir=True)
    def memory(X: T.Buffer((8,), "float32"), Y: T.Buffer((2, 4), "float32"), k: T.int64):
        P = T.alloc_buffer((8,), "float32")
        Q = T.decl_buffer((2, 4), "float32", data=P.data, elem_offset=0)
        x: T.let[T.float32] = X[k] * T.float32(2)
        for i in range(2):
            P[i * 4:i * 4 + 4] = X[i * 4:i * 4 + 4] + T.Broadcast(x, 4)
        for i, j in T.grid(2, 4):
            with T.sblock("view"):
                vi, vj = T.axis.remap("SS", [i, j])
                V = T.match_buffer(Q[vi, vj:vj + 1], (1,), strides=(1,), offset_factor=1)
                Y[vi, vj] = T.exp(V[0]) / T.sqrt(T.abs(V[0])) + T.Cast("float32", T.Cast("uint8", vi) + T.uint8(255))
        assert X[0] == X[0], "a number"

    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n",), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n * 2, 4), "float32"))
            lv1 = R.call_dps_packed("copy", (lv,), out_sinfo=R.Tensor((n * 2, 4), "float32"))
            gv = (lv1, y)
            R.output(gv)
        z = gv[0]
        w = R.match_cast(z, R.Tensor((n + n, 4), "float32"))
        R.print(w, format="{}")
        return (w, R.shape([n, n * 2]), cls.deeper(y))

    @R.function(pure=False)
    def deeper(y: R.Tensor(("n",), "float32")) -> R.Object:
        n = T.int64()
        c = R.const(True, "bool")
        if c:
            r = R.call_packed("make", y, R.shape([n]), sinfo_args=(R.Tensor((n,), "float32"),))
        else:
            r = Module.deeper(y)
        return r

    @T.prim_func(s_tir=True, private=True)
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 4), "float32")
        Y = T.match_buffer(y, (n * 2, 4), "float32")
        for i, j in T.grid(n * 2, T.int64(4)):
            with T.sblock("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi // 2, vj]
"""
# Texts of 2022 let variables out of dataflow blocks, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*is used after its dataflow block:UserWarning")

PROGRAMS = [PIECES] * 20 + [path.read_text("utf-8") for path in sorted(Path(__file__).parents[1].glob("programs/*.py"))]
TOKEN = re.compile(r"\w+|\s+|//|<<|>>|[<>=!]=|.", re.DOTALL)
NUMBERS = ("0", "1", "2", "3", "5", "8", "31", "64", "255", "-1", "-4", "70000", "2147483647", "1000000000000")
OPERATORS = ("+", "-", "*", "//", "%", "/", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")
DTYPES = (
    *("int8", "int32", "int64", "uint8", "uint64", "bool", "float16", "bfloat16", "float32", "float64", "int4"),
    *("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn", "int32x4", "float32x2", "handle"),
)
CALLS = (
    *("serial", "parallel", "unroll", "vectorized", "grid", "max", "min", "exp", "log", "sqrt", "abs", "clz", "pow"),
    *("floordiv", "truncmod", "Select", "if_then_else", "popcount", "isnan", "ceil", "fmod", "reinterpret", "likely"),
    *("Let", "And", "Or", "Not", "bitwise_not", "shift_left", "call_extern", "call_packed", "infinity", "undef"),
)
FEATURES = (" + 1", " - 1", " * 2", " // 2", " % 3", " * 65536", " - 3", " // 0", " << 31", " + 1.5", ":4", "")


def swap_word(words):
    """A mutation that puts one of `words` in the place of another."""

    def mutate(choose, tokens):
        places = [number for number, token in enumerate(tokens) if token in words]
        if places:
            tokens[choose.choice(places)] = choose.choice(words)

    return mutate


def number(choose, tokens):
    places = [number for number, token in enumerate(tokens) if token.isdigit()]
    if places:
        tokens[choose.choice(places)] = choose.choice(NUMBERS)


def rename(choose, tokens):
    places = [number for number, token in enumerate(tokens) if token.isidentifier()]
    near = [place for place in places if len(tokens[place]) <= 3] or places  # variables and buffers
    tokens[choose.choice(near)] = tokens[choose.choice(near)]


def extend(choose, tokens):
    """Change an index, an argument or an operand: what stands before `]`, `,`, `)` grows an operation."""
    places = [number for number, token in enumerate(tokens) if token in ("]", ",", ")")]
    tokens[choose.choice(places)] = choose.choice(FEATURES) + tokens[choose.choice(places)]


def statement(choose, tokens):
    """Delete, repeat or exchange lines of the same indentation."""
    rows = "".join(tokens).split("\n")
    depth = [len(row) - len(row.lstrip()) for row in rows]
    one = choose.randrange(len(rows))
    alike = [other for other in range(len(rows)) if depth[other] == depth[one]]
    other = choose.choice(alike)
    match choose.randrange(3):
        case 0:
            del rows[one]
        case 1:
            rows.insert(one, rows[other])
        case _:
            rows[one], rows[other] = rows[other], rows[one]
    tokens[:] = ["\n".join(rows)]


MUTATIONS = (
    *(number, number, number, rename, rename, extend, extend, statement, statement),
    *(swap_word(OPERATORS), swap_word(DTYPES), swap_word(CALLS)),
)


def mutated(choose, programs):
    text = choose.choice(programs)
    for long, short in SMALLER:
        text = re.sub(rf"\b{long}\b", short, text)
    for _ in range(choose.choice((1, 1, 2, 3))):
        tokens = TOKEN.findall(text)
        choose.choice(MUTATIONS)(choose, tokens)
        text = "".join(tokens)
    return text


def registry():
    """Packed functions of every temper: one that fills, one that copies, one that raises, one that gives back."""
    functions = refmlc.FunctionRegistry()

    def fill(*args):
        np.asarray(args[-1].numpy())[...] = 1

    for name in ("env.linear", "env.relu", "fill"):
        functions.register(name, fill)
    functions.register("copy", lambda x, y: np.copyto(y.numpy(), x.numpy()))
    functions.register("make", lambda x, *_: x)
    return functions


def extents(shape, sizes, choose):
    """A shape with numbers for variables; expressions over them are worked out where they are sums or products."""
    work = {"add": int.__add__, "mul": int.__mul__, "sub": int.__sub__}

    def extent(node):
        match node:
            case tir.IntImm(value=value):
                return value
            case tir.Var():
                return sizes.setdefault(node, choose.choice((1, 2, 3, 3, 5)))
            case tir.Apply(op=op, args=(a, b)) if op in work:
                return work[op](extent(a), extent(b))
            case _:
                return 3

    return tuple(max(0, extent(node)) if abs(extent(node)) < 100 else 3 for node in shape)


def argument(ty, sizes, choose):
    """A value for a parameter of type `ty`."""
    match ty:
        case TensorType(shape=shape, dtype=dtype) if shape is not None and dtype is not None and len(shape) < MOST_AXES:
            size = extents(shape, sizes, choose)
            content = np.random.default_rng(choose.randrange(1000)).integers(-3, 9, size)
            if dtype.kind == "handle" or dtype.is_vector:
                return content
            return content.astype("float32").astype(storage_dtype(dtype))
        case ShapeType(values=values) if values is not None:
            return list(extents(values, sizes, choose))
        case TupleType(fields=fields):
            return tuple(argument(field, sizes, choose) for field in fields)
        case PrimType(dtype=dtype):
            return choose.choice((0, 1, 2, 5, -1)) if not dtype.is_float else 0.5
        case _:
            return np.ones((2, 4), "float32")


def run(text, choose):
    """What became of `text`: the class of each finding, or `ran` for each function that ended."""
    outcomes = []
    begin = time.thread_time()
    try:
        module = refmlc.read(text)
        budget = refmlc.Budget(max_steps=200_000, max_bytes=1 << 28)
        machine = refmlc.VirtualMachine(refmlc.build(module, budget=budget, registry=registry()))
    except RefmlcError as finding:
        assert not isinstance(finding, Internal)  # noqa: PT017 - any other kind is well
        return ["refused"]
    for name, function in module.functions.items():
        if isinstance(function, relax.ExternFunc):
            continue
        sizes = {}
        begin = time.thread_time()
        try:
            machine[name](*(argument(parameter.ty, sizes, choose) for parameter in parameters_of(function)))
        except RefmlcError as finding:
            assert not isinstance(finding, Internal)  # noqa: PT017 - any other kind is well
            outcomes.append(type(finding).__name__)
        else:
            outcomes.append("ran")
        assert time.thread_time() - begin < SECONDS
    return outcomes


def run_all(seeds, programs=PROGRAMS):
    counts = Counter()
    for seed in seeds:
        choose = random.Random(seed)  # noqa: S311 - a seed to reproduce, nothing secret
        text = mutated(choose, programs)
        try:
            counts.update(run(text, choose))
        except Exception as unexpected:  # noqa: BLE001 - the seed must be told with whatever came
            pytest.fail(f"seed {seed}: {unexpected!r}")
    return counts


def test_unmutated_programs_run(capsys):
    choose = random.Random(1)  # noqa: S311 - a seed to reproduce
    assert run(PIECES, choose).count("ran") >= 4
    assert capsys.readouterr().out


def test_mutated_programs(capsys):
    counts = run_all(range(300))
    capsys.readouterr()
    assert counts["ran"] > 150
    assert counts["Undefined"] > 20


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_many_mutated_programs(part, capsys):
    run_all(range(1000 + part * 2000, 3000 + part * 2000))
    capsys.readouterr()


NAMES = sorted(row.name for row in INTRINSICS.values() if row.supported)
ARGUMENTS = (
    *(
        "k",
        "A[0]",
        "A[0:4]",
        "T.Broadcast(k, 4)",
        "T.Broadcast(A[0], 4)",
        '"fill"',
        "A.data",
        "A",
        "None",
        "T.int64(0)",
    ),
    *("-1", "(1, 2)", '"float32"', "T.bool(True)", "T.Ramp(0, 1, 4)", "1000000000000", "T.isnullptr(A.data)"),
    *('T.reinterpret("handle", T.uint64(0))', 'T.tvm_stack_alloca("shape", 4)', 'T.tvm_stack_alloca("array", 1)'),
    *("T.tvm_stack_make_shape(1, 2)", "T.address_of(A[2])"),
)
RESULTS = ("int32", "float32", "float32x2", "handle", "bool", "int64x4", "void", "uint1x4")
USES = (
    *("T.evaluate({call})", "x = {call}", "B[0] = {call}"),
    'h: T.let[T.handle] = {call}\n    Q = T.decl_buffer((4,), "float32", data=h)\n    Q[1] = T.float32(0)',
)
ONE_CALL = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32"), k: T.int32):
    {use}
"""


def intrinsic_call(choose):
    """A program of one intrinsic with arguments that hardly ever fit."""
    name, args = (
        choose.choice(NAMES),
        [choose.choice(ARGUMENTS) for _ in range(choose.choice((0, 1, 1, 2, 2, 3, 3, 4, 5)))],
    )
    spelled = "".join(f", {arg}" for arg in args)
    call = choose.choice(
        (f'T.call_intrin("{choose.choice(RESULTS)}", "tirx.{name}"{spelled})', f"T.{name}({spelled[2:]})")
    )
    return ONE_CALL.format(use=choose.choice(USES).format(call=call))


def test_intrinsics_with_any_arguments():
    counts = Counter()
    for seed in range(3000):
        choose = random.Random(seed)  # noqa: S311 - a seed to reproduce
        text = intrinsic_call(choose)
        try:
            counts.update(run(text, choose))
        except Exception as unexpected:  # noqa: BLE001 - the seed must be told with whatever came
            pytest.fail(f"seed {seed}: {unexpected!r}\n{text}")
    assert counts["ran"] > 30


KERNEL = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "int32"), k: T.int32):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    S = T.alloc_shared((64,), "float32")
    bar = T.alloc_shared((2,), "uint64")
    x: T.int32
    {call}
"""
ADDRESSES = ("T.address_of(S[0])", "T.address_of(A[0])", "T.address_of(bar[0])", "T.address_of(B[t])", "S.ptr_to([0])")
REGISTERS = ("S[t]", "B[0]", "x", "t", "T.ptx.pred(t == 0)", "T.ptx.SINK", "T.uint32(0xffffffff)", "T.uint64(4)", "16")
OF_DEVICES = sorted(name for name in NAMED_OPERATORS if name.startswith(("cuda.", "metal.")))


def instruction_call(choose):
    """A kernel with one instruction whose modifiers and operands hardly ever fit."""
    if choose.random() < 0.75:
        family = choose.choice(sorted(PTX_FAMILIES))
        modifiers = sorted(PTX_FAMILIES[family].modifiers)
        name = ".".join(("ptx", family, *choose.sample(modifiers, min(len(modifiers), choose.choice((0, 1, 2, 3, 4))))))
    else:
        name = choose.choice(OF_DEVICES)
    pool = (*ARGUMENTS, *ADDRESSES, *REGISTERS)
    operands = ", ".join(choose.choice(pool) for _ in range(choose.choice((1, 2, 2, 3, 3, 4, 5))))
    return KERNEL.format(call=f"T.{name}({operands})")


def test_instructions_with_any_operands():
    counts = Counter()
    for seed in range(2000):
        choose = random.Random(seed)  # noqa: S311 - a seed to reproduce
        text = instruction_call(choose)
        try:
            counts.update(run(text, choose))
        except Exception as unexpected:  # noqa: BLE001 - the seed must be told with whatever came
            pytest.fail(f"seed {seed}: {unexpected!r}\n{text}")
    assert counts["Unsupported"] > 200


INDICES = (
    "i",
    "j",
    "i + j",
    "i * 3 - j",
    "j // 2 + i",
    "i % 3 + j",
    "j - 1",
    "3 - i",
    "i * j",
    "(i + 1) * 2",
    "-i",
    "0",
    "4",
)
TWO_BUFFERS = """
@T.prim_func
def main(A: T.Buffer((4, 5), "int32"), B: T.Buffer((7,), "int32")):
    for i, j in T.grid({n}, {m}):
        {guard}B[{out}] = A[{row}, {column}]
"""


def naive(n, m, guard, places, a):
    """What the loops do, on plain lists: the rows written, or None where an index leaves its bounds."""
    out, row, column = (compile(place, "index", "eval") for place in places)
    b = [100] * 7
    for i in range(n):
        for j in range(m):
            names = {"i": i, "j": j}
            if guard is not None and not eval(guard, {}, names):  # noqa: S307 - texts of this file
                continue
            at = [eval(place, {}, names) for place in (row, column, out)]  # noqa: S307 - texts of this file
            if not (0 <= at[0] < 4 and 0 <= at[1] < 5 and 0 <= at[2] < 7):
                return None
            b[at[2]] = a[at[0]][at[1]]
    return b


def test_no_index_leaves_its_bounds_unseen():
    choose = random.Random(4)  # noqa: S311 - a seed to reproduce
    a = np.arange(20, dtype="int32").reshape(4, 5)
    seen = Counter()
    for _ in range(400):
        n, m = choose.randrange(6), choose.randrange(7)
        guard = choose.choice((None, "i < 4", "j < i", "j > 0"))
        places = [choose.choice(INDICES[:3] if choose.random() < 0.5 else INDICES) for _ in range(3)]
        text = TWO_BUFFERS.format(
            n=n,
            m=m,
            guard=f"if {guard}:\n            " if guard else "",
            out=places[0],
            row=places[1],
            column=places[2],
        )
        expected = naive(n, m, guard, places, a.tolist())
        b = np.full(7, 100, "int32")
        try:
            refmlc.VirtualMachine(refmlc.build(refmlc.read(text)))["main"](a, b)
        except refmlc.Undefined as finding:
            assert (expected, finding.code.id) == (None, "RM304"), text  # noqa: PT017 - either outcome is well
        else:
            assert b.tolist() == expected, text
        seen[expected is None] += 1
    assert min(seen.values()) > 50
