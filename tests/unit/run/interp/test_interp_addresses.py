"""Addresses as values: what a kernel may compute of them, and what not (TIX-008 … TIX-010, TIW-011)."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.tensor import Tensor

HEAD = """@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([8])
    S = T.alloc_shared((8,), "int32")
    R = T.alloc_local((1,), "int32")
    Q = T.alloc_local((1,), "int32")
    S[t] = A[t]
    T.cuda.cta_sync()
"""
SOURCE = (
    "template <typename T> __forceinline__ __device__ "
    "T* tvm_builtin_pointer_offset(T* ptr, int offset) { return ptr + offset; }"
)
SHARED = "T.cuda.cvta_generic_to_shared"
PART = "T.tvm_access_ptr(T.type_annotation('int32'), S.data, 3, 5, 1)"
LOAD = "T.ptx.ld.shared.s32(R[0], {})"


def moved(place, count, name="tvm_builtin_pointer_offset", source=SOURCE):
    return f'T.cuda.func_call("{name}", {place}, {count}, source_code="{source}", return_type=T.handle().ty)'


def run(*statements):
    text = HEAD + "".join(f"    {line}\n" for part in statements for line in part.split("\n"))
    arguments = [Tensor.from_numpy(np.arange(8, dtype="int32") * 10), Tensor.from_numpy(np.zeros(8, "int32"))]
    Machine(read(text, "f.py")).call("f", arguments)
    return arguments[1].numpy().tolist()


def failure(*statements):
    with pytest.raises(RefmlcError) as caught:
        run(*statements)
    return caught.value


TURNED = [70, 60, 50, 40, 30, 20, 10, 0]


@pytest.mark.parametrize(
    "place",
    [
        f"{SHARED}(S.ptr_to([7 - t]))",
        f"{SHARED}(S.data) + T.uint32(28) - T.Cast('uint32', t * 4)",
        f"T.Cast('uint32', t * -4 + 28) + {SHARED}(S.data)",
        f"T.ptx.addr({SHARED}(S.ptr_to([3])), (4 - t) * 4)",
        f"{SHARED}({moved('S.data', '7 - t')})",
        f"{SHARED}({moved('T.address_of(S[7])', '-t')})",
        f"{SHARED}(T.tvm_access_ptr(T.type_annotation('int32'), S.data, 7 - t, 1, 1))",
        f"T.Cast('uint64', {SHARED}(S.ptr_to([7 - t])))",
        f"{SHARED}({moved(PART, '4 - t')})",
        f"{SHARED}(T.handle_add_byte_offset(S.data, 28 - 4 * t))",
    ],
)
def test_a_load_from_a_place_that_is_computed(place):
    assert run(LOAD.format(place), "B[t] = R[0]") == TURNED


@pytest.mark.parametrize("store", ["T.ptx.st.global_.s32({}, S[t])", "T.evaluate(T.cuda.atomic_add({}, S[t]))"])
def test_a_store_to_a_place_in_a_variable(store):
    assert run(f"p: T.let[T.handle] = {moved('B.data', '7 - t')}", store.format("p")) == TURNED


def test_a_typed_pointer_says_to_what_it_points():
    typed = 'q: T.let[T.handle("int32", "shared")] = S.data'
    assert run(typed, LOAD.format(f"{SHARED}({moved('q', '7 - t')})"), "B[t] = R[0]") == TURNED


def test_a_number_of_shared_memory_in_a_variable_is_a_place():
    statements = (f"p: T.let[T.uint32] = {SHARED}(S.ptr_to([t]))", LOAD.format("p + T.uint32(0)"), "B[t] = R[0]")
    assert run(*statements) == [10 * i for i in range(8)]
    atomic = (f"p: T.let[T.uint32] = {SHARED}(S.ptr_to([t]))", "T.ptx.red.shared.add.s32(p, 5)", "B[t] = S[t]")
    assert run(*atomic) == [10 * i + 5 for i in range(8)]


@pytest.mark.parametrize(
    ("statements", "code", "message"),
    [
        ((LOAD.format("T.address_of(A[t])"),), "RM313", "accesses shared memory, the address is in `global`"),
        ((LOAD.format(f"{SHARED}(R.data)"),), "RM313", "the address is in `local`"),
        ((LOAD.format("T.reinterpret('handle', 0)"),), "RM313", "a pointer is needed, null is given"),
        ((LOAD.format(f"{SHARED}({moved('S.data', 't + 1')})"),), "RM304", "`S` is beyond its storage"),
        ((f"p: T.let[T.uint32] = {SHARED}(S.data)", "B[t] = T.Cast('int32', p * T.uint32(2))"), "RM504", "not known"),
        ((f"B[t] = T.Cast('int32', {SHARED}(S.data))",), "RM504", "the number of an address"),
        ((LOAD.format(moved("S.data", 1, source="int f();")),), "RM502", "its meaning is text of CUDA"),
        ((LOAD.format(moved("S.data", 1, name="g")),), "RM502", "`g` is not executed"),
        ((LOAD.format(moved("T.reinterpret('handle', S.data)", 1)),), "RM502", "to elements of which size"),
    ],
)
def test_what_is_no_place(statements, code, message):
    found = failure(*statements)
    assert found.code.id == code
    assert message in found.diagnostic.message


LDG = 'T.cuda.ldg(T.address_of(R[0]), T.address_of(Q[0]), T.address_of(A[{}]), "int32", "v2", 2)'


def test_loads_of_memory_that_nobody_writes():
    assert run('B[t] = T.cuda.ldg(T.address_of(A[7 - t]), "int32")') == TURNED
    assert run(LDG.format("t // 2 * 2"), "B[t] = R[0] + Q[0]") == [10, 10, 50, 50, 90, 90, 130, 130]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        (LDG.format("t"), "RM313"),  # at byte 4
        (LDG.format("6").replace("A[6]", "S[6]"), "RM313"),
        ('B[t] = T.cuda.ldg(T.handle_add_byte_offset(A.data, 32), "int32")', "RM304"),
        (LDG.format("0").replace("T.address_of(Q[0])", "Q.data"), "RM502"),
        ('T.evaluate(T.cuda.ldg((1, 2), "int32"))', "RM502"),
    ],
)
def test_faults_of_such_loads(statement, code):
    assert failure(statement).code.id == code


def test_registers_are_moved_without_a_value():
    assert run("Q[0] = R[0]", "R[0] = t", "Q[0] = R[0]", "B[t] = Q[0]") == list(range(8))
    assert failure("Q[0] = 1", "Q[0] = R[0]", "B[t] = Q[0]").diagnostic.message.startswith("`Q[0]` is read")


@pytest.mark.parametrize("use", ["B[t] = R[0]", "S[t] = R[0]", "Q[0] = R[0] + 1", "Q[R[0]] = 1"])
def test_registers_without_a_value_are_not_used(use):
    assert failure(use).code.id == "RM305"
