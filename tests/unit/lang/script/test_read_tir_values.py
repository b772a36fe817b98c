"""Attributes, methods and rarer forms of values of TensorIR, and the text that has them wrong."""

import pytest
from readings import expr, function, shown, stmt

from refmlc.diag import RefmlcError

P = (
    "A: T.Buffer((8, 8), 'float32'), n: T.int32, p: T.handle('int8'), S: T.Buffer((2, 3), 'int8', strides=(4, 1), "
    "scope='shared'), Z: T.Buffer((), 'int8'), h: T.handle"
)

VALUES = {
    "T.Cast(n.dtype, 3)": "Cast(3:int32)",
    "T.Cast(A.dtype, n)": "Cast(n:int32)",
    "T.Cast(n.ty, 3)": "Cast(3:int32)",
    "T.Cast(T.StringImm('int8'), n)": "Cast(n:int32)",
    "T.Cast(T.int64().dtype, n)": "Cast(n:int32)",
    "T.Cast('int32x4', n)": "Broadcast(n:int32, 4:int32)",
    "T.reinterpret(p.ty, h)": "call reinterpret:handle(h:handle)",
    "A[0, 1].indices[1]": "1:int32",
    "A[0, 1].source[2, 2]": "A[2:int32, 2:int32]",
    "T.float32(3).value": "3.0:float32",
    "T.int64(3).value + 1": "4:int32",
    "A.data.data": "A.data",
    "S.strides[0]": "4:int32",
    "S.name": "'S'",
    "S.scope()": "'shared'",
    "S.storage_scope": "'shared'",
    "S.ty.shape[1]": "3:int32",
    "Z.elem_offset": "0:int64",
    "Z[()]": "Z[]",
    "Z.access_ptr('w')": "call tvm_access_ptr:handle(call type_annotation:int8(), Z.data, 0:int32, 1:int32, 2:int32)",
    "Z.access_ptr(1)": "call tvm_access_ptr:handle(call type_annotation:int8(), Z.data, 0:int32, 1:int32, 1:int32)",
    "A[0, 0:4].astype('float16')": "Cast(A[0:int32, Ramp(0:int32, 1:int32, 4:int32)])",
    "-A[0, 0:2]": ("mul:float32x2(A[0:int32, Ramp(0:int32, 1:int32, 2:int32)], Broadcast(-1.0:float32, 2:int32))"),
    "A[0, T.int64(2):T.int64(4)]": "A[0:int32, Ramp(2:int64, 1:int64, 2:int32)]",
    "A[0, T.int64(n):T.int64(n) + T.int64(4)]": "A[0:int32, Ramp(Cast(n:int32), 1:int64, 4:int32)]",
    "A[0, n * 4 - 1:n * 4 - 1 + 2]": (
        "A[0:int32, Ramp(sub:int32(mul:int32(n:int32, 4:int32), 1:int32), 1:int32, 2:int32)]"
    ),
    "A.vload([0, T.Ramp(0, 1, 4)], 'float32x4')": "A[0:int32, Ramp(0:int32, 1:int32, 4:int32)]",
    "A.vload([0, 0], predicate=T.bool(True))": "A[0:int32, 0:int32; 1:bool]",
    "T.call_extern('int32', 'f', A[0, 0:4])": "call call_extern:int32('f', A[0:int32 +1:int32, 0:int32 +4:int32])",
    "T.tvm_thread_allreduce(T.uint32(1), n, None)": "call tvm_thread_allreduce:void(1:uint32, n:int32, None)",
    "T.Call('int32', cls.f, [n])": "call f:int32(n:int32)",
    "T.Call('int32', tvm.ir.Op.get('tir.vscale'), [])": "call vscale:int32()",
    "T.max(**{'a': n, 'b': 3})": "max:int32(n:int32, 3:int32)",
    "T.max(*[n, 3])": "max:int32(n:int32, 3:int32)",
    "(lambda f: f)(n)": "n:int32",
    "2 ** -1": "0.5:float32",
    "2.0 ** 3": "8.0:float32",
    "1.5 > 1": "1:bool",
    "'ab'[1]": "'b'",
    "((1,) + (2,))[1]": "2:int32",
    "None == None": "1:bool",
    "1 and 2": "2:int32",
    "0 or 2": "2:int32",
    "T.exp(*[1.0])": "exp:float32(1.0:float32)",
    "T.const(n)": "n:int32",
    "T.div(n, 2)": "truncdiv:int32(n:int32, 2:int32)",
}


@pytest.mark.parametrize(("text", "expected"), VALUES.items(), ids=list(VALUES))
def test_value(text, expected):
    assert expr(text, P) == expected


STATEMENTS = {
    "x = T.int32()\nT.evaluate(x.astype('int8'))": "eval Cast(x:int32)",
    "x = T.var('int8', 'named')\nT.evaluate(x)": "eval x:int8",
    "q = T.ptr('int8')\nT.evaluate(q)": "eval q:handle",
    "D = T.Buffer((4,), 'int8', data=p)\nD[0] = 1": "decl D:int8(4:int32) of p:handle ; D[0:int32] = 1:int8",
    "x = 3\nx[0] = 4\nT.evaluate(x[0])": (
        "alloc x:int32(1:int32) local ; x[0:int32] = 3:int32 ; x[0:int32] = 4:int32 ; eval x[0:int32]"
    ),
    "C = T.alloc_buffer((4,), 'handle')\nC[0] = p": "alloc C:handle(4:int32) ; C[0:int32] = p:handle",
    "C = T.alloc_buffer((1,), 'uint32')\nC[0] = T.cuda.__activemask()": (
        "alloc C:uint32(1:int32) ; C[0:int32] = call cuda.__activemask:uint32()"
    ),
    "T.func_name('g')\nT.evaluate(0)": "eval 0:int32",
    "with T.sblock('b'):\n    v = T.axis.spatial(T.Range(2, 6), n)\n    T.evaluate(v)": (
        "block b(n:int32) if 1:bool { spatial v:int32 in 2:int32 +4:int32; eval v:int32 }"
    ),
    "with T.sblock('b'):\n    T.reads(A[T.Ramp(0, 1, 4), n])\n    T.evaluate(0)": (
        "block b() if 1:bool { reads A[0:int32 +4:int32, n:int32 +1:int32]; eval 0:int32 }"
    ),
    "t = T.env_thread('threadIdx.x')\nT.launch_thread(t, 4)\nT.evaluate(t * 2 + t.var)": (
        "attr <threadIdx.x t:int32 in 0:int32 +4:int32> thread_extent 4:int32 "
        "{ eval add:int32(mul:int32(t:int32, 2:int32), t:int32) }"
    ),
    "t = T.iter_var('v', T.Range(0, 4), 'ThreadIndex', 'threadIdx.x')\nT.attr(t, 'k', t.dom.extent)\nT.evaluate(t.var)": (  # noqa: E501 - one text
        "attr <threadIdx.x v:int32 in 0:int32 +4:int32> k 4:int32 { eval v:int32 }"
    ),
    "for i in T.serial(0, 8, 2):\n    pass": "serial i:int32 in 0:int32 +8:int32 by 2:int32 { eval 0:int32 }",
    "for i in range(4, step=2):\n    pass": "serial i:int32 in 0:int32 +4:int32 by 2:int32 { eval 0:int32 }",
}


@pytest.mark.parametrize(("body", "expected"), STATEMENTS.items(), ids=[body[:40] for body in STATEMENTS])
def test_statement(body, expected):
    assert stmt(body, P) == expected


REFUSED = {
    "T.evaluate(T.int64().foo)": "RM103",
    "t = T.iter_var('v', T.Range(0, 4), 'ThreadIndex', 'x')\nT.evaluate(t.foo)": "RM103",
    "x: T.int32 = 3\nT.evaluate(x[0, 0])": "RM208",
    "T.evaluate(A[0, 0:4].vload(3))": "RM105",
    "T.evaluate(A.data.vload([0]))": "RM208",
    "T.evaluate(A.foo())": "RM103",
    "T.evaluate(A(0))": "RM103",
    "T.evaluate(A.view(4)[0])": "RM103",
    "T.evaluate(A < 3)": "RM103",
    "T.evaluate(([0] * 40000 + [0] * 40000)[0])": "RM606",
    "T.evaluate((1 << 200) * (1 << 200))": "RM606",
    "T.evaluate((-2) ** 0.5)": "RM107",
    "T.evaluate(0.0 ** -1)": "RM107",
    "T.evaluate(T.StringImm(3))": "RM105",
    "T.evaluate({'a': 1}['b'])": "RM103",
    "T.evaluate(T.max(**{1: 2}))": "RM103",
    "with T.attr(A, 'k', 1) as x:\n    T.evaluate(0)": "RM103",
    "T.evaluate(T.bfloat17(3))": "RM103",
    "C = T.alloc_buffer((4,), 'int8', align=True)": "RM105",
    "C = T.alloc_buffer((4,), scope=3)": "RM105",
    "T.func_attr({'a': {1: 2}})": "RM105",
    "T.evaluate(h < n)": "RM201",
}


@pytest.mark.parametrize(("body", "code"), REFUSED.items(), ids=[body[:40] for body in REFUSED])
def test_refused(body, code):
    with pytest.raises(RefmlcError) as caught:
        stmt(body, P)
    assert caught.value.code.id == code


def test_parameters_are_named_once():
    with pytest.raises(RefmlcError, match="RM210"):
        function("T.evaluate(0)", "a: T.int32, a: T.int32")


def test_type_variable_as_parameter():
    func = function("T.evaluate(n)", "A: T.Buffer(('n',)), n: T.int32")
    assert shown(func.body) == "eval n:int32"
    assert func.body.value is func.params[1]
