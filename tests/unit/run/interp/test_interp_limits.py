"""What ill-formed trees, unusual operands and limits lead to; trees that no text gives are built by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import BOOL, FLOAT32, HANDLE, INT32, UINT8, VOID, dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.script import read as read_text
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.threads.private_memory import OutsideShadow
from refmlc.run.memory.registry import FunctionRegistry, python_func
from refmlc.run.memory.tensor import Tensor


def imm(value, kind=INT32):
    return tir.IntImm(kind, value)


def function(body, *params, buffers=None):
    return tir.PrimFunc(params, buffers or {}, body)


def call(func, *args, **options):
    return Machine(IRModule({"f": func}), **options).call("f", args)


def code(func, *args, **options):
    with pytest.raises(RefmlcError) as caught:
        call(func, *args, **options)
    return caught.value.code.id


def returning(value, *params):
    return function(tir.Return(value), *params)


A = tir.Buffer("A", FLOAT32, (imm(4),))
P = tir.Var("a", HANDLE)


def with_a(body):
    return function(body, P, buffers={P: A})


def four():
    return np.arange(4, dtype="float32")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (tir.Evaluate(tir.BufferLoad(A, (imm(0), imm(0)))), "RM208"),
        (tir.BufferStore(A, imm(1), (imm(0),)), "RM201"),
        (tir.Evaluate(tir.Var("nowhere", INT32)), "RM203"),
        (tir.Evaluate(tir.BufferLoad(tir.Buffer("B", FLOAT32, (imm(4),)), (imm(0),))), "RM203"),
        (tir.Break(), "RM213"),
        (tir.Continue(), "RM213"),
        (tir.Evaluate(tir.Apply("no_such_op", (imm(0),), INT32)), "RM501"),
        (tir.Evaluate(tir.Apply("sqrt", (imm(0),), INT32)), "RM503"),
        (tir.Evaluate(tir.Call("no_such_intrinsic", (), INT32)), "RM502"),
        (tir.Evaluate(tir.Cast(INT32, tir.BufferData(A))), "RM503"),
        (tir.Evaluate(tir.Call("tvm_stack_alloca", (tir.StringImm("odd"), imm(1)), HANDLE)), "RM504"),
        (tir.Evaluate(tir.Call("address_of", (imm(1),), HANDLE)), "RM504"),
        (tir.Evaluate(tir.Call("handle_add_byte_offset", (P, imm(1)), HANDLE)), ""),
        (tir.Evaluate(tir.Call("handle_add_byte_offset", (imm(7), imm(1)), HANDLE)), "RM313"),
        (tir.Evaluate(tir.Call("reinterpret", (imm(7),), HANDLE)), "RM504"),
        (tir.Evaluate(tir.Call("reinterpret", (P,), INT32)), "RM504"),
        (tir.Evaluate(tir.Call("reinterpret", (P,), HANDLE)), ""),
        (tir.DeclBuffer(tir.Buffer("B", FLOAT32, (imm(4),)), tir.Call("reinterpret", (imm(0),), HANDLE)), ""),
        (tir.DeclBuffer(tir.Buffer("B", FLOAT32, (imm(4),)), P), ""),
        (tir.Evaluate(tir.Cast(HANDLE, P)), ""),
    ],
)
def test_what_a_statement_ends_with(body, expected):
    if expected:
        assert code(with_a(body), four()) == expected
    else:
        call(with_a(body), four())


def test_fields_that_are_not_there():
    stack, made = tir.Var("s", HANDLE), tir.Call("tvm_stack_alloca", (tir.StringImm("array"), imm(1)), HANDLE)
    bind = tir.Bind(stack, made)
    record = tir.Call("tvm_struct_get", (stack, imm(0), imm(0)), HANDLE)
    get = tir.Call("tvm_struct_get", (record, imm(0), imm(4)), INT32)
    assert code(function(tir.SeqStmt((bind, tir.Evaluate(get))))) == "RM313"
    put = tir.Evaluate(tir.Call("tvm_struct_set", (record, imm(0), imm(4), imm(6)), INT32))
    assert call(function(tir.SeqStmt((bind, put, tir.Return(get))))) == 6
    direct = tir.Call("tvm_struct_get", (stack, imm(0), imm(4)), INT32)
    itself = tir.Call("tvm_struct_get", (record, imm(0), imm(0)), HANDLE)
    again = tir.Call("tvm_struct_get", (itself, imm(0), imm(4)), INT32)
    assert call(function(tir.SeqStmt((bind, put, tir.Return(tir.Apply("add", (direct, again), INT32)))))) == 12
    for wrong in (imm(5), P):
        bad = tir.Evaluate(tir.Call("tvm_struct_set", (wrong, imm(0), imm(4), imm(6)), INT32))
        assert code(with_a(bad), four()) == "RM313"
    outside = tir.Evaluate(tir.Call("tvm_struct_get", (P, imm(0), imm(99)), INT32))
    assert code(with_a(outside), four()) == "RM313"


def lowered_call(kind, content, *, stop=1):
    stack = tir.Var("s", HANDLE)
    return [
        tir.Bind(stack, tir.Call("tvm_stack_alloca", (tir.StringImm("tvm_ffi_any"), imm(2)), HANDLE)),
        tir.Evaluate(tir.Call("tvm_struct_set", (stack, imm(0), imm(13), imm(kind)), INT32)),
        tir.Evaluate(tir.Call("tvm_struct_set", (stack, imm(0), imm(14), imm(0)), INT32)),
        tir.Evaluate(tir.Call("tvm_struct_set", (stack, imm(0), imm(15), content), INT32)),
        tir.Evaluate(tir.Call("call_packed_lowered", (tir.StringImm("see"), stack, imm(0), imm(stop)), INT32)),
        tir.Return(tir.Call("tvm_struct_get", (stack, imm(1), imm(13)), INT32)),
    ]


@pytest.mark.parametrize(
    ("kind", "content", "seen"),
    [(0, imm(5), None), (1, imm(5), 5), (2, imm(1), True), (3, tir.FloatImm(FLOAT32, 0.5), 0.5)],
)
def test_values_of_lowered_calls(kind, content, seen):
    found, registry = [], FunctionRegistry()
    registry.add(python_func("see", found.append))
    assert call(function(tir.SeqStmt(tuple(lowered_call(kind, content)))), registry=registry) == 0
    assert found == [seen]
    assert type(found[0]) is type(seen)


@pytest.mark.parametrize(("result", "index"), [(True, 2), (3, 1), (0.5, 3), ("x", 8), (FLOAT32, 5), (four(), 7)])
def test_results_of_lowered_calls(result, index):
    registry = FunctionRegistry()
    registry.add(python_func("see", lambda _: result))
    assert call(function(tir.SeqStmt(tuple(lowered_call(1, imm(5))))), registry=registry) == index


def test_lowered_calls_without_arguments():
    body = lowered_call(1, imm(5), stop=2)
    assert code(function(tir.SeqStmt(tuple(body)))) == "RM313"
    stack = tir.Var("r", HANDLE)
    record = tir.Call("tvm_struct_get", (stack, imm(0), imm(0)), HANDLE)
    made = tir.Bind(stack, tir.Call("tvm_stack_alloca", (tir.StringImm("array"), imm(1)), HANDLE))
    fields = [(1, P), (2, P), (3, P), (4, imm(1)), (5, imm(2)), (6, imm(32)), (7, P), (8, imm(0))]
    steps = [tir.Evaluate(tir.Call("tvm_struct_set", (stack, imm(0), imm(n), v), INT32)) for n, v in fields]
    for count in range(len(fields) + 1):
        body = tir.SeqStmt((made, *steps[:count], *lowered_call(7, record)))
        assert code(with_a(body), four()) == "RM313"


def test_strings_and_plain_data_are_arguments():
    found, registry = [], FunctionRegistry()
    registry.add(python_func("see", lambda *args: found.extend(args)))
    body = tir.Evaluate(tir.Call("call_packed", (tir.StringImm("see"), tir.StringImm("word"), UINT8, 3), INT32))
    call(function(body), registry=registry)
    assert found == ["word", UINT8, 3]


def test_packed_name_of_the_module():
    inner = returning(imm(4))
    outer = returning(tir.Call("call_packed", (tir.StringImm("inner"),), INT32))
    assert Machine(IRModule({"outer": outer, "inner": inner})).call("outer", ()) == 4


def test_plain_intrinsics():
    x = tir.Var("x", INT32)
    wrapped = tir.Call("ignore_loop_partition", (tir.Call("tvm_thread_invariant", (x,), INT32),), INT32)
    assert call(returning(wrapped, x), 5) == 5
    assert call(returning(tir.Call("vscale", (), INT32))) == 1
    assert call(function(tir.Evaluate(tir.Call("ret", (imm(3),), INT32)))) == 3
    assert call(function(tir.Evaluate(tir.Call("ret", (), VOID)))) is None
    assert call(function(tir.Evaluate(tir.Call("type_annotation", (), FLOAT32)))) is None
    assert code(returning(tir.Call("type_annotation", (), FLOAT32))) == "RM502"
    fma = tir.Call("fma", (x, x, x), INT32)
    assert code(returning(fma, x), 5) == "RM503"


def test_operators_of_one_and_three_operands():
    x = tir.Var("x", INT32)
    assert call(returning(tir.Apply("bitwise_not", (x,), INT32), x), 5) == -6
    assert code(returning(tir.Apply("clz", (x,), INT32), x), 0) == "RM311"
    shift = tir.Apply("q_multiply_shift", (x, imm(1 << 30), imm(31), imm(1)), INT32)
    assert call(returning(shift, x), 10) == 10


def test_undefined_lanes():
    x = tir.Var("x", INT32)
    lanes = tir.Broadcast(x, imm(2), INT32.with_lanes(2))
    ones = tir.Broadcast(imm(1), imm(2), INT32.with_lanes(2))
    total = tir.Apply("add", (lanes, ones), INT32.with_lanes(2))
    picked = tir.Shuffle((total,), (imm(1),), INT32)
    assert call(returning(picked, x), 5) == 6
    assert code(returning(picked, x), 2**31 - 1) == "RM306"
    assert call(returning(picked, x), 2**31 - 1, allow=frozenset({"RM306"})) == -(2**31)
    floats = tir.Broadcast(tir.FloatImm(FLOAT32, 1e20), imm(2), FLOAT32.with_lanes(2))
    cast = tir.Shuffle((tir.Cast(INT32.with_lanes(2), floats),), (imm(0),), INT32)
    assert code(returning(cast)) == "RM309"


@pytest.mark.parametrize("op", ["abs", "truncdiv"])
def test_allowed_overflow_of_any_operator(op):
    x = tir.Var("x", INT32)
    args = (x,) if op == "abs" else (x, imm(-1))
    for allow, expected in ((frozenset(), "RM306"), (frozenset({"RM306"}), -(2**31))):
        value = returning(tir.Apply(op, args, INT32), x)
        if allow:
            assert call(value, -(2**31), allow=allow) == expected
        else:
            assert code(value, -(2**31)) == expected


def loop(extent, body, kind=ForKind.SERIAL, thread=None):
    return tir.For(tir.Var("i", INT32), imm(0), imm(extent), kind, body, thread)


def test_large_steps_and_chunks():
    """More iterations than are charged at once, with a step."""
    buffer = tir.Buffer("N", INT32, (imm(1),))
    handle = tir.Var("n", HANDLE)
    var = tir.Var("i", INT32)
    more = tir.Apply("add", (tir.BufferLoad(buffer, (imm(0),)), imm(1)), INT32)
    body = tir.For(var, imm(0), imm(30_001), ForKind.SERIAL, tir.BufferStore(buffer, more, (imm(0),)), step=imm(3))
    array = np.zeros(1, "int32")
    machine = Machine(IRModule({"f": function(body, handle, buffers={handle: buffer})}))
    machine.call("f", (array,))
    assert array[0] == 10_001
    assert machine.budget.steps == 10_002


def test_thread_variable_of_the_loop_is_its_index():
    inner = tir.Var("tx", INT32)
    thread = tir.ThreadVar("threadIdx.x", inner)
    store = tir.BufferStore(A, tir.Cast(FLOAT32, inner), (inner,))
    array = np.full(4, -1, "float32")
    call(with_a(loop(3, store, ForKind.THREAD_BINDING, thread)), array)
    assert array.tolist() == [0, 1, 2, -1]


def test_launch_with_a_plain_extent():
    body = tir.BufferStore(A, tir.FloatImm(FLOAT32, 2.0), (imm(0),))
    launch = tir.AttrStmt(tir.ThreadVar("blockIdx.x"), "thread_extent", 1, body)
    array = four()
    call(with_a(launch), array)
    assert array[0] == 2


def test_deep_nesting_is_a_finding():
    value = tir.Var("x", INT32)
    deep = value
    for _ in range(20_000):
        deep = tir.Apply("bitwise_not", (deep,), INT32)
    assert code(returning(deep, value), 1) == "RM602"


def test_a_domain_may_be_left_where_that_is_allowed():
    axis = tir.IterVar(tir.Var("v", INT32), tir.Range(imm(0), imm(2)), IterKind.SPATIAL)
    block = tir.SBlock("b", (axis,), None, None, tir.BufferStore(A, tir.FloatImm(FLOAT32, 9.0), (axis.var,)))
    body = tir.SBlockRealize((imm(3),), imm(1, BOOL), block)
    assert code(with_a(body), four()) == "RM312"
    array = four()
    call(with_a(body), array, allow=frozenset({"RM312"}))
    assert array[3] == 9


@pytest.mark.parametrize("plain", [True, False])
def test_init_where_the_domain_begins_at_a_variable(plain):
    n, i = tir.Var("n", INT32), tir.Var("i", INT32)
    first = n if plain else tir.Apply("add", (n, imm(0)), INT32)
    axis = tir.IterVar(tir.Var("v", INT32), tir.Range(first, imm(2)), IterKind.REDUCE)
    one = tir.FloatImm(FLOAT32, 1.0)
    update = tir.BufferStore(A, tir.Apply("add", (tir.BufferLoad(A, (imm(0),)), one), FLOAT32), (imm(0),))
    init = tir.BufferStore(A, tir.FloatImm(FLOAT32, 10.0), (imm(0),))
    realize = tir.SBlockRealize((i,), imm(1, BOOL), tir.SBlock("b", (axis,), None, None, update, init))
    body = tir.For(i, n, imm(2), ForKind.SERIAL, realize)
    array = four()
    call(function(body, P, n, buffers={P: A}), array, 5)
    assert array[0] == 12


def short_view(shape):
    """A view of A that promises more than A has, and a loop over all that it promises."""
    view = tir.Buffer("V", FLOAT32, tuple(imm(n) for n in shape))
    variables = [tir.Var(name, INT32) for name in "ijk"[: len(shape)]]
    return view, variables


@pytest.mark.parametrize("shape", [(8,), (2, 4), (2, 2, 2)])
@pytest.mark.parametrize("direction", ["load", "store"])
def test_every_form_stops_at_the_end_of_its_storage(shape, direction):
    view, variables = short_view(shape)
    if direction == "load":
        body = tir.Evaluate(tir.BufferLoad(view, tuple(variables)))
    else:
        body = tir.BufferStore(view, tir.FloatImm(FLOAT32, 1.0), tuple(variables))
    for moved in (False, True):
        inner = body
        if moved:  # indices that no loop vouches for
            shifted = tuple(tir.Apply("add", (v, imm(0)), INT32) for v in variables)
            if direction == "load":
                inner = tir.Evaluate(tir.BufferLoad(view, shifted))
            else:
                inner = tir.BufferStore(view, tir.FloatImm(FLOAT32, 1.0), shifted)
        for var, extent in zip(reversed(variables), reversed(shape), strict=True):
            inner = tir.For(var, imm(0), imm(extent), ForKind.SERIAL, inner)
        func = with_a(tir.SeqStmt((tir.DeclBuffer(view, tir.BufferData(A)), inner)))
        assert code(func, four()) == "RM304"


def test_forgetting_beyond_the_storage():
    view, _ = short_view((8,))
    for value in (tir.Call("undef", (), FLOAT32), tir.Cast(FLOAT32, tir.Call("undef", (), INT32))):
        body = tir.SeqStmt((tir.DeclBuffer(view, tir.BufferData(A)), tir.BufferStore(view, value, (imm(5),))))
        assert code(with_a(body), four()) == "RM304"


class Silent(Hooks):
    """Overrides, and so is called, but keeps nothing."""

    def __init__(self):
        self.count = 0

    def load(self, access, indices, value, frame):
        self.count += 1

    def store(self, access, indices, value, frame):
        self.count += 1


def test_hooks_see_each_lane():
    vector = FLOAT32.with_lanes(2)
    value = tir.BufferLoad(A, (tir.Ramp(imm(0), imm(1), imm(2), INT32.with_lanes(2)),))
    body = tir.BufferStore(A, value, (tir.Ramp(imm(2), imm(1), imm(2), INT32.with_lanes(2)),))
    assert value.dtype == vector
    hooks, array = Silent(), four()
    call(with_a(body), array, hooks=hooks)
    assert hooks.count == 4
    assert array.tolist() == [0, 1, 0, 1]


def test_vectors_at_the_end_of_their_storage():
    view, _ = short_view((8,))
    lanes = INT32.with_lanes(2)
    at = (tir.Ramp(imm(3), imm(1), imm(2), lanes),)
    load = tir.Evaluate(tir.BufferLoad(view, at))
    store = tir.BufferStore(view, tir.Broadcast(tir.FloatImm(FLOAT32, 1.0), imm(2), FLOAT32.with_lanes(2)), at)
    for body in (load, store):
        func = with_a(tir.SeqStmt((tir.DeclBuffer(view, tir.BufferData(A)), body)))
        assert code(func, four()) == "RM304"


def test_lanes_before_the_last_index():
    matrix = tir.Buffer("M", FLOAT32, (imm(2), imm(2)))
    at = (tir.Ramp(imm(0), imm(1), imm(2), INT32.with_lanes(2)), tir.Ramp(imm(0), imm(1), imm(2), INT32.with_lanes(2)))
    body = tir.SeqStmt((tir.DeclBuffer(matrix, tir.BufferData(A)), tir.Evaluate(tir.BufferLoad(matrix, at))))
    assert code(with_a(body), four()) == "RM504"


@pytest.mark.parametrize(("kind", "zero"), [("bool", False), ("int32", 0), ("float32", 0.0)])
def test_a_lane_that_is_off_is_zero(kind, zero):
    buffer = tir.Buffer("B", dtype(kind), (imm(1),))
    handle = tir.Var("b", HANDLE)
    load = tir.BufferLoad(buffer, (imm(7),), imm(0, BOOL))
    func = function(tir.Return(load), handle, buffers={handle: buffer})
    array = np.ones(1, kind)
    assert call(func, array) == zero
    store = tir.BufferStore(buffer, load, (imm(7),), imm(0, BOOL))
    call(function(store, handle, buffers={handle: buffer}), array)
    assert array[0] == 1


def test_allocation_with_strides_and_offset():
    view = tir.Buffer("B", FLOAT32, (imm(2), imm(2)), (imm(3), imm(1)), imm(1))
    one = tir.FloatImm(FLOAT32, 1.0)
    steps = (
        tir.AllocBuffer(view),
        tir.BufferStore(view, one, (imm(1), imm(1))),
        tir.Return(tir.BufferLoad(view, (imm(1), imm(1)))),
    )
    assert call(function(tir.SeqStmt(steps))) == 1.0
    negative = tir.Buffer("B", FLOAT32, (imm(-1),), (imm(1),))
    assert code(function(tir.SeqStmt((tir.AllocBuffer(negative), tir.Return(imm(0)))))) == "RM315"


def test_a_tensor_for_a_plain_handle():
    handle = tir.Var("h", HANDLE)
    view = tir.Buffer("B", FLOAT32, (imm(2),))
    body = tir.SeqStmt((tir.DeclBuffer(view, handle), tir.Return(tir.BufferLoad(view, (imm(1),)))))
    assert call(function(body, handle), Tensor.from_numpy(four())) == 1.0


PRIVATE = """
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        L = T.alloc_buffer(({size},), "float32", scope="{scope}")
        for t in T.thread_binding(4, thread="threadIdx.x"):
            L[{write}] = A[t]
        for u in T.thread_binding(4, thread="threadIdx.x"):
            B[u] = L[{read}]
"""


@pytest.mark.parametrize(
    ("scope", "size", "write", "read", "expected"),
    [
        ("global", 4, "t", "3 - u", [3, 2, 1, 0]),
        ("shared", 4, "t", "3 - u", [3, 2, 1, 0]),
        ("local", 4, "t", "u", [0, 1, 2, 3]),
        ("local", 4, "t", "3 - u", "RM305"),  # no thread sees what another one wrote
        ("local", 1, "0", "0", [0, 1, 2, 3]),  # one buffer per thread
    ],
)
def test_memory_private_to_a_thread(scope, size, write, read, expected):
    module = read_text(PRIVATE.format(scope=scope, size=size, write=write, read=read))
    array, target = four(), np.zeros(4, "float32")
    if isinstance(expected, str):
        with pytest.raises(RefmlcError) as caught:
            Machine(module).call("f", (array, target))
        assert caught.value.code.id == expected
    else:
        Machine(module).call("f", (array, target))
        assert target.tolist() == expected


def test_private_memory_that_a_packed_function_filled():
    text = PRIVATE.format(scope="local", size=4, write="t", read="u").replace("L[t] = A[t]", 'T.call_packed("fill", L)')
    registry = FunctionRegistry()
    registry.add(python_func("fill", lambda tensor: tensor.numpy().fill(5)))
    target = np.zeros(4, "float32")
    Machine(read_text(text), registry=registry).call("f", (four(), target))
    assert target.tolist() == [5, 5, 5, 5]
    assert len(OutsideShadow(bytearray(3), A)) == 3


def test_negative_strides():
    view = tir.Buffer("B", FLOAT32, (imm(2),), (imm(-1),), imm(1))
    body = tir.SeqStmt((tir.DeclBuffer(view, tir.BufferData(A)), tir.Return(tir.BufferLoad(view, (imm(1),)))))
    assert code(with_a(body), four()) == "RM504"
