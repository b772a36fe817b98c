"""Expressions of TensorIR: what each form of the text is as a node."""

import pytest
from readings import expr, function

from refmlc.diag import RefmlcError

P = "A: T.Buffer((8, 8), 'float32'), n: T.int32, m: T.int64, h: T.handle, b: T.bool, x: T.float32, H: T.Buffer((4,), 'float16'), I: T.Buffer((8,), 'int8')"  # noqa: E501

CASES = {
    # literals and conversions
    "1": "1:int32",
    "True": "1:bool",
    "1.5": "1.5:float32",
    "T.int64(5)": "5:int64",
    "T.float16(0.1)": "0.0999755859375:float16",
    "T.float32('inf')": "inf:float32",
    "T.float32('-inf')": "-inf:float32",
    "T.float64('0x1.8p1')": "3.0:float64",
    "T.int8(-128)": "-128:int8",
    "T.bool(True)": "1:bool",
    "T.boolean(False)": "0:bool",
    "T.f32(1)": "1.0:float32",
    "T.int32(2.0)": "2:int32",
    "T.int64(n)": "Cast(n:int32)",
    "T.float32(T.float64(0.1))": "0.10000000149011612:float32",
    "T.float32(T.int32(3))": "3.0:float32",
    "T.int32x4(n)": "Broadcast(n:int32, 4:int32)",
    "T.min_value('int8')": "-128:int8",
    "T.max_value('float16')": "65504.0:float16",
    "T.min_value('float16')": "-65504.0:float16",
    "T.max_value('uint8')": "255:uint8",
    "T.infinity('float32')": "inf:float32",
    "T.IntImm('int64', 3)": "3:int64",
    "T.const(3, 'int64')": "3:int64",
    "T.const(3)": "3:int32",
    "T.StringImm('s')": "'s'",
    # host arithmetic is Python's
    "2 ** 10 + 3 * 2": "1030:int32",
    "7 // 2 - 7 % 4": "0:int32",
    "(1 << 4) | 1 ^ 3 & 2": "19:int32",
    "256 >> 4": "16:int32",
    "-3": "-3:int32",
    "~5": "-6:int32",
    "+5": "5:int32",
    "1 if 2 > 1 else 0": "1:int32",
    "not 0": "1:bool",
    "1 < 2 <= 2": "1:bool",
    "3 == 4 or 'a' != 'b'": "1:bool",
    "(1, 2, 3)[1:][0]": "2:int32",
    "{'a': 4}['a']": "4:int32",
    "([1] * 3 + [2])[3]": "2:int32",
    "('a' + 'b')": None,
    # operators build nodes, nothing is folded
    "n + 1": "add:int32(n:int32, 1:int32)",
    "1 + n * 0": "add:int32(1:int32, mul:int32(n:int32, 0:int32))",
    "T.float32(1) + T.float32(2)": "add:float32(1.0:float32, 2.0:float32)",
    "n + m": "add:int64(Cast(n:int32), m:int64)",
    "x / 2": "div:float32(x:float32, 2.0:float32)",
    "n // 4 % 3": "floormod:int32(floordiv:int32(n:int32, 4:int32), 3:int32)",
    "n - 1 < m": "lt:bool(Cast(sub:int32(n:int32, 1:int32)), m:int64)",
    "0 <= n < 8": "And(le:bool(0:int32, n:int32), lt:bool(n:int32, 8:int32))",
    "n == 1 and b and n != 2": "And(And(eq:bool(n:int32, 1:int32), b:bool), ne:bool(n:int32, 2:int32))",
    "b or not b": "Or(b:bool, not:bool(b:bool))",
    "-x": "mul:float32(x:float32, -1.0:float32)",
    "-T.int64(5)": "-5:int64",
    "~n": "bitwise_not:int32(n:int32)",
    "n << 2 >> 1": "shift_right:int32(shift_left:int32(n:int32, 2:int32), 1:int32)",
    "n & 3 | 4 ^ n": "bitwise_or:int32(bitwise_and:int32(n:int32, 3:int32), bitwise_xor:int32(4:int32, n:int32))",
    "n if b else 3": "IfThenElseExpr(b:bool, n:int32, 3:int32)",
    "A[1, n] + A[n, 1]": "add:float32(A[1:int32, n:int32], A[n:int32, 1:int32])",
    "I[n] > 3": "gt:bool(I[n:int32], 3:int8)",
    "n.astype('int64')": "Cast(n:int32)",
    "A[0, 0].astype('float16')": "Cast(A[0:int32, 0:int32])",
    "n.equal(3)": "eq:bool(n:int32, 3:int32)",
    "T.int32(3).astype('float32')": "3.0:float32",
    # node kinds by name
    "T.Add(n, 1)": "add:int32(n:int32, 1:int32)",
    "T.Div(x, x)": "div:float32(x:float32, x:float32)",
    "T.Div(n, 2)": "truncdiv:int32(n:int32, 2:int32)",
    "T.truncmod(n, 2)": "truncmod:int32(n:int32, 2:int32)",
    "T.Mod(n, 2)": "truncmod:int32(n:int32, 2:int32)",
    "T.FloorDiv(n, 2)": "floordiv:int32(n:int32, 2:int32)",
    "T.ceildiv(n, 3)": "ceildiv:int32(n:int32, 3:int32)",
    "T.max(n, m)": "max:int64(Cast(n:int32), m:int64)",
    "T.min(2.5, 5)": "min:float32(2.5:float32, 5.0:float32)",
    "T.EQ(n, 0)": "eq:bool(n:int32, 0:int32)",
    "T.And(b, b)": "And(b:bool, b:bool)",
    "T.Or(b, True)": "Or(b:bool, 1:bool)",
    "T.Not(b)": "not:bool(b:bool)",
    "tirx.all(b, b, b)": "And(And(b:bool, b:bool), b:bool)",
    "T.any(b, n > 1)": "Or(b:bool, gt:bool(n:int32, 1:int32))",
    "T.Cast('int64', n)": "Cast(n:int32)",
    "T.Cast('int64', 3)": "Cast(3:int32)",
    "T.cast(n, 'int64')": "Cast(n:int32)",
    "T.Select(b, n, 3)": "Select(b:bool, n:int32, 3:int32)",
    "T.if_then_else(b, x, T.float32(0), dtype='float32')": "IfThenElseExpr(b:bool, x:float32, 0.0:float32)",
    "T.if_then_else(b, h, h)": "IfThenElseExpr(b:bool, h:handle, h:handle)",
    "T.Let(n + 1, where={n: 2})": "Let(n:int32, 2:int32, add:int32(n:int32, 1:int32))",
    "T.Let(n, 2, n + 1)": "Let(n:int32, 2:int32, add:int32(n:int32, 1:int32))",
    "T.let(n, 2, n + 1)": "Let(n:int32, 2:int32, add:int32(n:int32, 1:int32))",
    "T.Ramp(n, 1, 4)": "Ramp(n:int32, 1:int32, 4:int32)",
    "T.Ramp(m, 2, 4)": "Ramp(m:int64, 2:int64, 4:int32)",
    "T.Broadcast(x, 4)": "Broadcast(x:float32, 4:int32)",
    "T.Broadcast(x, 4 * T.vscale())": "Broadcast(x:float32, mul:int32(4:int32, call vscale:int32()))",
    "T.Broadcast(x, T.vscale() * 4)": "Broadcast(x:float32, mul:int32(call vscale:int32(), 4:int32))",
    "T.Shuffle([T.Broadcast(x, 2), T.Broadcast(x, 2)], [0, 3])": ("Shuffle((Broadcast(FloatImm, 2), 2))"),
    "T.BufferLoad(A, [0, n])": "A[0:int32, n:int32]",
    # scalar operators
    "T.exp(x)": "exp:float32(x:float32)",
    "T.exp(2.0)": "exp:float32(2.0:float32)",
    "T.pow(x, 2)": "pow:float32(x:float32, 2.0:float32)",
    "T.atan2(x, 1.0)": "atan2:float32(x:float32, 1.0:float32)",
    "T.fabs(x, dtype='float32')": "abs:float32(x:float32)",
    "T.isnan(x)": "isnan:bool(x:float32)",
    "T.clz(m)": "clz:int32(m:int64)",
    "T.popcount(m)": "popcount:int64(m:int64)",
    "T.floor(n)": "n:int32",
    "T.round(x)": "round:float32(x:float32)",
    "T.likely(b)": "likely:bool(b:bool)",
    "T.bitwise_not(n)": "bitwise_not:int32(n:int32)",
    "T.shift_left(n, 3)": "shift_left:int32(n:int32, 3:int32)",
    "T.q_multiply_shift(n, n, 31, 1)": "q_multiply_shift:int32(n:int32, n:int32, 31:int32, 1:int32)",
    # calls
    "T.call_extern('int32', 'f', n, A.data)": "call call_extern:int32('f', n:int32, A.data)",
    "T.call_extern('f', n, dtype='int32')": "call call_extern:int32('f', n:int32)",
    "T.call_extern('f', A, dtype='')": "call call_extern:void('f', A.data)",
    "T.call_packed('f', A, n)": "call call_packed:int32('f', buffer A, n:int32)",
    "T.tvm_call_packed('f', n)": "call call_packed:int32('f', n:int32)",
    "T.call_pure_extern('float32', 'g', x)": "call call_pure_extern:float32('g', x:float32)",
    "T.call_llvm_pure_intrin('float32', 'llvm.exp', x)": "call call_llvm_pure_intrin:float32('llvm.exp', x:float32)",
    "T.call_llvm_pure_intrin(T.llvm_lookup_intrinsic_id('llvm.ctpop.i8'), I[0], dtype='int8')": (
        "call call_llvm_pure_intrin:int8('llvm.ctpop.i8', I[0:int32])"
    ),
    "T.call_intrin('float32', 'tirx.exp', x)": "exp:float32(x:float32)",
    "T.call_intrin('int32', 'tir.vscale')": "call vscale:int32()",
    "T.call_intrin('float32x4', 'tirx.masked_load', H, T.Ramp(0, 1, 4), T.Broadcast(T.bool(True), 4))": (
        "H[Ramp(0:int32, 1:int32, 4:int32); Broadcast(1:bool, 4:int32)]"
    ),
    "T.masked_load('float16x4', H, T.Ramp(0, 1, 4), T.Broadcast(b, 4))": (
        "H[Ramp(0:int32, 1:int32, 4:int32); Broadcast(b:bool, 4:int32)]"
    ),
    "T.Call('int32', 'tirx.vscale', [])": "call vscale:int32()",
    "T.tvm_struct_get(h, 0, 13, 'int32')": "call tvm_struct_get:int32(h:handle, 0:int32, 13:int32)",
    "T.tvm_struct_get(h, 0, 1, T.handle('float32').ty)": "call tvm_struct_get:handle(h:handle, 0:int32, 1:int32)",
    "T.reinterpret('int32', x)": "reinterpret:int32(x:float32)",
    "T.reinterpret(T.uint64(0), dtype='handle')": "call reinterpret:handle(0:uint64)",
    "T.isnullptr(h)": "call isnullptr:bool(h:handle)",
    "T.address_of(A[1, n])": "call address_of:handle(A[1:int32, n:int32])",
    "T.address_of(A)": "call address_of:handle(A[0:int32, 0:int32])",
    "T.type_annotation('float32')": "call type_annotation:float32()",
    "T.tvm_access_ptr(T.type_annotation('float32'), A.data, 0, 8, 1)": (
        "call tvm_access_ptr:handle(call type_annotation:float32(), A.data, 0:int32, 8:int32, 1:int32)"
    ),
    "H.access_ptr('rw')": (
        "call tvm_access_ptr:handle(call type_annotation:float16(), H.data, 0:int32, 4:int32, 3:int32)"
    ),
    "A.access_ptr('r', offset=n)": (
        "call tvm_access_ptr:handle(call type_annotation:float32(), A.data, n:int32, "
        "sub:int32(mul:int32(8:int32, 8:int32), n:int32), 1:int32)"
    ),
    "T.tvm_stack_make_shape(n, 4)": "call tvm_stack_make_shape:handle(n:int32, 4:int32)",
    "T.tvm_storage_sync('shared', dtype='')": "call tvm_storage_sync:void('shared')",
    "T.tvm_warp_shuffle(T.uint32(1), x, 0, 32, 32)": (
        "call tvm_warp_shuffle:float32(1:uint32, x:float32, 0:int32, 32:int32, 32:int32)"
    ),
    "T.TVMBackendFreeWorkspace(1, 0, h)": "call TVMBackendFreeWorkspace:int32(1:int32, 0:int32, h:handle)",
    "T.vectorlow('float32x2', T.Broadcast(x, 4))": "call vectorlow:float32x2(Broadcast(x:float32, 4:int32))",
    "T.vectorcombine(T.Broadcast(x, 2), T.Broadcast(x, 2), dtype='float32x4')": (
        "call vectorcombine:float32x4(Broadcast(x:float32, 2:int32), Broadcast(x:float32, 2:int32))"
    ),
    "T.tvm_tuple(n, n)": "call tvm_tuple:void(n:int32, n:int32)",
    "T.ptx.ldmatrix(True, 4, '.b16', A.data, n, dtype='float16')": (
        "call ptx.ldmatrix:float16(1:bool, 4:int32, '.b16', A.data, n:int32)"
    ),
    "f(n)": "call f:void(n:int32)",
    "cls.f(n)": "call f:void(n:int32)",
    # buffers
    "A.elem_offset": "0:int32",
    "A.shape[0] + n": "add:int32(8:int32, n:int32)",
    "A.data": "A.data",
    "A.vload([0, 4], 'float32x4')": "A[0:int32, Ramp(4:int32, 1:int32, 4:int32)]",
    "A.vload([0, 4])": "A[0:int32, 4:int32]",
    "A[0, 0:4]": "A[0:int32, Ramp(0:int32, 1:int32, 4:int32)]",
    "A[0, n:n + 4]": "A[0:int32, Ramp(n:int32, 1:int32, 4:int32)]",
    "A[0, n * 4 + 1:n * 4 + 5:2]": (
        "A[0:int32, Ramp(add:int32(mul:int32(n:int32, 4:int32), 1:int32), 2:int32, 2:int32)]"
    ),
    "A[n, n:n + 1]": "A[n:int32, n:int32]",
    "A[0, 4:] + x": "add:float32x4(A[0:int32, Ramp(4:int32, 1:int32, 4:int32)], Broadcast(x:float32, 4:int32))",
    "A[0, 0].buffer.data": "A.data",
}
CASES["T.Shuffle([T.Broadcast(x, 2), T.Broadcast(x, 2)], [0, 3])"] = (
    "Shuffle((Broadcast(x:float32, 2:int32), Broadcast(x:float32, 2:int32)), (0:int32, 3:int32))"
)
CASES["('a' + 'b')"] = "'ab'"


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_expression(text, expected):
    assert expr(text, P) == expected


REFUSED = {
    # RM103: no meaning
    "[i for i in range(n)]": "RM103",
    "{i for i in range(3)}": "RM103",
    "f'{n}'": "RM103",
    "b'x'": "RM103",
    "...": "RM103",
    "1j": "RM103",
    "(y := 3)": "RM103",
    "{1, 2}": "RM103",
    "n[0]": "RM103",
    "n.foo": "RM103",
    "n.__class__": "RM103",
    "A.foo": "RM103",
    "A.local(3)": "RM504",
    "T.foo(n)": "RM103",
    "T.Broadcast(x, 1)": "RM105",
    "T.Ramp(0, 1, 1)": "RM105",
    "T.foo": "RM105",
    "T.call_intrin('int32', 'tirx.foo')": "RM103",
    "'a' - 'b'": "RM103",
    "1 @ 2": "RM103",
    "1 is 1": "RM103",
    "1.5 << 1": "RM103",
    "~1.5": "RM103",
    "(1, 2)[5]": "RM103",
    "(1, 2)[::0]": "RM103",
    "{**{}}": "RM103",
    "{(1,): 2}": "RM103",
    "T.exp(**3)": "RM103",
    "T.exp(*3)": "RM103",
    "T.int32[3]": "RM105",
    "T.exp[3]": "RM103",
    "T.foo[3]": "RM103",
    "(lambda x=1: x)": "RM103",
    "3(4)": "RM103",
    "n(4)": "RM103",
    "A.data.foo": "RM103",
    "x.vload(3)": "RM105",
    "A.shape.foo": "RM103",
    "A ** 2": "RM103",
    "1 if A else 2": "RM103",
    "T.int32.foo": "RM105",
    "T.handle().foo": "RM103",
    # RM104
    "undefined": "RM104",
    "__import__('os')": "RM104",
    "open('x')": "RM104",
    # RM105
    "T.exp()": "RM105",
    "T.exp(x, x)": "RM105",
    "T.exp(x, y=x)": "RM105",
    "T.Cast('int32')": "RM105",
    "T.Cast('int32', n, value=n)": "RM105",
    "T.Cast('int32', n, 3, 4)": "RM105",
    "T.Select(b, n, T.grid(3))": "RM105",
    "T.float32([1])": "RM105",
    "T.Broadcast(x, n)": "RM105",
    "T.Broadcast(x, 0)": "RM105",
    "T.Broadcast(x, 1 << 20)": "RM105",
    "T.Shuffle([], [])": "RM105",
    "T.Let(n, where={3: 4})": "RM105",
    "T.call_extern()": "RM105",
    "T.call_intrin('int32')": "RM105",
    "T.tvm_warp_shuffle(n)": "RM105",
    "T.vectorlow(x)": "RM105",
    "T.masked_load('float32', n, 0, b)": "RM105",
    "T.BufferLoad(n, [0])": "RM105",
    "T.IntImm('int32', n)": "RM105",
    "T.Cast(A, n)": "RM105",
    "A + 1": "RM103",
    "A[0, 0:n]": "RM105",
    "A[0, 0:8:-1]": "RM105",
    "A[0, 0:8:n]": "RM105",
    "(lambda i: i)(1, 2)": "RM105",
    "T.Range(0, A)": "RM105",
    # RM106
    "T.Cast('foo', n)": "RM106",
    "n.astype('int33')": "RM106",
    # RM107
    "T.int8(300)": "RM107",
    "T.uint8(-1)": "RM107",
    "T.float16(1e6)": "RM107",
    "T.float32('abc')": "RM107",
    "T.int32(1.5)": "RM107",
    "1 << 300": "RM606",
    "1 << -1": "RM107",
    "1 >> -1": "RM107",
    "2 ** 1000": "RM606",
    "1 // 0": "RM107",
    "1 % 0.0": "RM107",
    "10 ** 400 * 10 ** 400": "RM606",
    "10.0 ** 1000": "RM107",
    "[0] * 100000": "RM606",
    "1 << 70": "RM107",
    "0x" + "f" * 80: "RM107",
    "9" * 4400: "RM107",
    # RM2xx
    "T.Broadcast(T.Broadcast(x, 2), 2)": "RM201",
    "n / 2": "RM201",
    "x // 2": "RM201",
    "n and b": "RM201",
    "T.Select(n, 1, 2)": "RM201",
    "h + 1": "RM201",
    "~x": "RM201",
    "x ** 2": "RM201",
    "A[0]": "RM208",
    "A[0, 0, 0]": "RM208",
    "cls.g(n)": "RM207",
    # RM602
    "T.exp(" * 130 + "x" + ")" * 130: "RM602",
    "-" * 130 + "n": "RM602",
}


@pytest.mark.parametrize(("text", "code"), REFUSED.items(), ids=[text[:40] for text in REFUSED])
def test_refused(text, code):
    with pytest.raises(RefmlcError) as caught:
        expr(text, P)
    assert caught.value.code.id == code
    span = caught.value.diagnostic.span
    assert span is not None
    assert span.line == 3


def test_dtype_of_nodes():
    found = function("T.evaluate(T.Cast('float32x4', T.Broadcast(n, 4)))", P).body.value
    assert str(found.dtype) == "float32x4"


def test_lambda_is_applied():
    assert expr("(lambda i, *rest: i + rest[1])(1, 2, n)", P) == "add:int32(1:int32, n:int32)"


def test_spans_count_characters():
    with pytest.raises(RefmlcError) as caught:
        expr("T.call_packed('ééé', undefined)", P)
    span = caught.value.diagnostic.span
    assert span.source.line(span.line)[span.column : span.end_column] == "undefined"


def test_a_close_name_is_proposed():
    with pytest.raises(RefmlcError) as caught:
        expr("T.evaluate(nn)", "nnn: T.int32")
    assert caught.value.diagnostic.helps == ("a name like it is `nnn`",)
