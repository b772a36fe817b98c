"""Statements of TensorIR: what each form of the text is in the tree, in all generations."""

import pytest
from readings import stmt

from refmlc.diag import RefmlcError

OLD = "@T.prim_func"
AB = "A: T.Buffer((8, 8), 'float32'), B: T.Buffer((8,), 'float32'), n: T.int32, h: T.handle"

CASES = {
    # loops
    "for i in range(4):\n    T.evaluate(i)": "serial i:int32 in 0:int32 +4:int32 { eval i:int32 }",
    "for i in range(2, 8):\n    T.evaluate(i)": "serial i:int32 in 2:int32 +6:int32 { eval i:int32 }",
    "for i in range(2, 8, 3):\n    T.evaluate(i)": "serial i:int32 in 2:int32 +6:int32 by 3:int32 { eval i:int32 }",
    "for i in range(n, n + 4):\n    pass": "serial i:int32 in n:int32 +4:int32 { eval 0:int32 }",
    "for i in range(1, n):\n    pass": "serial i:int32 in 1:int32 +sub:int32(n:int32, 1:int32) { eval 0:int32 }",
    "for i in range(0, T.int64(8)):\n    pass": "serial i:int64 in 0:int64 +8:int64 { eval 0:int32 }",
    "for i in T.serial(4, annotations={'a': 1}):\n    pass": "serial i:int32 in 0:int32 +4:int32 {'a': 1} { eval 0:int32 }",  # noqa: E501 - one text
    "for i in T.serial(0, 8, step=2):\n    pass": "serial i:int32 in 0:int32 +8:int32 by 2:int32 { eval 0:int32 }",
    "for i in T.serial(0, 8, step=1):\n    pass": "serial i:int32 in 0:int32 +8:int32 { eval 0:int32 }",
    "for i in T.parallel(4):\n    pass": "parallel i:int32 in 0:int32 +4:int32 { eval 0:int32 }",
    "for i in T.vectorized(0, 4):\n    pass": "vectorized i:int32 in 0:int32 +4:int32 { eval 0:int32 }",
    "for i in T.unroll(4):\n    pass": "unroll i:int32 in 0:int32 +4:int32 { eval 0:int32 }",
    "for i in T.thread_binding(4, thread='threadIdx.x'):\n    pass": (
        "thread_binding i:int32 in 0:int32 +4:int32 on threadIdx.x { eval 0:int32 }"
    ),
    "for i in T.thread_binding(0, 4, 'blockIdx.y'):\n    pass": (
        "thread_binding i:int32 in 0:int32 +4:int32 on blockIdx.y { eval 0:int32 }"
    ),
    "for i in T.thread_binding(4, 'blockIdx.y'):\n    pass": (
        "thread_binding i:int32 in 0:int32 +4:int32 on blockIdx.y { eval 0:int32 }"
    ),
    "for i, j in T.grid(2, T.int64(3)):\n    T.evaluate(j)": (
        "serial i:int32 in 0:int32 +2:int32 { serial j:int64 in 0:int64 +3:int64 { eval j:int64 } }"
    ),
    "for i, j in T.grid((1, 2), 3):\n    pass": (
        "serial i:int32 in 1:int32 +2:int32 { serial j:int32 in 0:int32 +3:int32 { eval 0:int32 } }"
    ),
    "for i in T.grid(2, dtype='uint32'):\n    pass": "serial i:uint32 in 0:uint32 +2:uint32 { eval 0:int32 }",
    "for x in T.grid(2, 3):\n    T.evaluate(x[1])": (
        "serial x_0:int32 in 0:int32 +2:int32 { serial x_1:int32 in 0:int32 +3:int32 { eval x_1:int32 } }"
    ),
    "for i, *r in T.grid(2, 3):\n    T.evaluate(r[0])": (
        "serial i0:int32 in 0:int32 +2:int32 { serial i1:int32 in 0:int32 +3:int32 { eval i1:int32 } }"
    ),
    "while n < 3:\n    T.evaluate(0)": "While(lt:bool(n:int32, 3:int32), eval 0:int32)",
    "while n < 3:\n    if n == 1:\n        break\n    continue": (
        "While(lt:bool(n:int32, 3:int32), if eq:bool(n:int32, 1:int32) { Break() } ; Continue())"
    ),
    "with T.While(n < 3):\n    T.evaluate(T.break_loop())": "While(lt:bool(n:int32, 3:int32), Break())",
    "with T.serial(4) as i:\n    T.evaluate(i)": "serial i:int32 in 0:int32 +4:int32 { eval i:int32 }",
    # branches
    "if n > 1:\n    T.evaluate(1)\nelif n > 0:\n    T.evaluate(2)\nelse:\n    T.evaluate(3)": (
        "if gt:bool(n:int32, 1:int32) { eval 1:int32 } else "
        "{ if gt:bool(n:int32, 0:int32) { eval 2:int32 } else { eval 3:int32 } }"
    ),
    "if True:\n    x = T.meta_var(3)\nelse:\n    T.evaluate(9)\nT.evaluate(x)": "eval 3:int32",
    "if False:\n    T.evaluate(9)\nelse:\n    T.evaluate(1)": "eval 1:int32",
    "if False:\n    T.evaluate(9)": "eval 0:int32",
    "if n > 1:\n    T.evaluate(1)\nelif True:\n    T.evaluate(2)": (
        "if gt:bool(n:int32, 1:int32) { eval 1:int32 } else { eval 2:int32 }"
    ),
    "if n > 1:\n    T.evaluate(1)\nelif False:\n    T.evaluate(2)\nelse:\n    T.evaluate(3)": (
        "if gt:bool(n:int32, 1:int32) { eval 1:int32 } else { eval 3:int32 }"
    ),
    "with T.If(n > 1):\n    with T.Then():\n        T.evaluate(1)\n    with T.Else():\n        T.evaluate(2)": (
        "if gt:bool(n:int32, 1:int32) { eval 1:int32 } else { eval 2:int32 }"
    ),
    # assert, return, evaluate
    "assert n > 0": "assert gt:bool(n:int32, 0:int32) RuntimeError ('',)",
    "assert n > 0, 'bad'": "assert gt:bool(n:int32, 0:int32) RuntimeError ('bad',)",
    "assert n > 0, ('ValueError', ['a', 'b'])": "assert gt:bool(n:int32, 0:int32) ValueError ('a', 'b')",
    "T.Assert(n > 0, 'm')\nT.evaluate(1)": "assert gt:bool(n:int32, 0:int32) RuntimeError ('m',) ; eval 1:int32",
    "with T.Assert(n > 0, 'm'):\n    T.evaluate(1)": (
        "assert gt:bool(n:int32, 0:int32) RuntimeError ('m',) ; eval 1:int32"
    ),
    "return n + 1": "Return(add:int32(n:int32, 1:int32))",
    "T.ret(0)": "Return(0:int32)",
    "T.evaluate(T.ret(n))": "Return(n:int32)",
    "T.evaluate(A[0, 0])": "eval A[0:int32, 0:int32]",
    "T.call_extern('int32', 'f')": "eval call call_extern:int32('f')",
    "n + 1": "eval add:int32(n:int32, 1:int32)",
    "'a docstring'\nT.evaluate(0)": "eval 0:int32",
    "B[0:4]": "eval B[Ramp(0:int32, 1:int32, 4:int32)]",
    "pass": "eval 0:int32",
    # stores
    "B[n] = 1": "B[n:int32] = 1.0:float32",
    "B[n] += A[n, 0]": "B[n:int32] = add:float32(B[n:int32], A[n:int32, 0:int32])",
    "B[0:4] = 0.5": "B[Ramp(0:int32, 1:int32, 4:int32)] = Broadcast(0.5:float32, 4:int32)",
    "B[0:4] = A[0, 0:4]": ("B[Ramp(0:int32, 1:int32, 4:int32)] = A[0:int32, Ramp(0:int32, 1:int32, 4:int32)]"),
    "B[0] = n": "B[0:int32] = Cast(n:int32)",
    "A[0, 1], B[2] = 3, 4": "A[0:int32, 1:int32] = 3.0:float32 ; B[2:int32] = 4.0:float32",
    "T.buffer_store(B, 2.0, [n])": "B[n:int32] = 2.0:float32",
    "T.buffer_store(B, 2.0, n, predicate=T.bool(True))": "B[n:int32; 1:bool] = 2.0:float32",
    "B.vstore([0], T.Broadcast(T.float32(1), 4))": (
        "B[Ramp(0:int32, 1:int32, 4:int32)] = Broadcast(1.0:float32, 4:int32)"
    ),
    "T.evaluate(T.masked_store(B, T.Broadcast(T.float32(1), 4), T.Ramp(0, 1, 4), T.Broadcast(T.bool(True), 4)))": (
        "B[Ramp(0:int32, 1:int32, 4:int32); Broadcast(1:bool, 4:int32)] = Broadcast(1.0:float32, 4:int32)"
    ),
    "T.evaluate(T.call_intrin('void', 'tirx.masked_store', B, T.float32(1), 0, T.bool(True)))": (
        "B[0:int32; 1:bool] = 1.0:float32"
    ),
    # names
    "x = T.meta_var(n + 1)\nT.evaluate(x)": "eval add:int32(n:int32, 1:int32)",
    "C = B\nC[0] = 1.0": "B[0:int32] = 1.0:float32",
    "x: T.let = n\nT.evaluate(x)": "let x:int32 = n:int32 ; eval x:int32",
    "x: T.let[T.int64] = 3\nT.evaluate(x)": "let x:int64 = 3:int64 ; eval x:int64",
    "p: T.let[T.handle('float32')] = B.data\nT.evaluate(p)": "let p:handle = B.data ; eval p:handle",
    "p = B.data\nT.evaluate(p)": "let p:handle = B.data ; eval p:handle",
    "p: T.handle = B.data\nT.evaluate(p)": "let p:handle = B.data ; eval p:handle",
    "v = T.Bind(n + 1)\nT.evaluate(v)": "let v:int32 = add:int32(n:int32, 1:int32) ; eval v:int32",
    "v = T.int32()\nT.Bind(n + 1, var=v)\nT.evaluate(v)": ("let v:int32 = add:int32(n:int32, 1:int32) ; eval v:int32"),
    "x = n + 1\nx = x * 2\nT.evaluate(x)": (
        "alloc x:int32(1:int32) local ; x[0:int32] = add:int32(n:int32, 1:int32) ; "
        "x[0:int32] = mul:int32(x[0:int32], 2:int32) ; eval x[0:int32]"
    ),
    "x: T.float32 = 3\nx += 1.0": (
        "alloc x:float32(1:int32) local ; x[0:int32] = 3.0:float32 ; x[0:int32] = add:float32(x[0:int32], 1.0:float32)"
    ),
    "x: T.int32\nx = 5": "alloc x:int32(1:int32) local ; x[0:int32] = 5:int32",
    "x = T.local_scalar('int32')\nx = 5": "alloc x:int32(1:int32) local ; x[0:int32] = 5:int32",
    "x = T.alloc_buffer((1,), 'int32')\nx = 5": "alloc x:int32(1:int32) ; x[0:int32] = 5:int32",
    "x: T.float32[4]\nx[0] = 1.0": "alloc x:float32(4:int32) local ; x[0:int32] = 1.0:float32",
    "x, y = 1, n\nT.evaluate(y)": (
        "alloc x:int32(1:int32) local ; x[0:int32] = 1:int32 ; alloc y:int32(1:int32) local ; "
        "y[0:int32] = n:int32 ; eval y[0:int32]"
    ),
    "x = [T.meta_var(3), T.meta_var(n)]\nT.evaluate(x[1])": "eval n:int32",
    # allocations and views
    "C = T.alloc_buffer((4,), 'int8', annotations={'k': 1})\nC[0] = 1": (
        "alloc C:int8(4:int32){'k': 1} ; C[0:int32] = 1:int8"
    ),
    "C = T.alloc_local((4,))\nC[0] = 1": "alloc C:float32(4:int32) local ; C[0:int32] = 1.0:float32",
    "C = T.alloc_shared(4, 'int32')\nC[0] = 1": "alloc C:int32(4:int32) shared ; C[0:int32] = 1:int32",
    "C = T.decl_buffer((64,), data=A.data)\nC[0] = 1": "decl C:float32(64:int32) of A.data ; C[0:int32] = 1.0:float32",
    "C = T.decl_buffer(data=A.data, shape=(4,), dtype='int32', elem_offset=n, scope='local')\nC[0] = 1": (
        "decl C:int32(4:int32) offset=n:int32 local of A.data ; C[0:int32] = 1:int32"
    ),
    "C = T.decl_buffer((4,), byte_offset=8, data=A.data)": (
        "decl C:float32(4:int32) offset=floordiv:int32(8:int32, 4:int32) of A.data"
    ),
    "C = T.decl_buffer((4,))\nC[0] = 1": "alloc C:float32(4:int32) ; C[0:int32] = 1.0:float32",
    "C = T.Buffer((4,), 'int8', data=h)\nC[0] = 1": "decl C:int8(4:int32) of h:handle ; C[0:int32] = 1:int8",
    "C = T.Buffer((4,), 'int8')\nC[0] = 1": "C[0:int32] = 1:int8",
    "C = A.view(4, 16)\nC[0, 0] = 1": "decl C:float32(4:int32, 16:int32) of A.data ; C[0:int32, 0:int32] = 1.0:float32",
    "C = A.view((64,))\nC[0] = 1": "decl C:float32(64:int32) of A.data ; C[0:int32] = 1.0:float32",
    "C = B.view('int32')": "decl C:int32(8:int32) of B.data",
    "C = B.view('int8')": "decl C:int8(32:int32) of B.data",
    "C = B.view('float64')": "decl C:float64(4:int32) of B.data",
    "C = B.view(32, dtype='int8')": "decl C:int8(32:int32) of B.data",
    # attributes and threads
    "T.attr(A, 'k', 1)\nT.evaluate(0)": "attr buffer A k 1 { eval 0:int32 }",
    "with T.attr({'a': 1, 'b': True}):\n    T.evaluate(0)": "attr None a 1 { attr None b True { eval 0:int32 } }",
    "T.evaluate(1)\nT.attr('default', 'device_id', n)\nT.evaluate(2)": (
        "eval 1:int32 ; attr 'default' device_id n:int32 { eval 2:int32 }"
    ),
    "with T.launch_thread('blockIdx.x', 4) as bx:\n    T.evaluate(bx)": (
        "attr <blockIdx.x bx:int32 in 0:int32 +4:int32> thread_extent 4:int32 { eval bx:int32 }"
    ),
    "tx = T.launch_thread('threadIdx.x', 4)\nT.evaluate(tx)": (
        "attr <threadIdx.x tx:int32 in 0:int32 +4:int32> thread_extent 4:int32 { eval tx:int32 }"
    ),
    "bx = T.env_thread('blockIdx.x')\nT.launch_thread(bx, 4)\nT.evaluate(bx + bx.var)": (
        "attr <blockIdx.x bx:int32 in 0:int32 +4:int32> thread_extent 4:int32 { eval add:int32(bx:int32, bx:int32) }"
    ),
    "v = T.var('int32')\nwith T.attr(T.iter_var(v, T.Range(0, 4), 'ThreadIndex', 'vthread'), 'virtual_thread', 4):\n    T.evaluate(v)": (  # noqa: E501 - one text
        "attr <vthread v:int32 in 0:int32 +4:int32> virtual_thread 4 { eval v:int32 }"
    ),
    "with T.attr(A, 'k', 1), T.launch_thread('threadIdx.x', 4) as tx:\n    T.evaluate(tx)": (
        "attr buffer A k 1 { attr <threadIdx.x tx:int32 in 0:int32 +4:int32> thread_extent 4:int32 { eval tx:int32 } }"
    ),
    # blocks
    "with T.sblock('b'):\n    vi = T.axis.spatial(8, n)\n    vj = T.axis.reduce((2, 8), 3)\n    B[vi] = A[vi, vj]": (
        "block b(n:int32, 3:int32) if 1:bool { spatial vi:int32 in 0:int32 +8:int32; reduce vj:int32 in 2:int32 +6:int32; "  # noqa: E501 - one text
        "B[vi:int32] = A[vi:int32, vj:int32] }"
    ),
    "for i in range(8):\n    with T.sblock('b'):\n        vi = T.axis.remap('S', [i])\n        T.where(i < 5)\n"
    "        T.where(i > 1)\n        T.reads(A[vi, 0:8], B)\n        T.writes([B[vi]])\n        T.sblock_attr({'k': [1, 'x']})\n"  # noqa: E501 - one text
    "        with T.init():\n            B[vi] = 0.0\n        B[vi] = 1.0": (
        "serial i:int32 in 0:int32 +8:int32 { block b(i:int32) if And(lt:bool(i:int32, 5:int32), gt:bool(i:int32, 1:int32)) "  # noqa: E501 - one text
        "{ spatial vi:int32 in 0:int32 +8:int32; reads A[vi:int32 +1:int32, 0:int32 +8:int32], B[0:int32 +8:int32]; "
        "writes B[vi:int32 +1:int32]; note {'k': (1, 'x')}; init { B[vi:int32] = 0.0:float32 }; B[vi:int32] = 1.0:float32 } }"  # noqa: E501 - one text
    ),
    "for i, j in T.grid(2, 4):\n    with T.sblock('b'):\n        v = T.axis.remap('SO', [i, j])\n        T.reads()\n        T.writes()\n        T.evaluate(v[1])": (  # noqa: E501 - one text
        "serial i:int32 in 0:int32 +2:int32 { serial j:int32 in 0:int32 +4:int32 { block b(i:int32, j:int32) if 1:bool "
        "{ spatial v_0:int32 in 0:int32 +2:int32; opaque v_1:int32 in 0:int32 +4:int32; reads; writes; eval v_1:int32 } } }"  # noqa: E501 - one text
    ),
    "with T.sblock():\n    vi = T.axis.scan(T.int64(4), T.int64(0))\n    C = T.sblock_alloc_buffer((4,), 'int8')\n"
    "    D = T.match_buffer(A[0:4, n], (4, 1), offset_factor=4)\n    C[vi] = 1\n    D[0, 0] = 1.0": (
        "block (0:int64) if 1:bool { scan vi:int64 in 0:int64 +4:int64; alloc C:int8(4:int32); "
        "match D:float32(4:int32, 1:int32) offset=elem_offset:int32 factor=4 "
        "with A[0:int32 +4:int32, n:int32 +1:int32]; "
        "C[vi:int64] = 1:int8 ; D[0:int32, 0:int32] = 1.0:float32 }"
    ),
    "with T.sblock('b'):\n    D = T.match_buffer(A[n, 0:n])\n    D[0, 0] = 1.0": (
        "block b() if 1:bool { match D:float32(1:int32, n:int32) with A[n:int32 +1:int32, 0:int32 +n:int32]; "
        "D[0:int32, 0:int32] = 1.0:float32 }"
    ),
    "C = T.sblock_alloc_buffer((4,), 'int8')\nC[0] = 1": (
        "block root() if 1:bool { alloc C:int8(4:int32); C[0:int32] = 1:int8 }"
    ),
    "T.sblock_attr({'k': 1})\nT.evaluate(0)": "block root() if 1:bool { note {'k': 1}; eval 0:int32 }",
    "with T.sblock('root'):\n    T.evaluate(0)": "block root() if 1:bool { eval 0:int32 }",
}


@pytest.mark.parametrize(("body", "expected"), CASES.items(), ids=[body[:40].replace("\n", " ") for body in CASES])
def test_statement(body, expected):
    assert stmt(body, AB) == expected


OLD_CASES = {
    "x = n + 1\nT.evaluate(x)": "let x:int32 = add:int32(n:int32, 1:int32) ; eval x:int32",
    "x: T.int64 = 3\nT.evaluate(x)": "let x:int64 = 3:int64 ; eval x:int64",
    "x: T.int32\nwith T.let(x, n):\n    T.evaluate(x)": "let x:int32 = n:int32 ; eval x:int32",
    "x = T.var('int64')\nwith T.let(x, 3):\n    T.evaluate(x)\nT.evaluate(1)": (
        "let x:int64 = 3:int64 ; eval x:int64 ; eval 1:int32"
    ),
    "with T.LetStmt(n + 1) as x:\n    T.evaluate(x)": "let x:int32 = add:int32(n:int32, 1:int32) ; eval x:int32",
    "C = T.alloc_buffer([4], dtype='int8')\nC[0] = 1": (
        "block root() if 1:bool { alloc C:int8(4:int32); C[0:int32] = 1:int8 }"
    ),
    "with T.block('b'):\n    vi = T.axis.S(8, n)\n    T.block_attr({'k': 1})\n    C = T.alloc_buffer([4], dtype='int8')\n    C[vi] = 1": (  # noqa: E501 - one text
        "block b(n:int32) if 1:bool { spatial vi:int32 in 0:int32 +8:int32; alloc C:int8(4:int32); note {'k': 1}; "
        "C[vi:int32] = 1:int8 }"
    ),
    "p = T.allocate([4], 'int32', 'shared')\np[0] = 1\nC = T.buffer_decl([4], 'int32', data=p)\nT.evaluate(T.call_extern('f', p, dtype=''))": (  # noqa: E501 - one text
        "alloc p:int32(4:int32) shared ; p[0:int32] = 1:int32 ; decl C:int32(4:int32) of p.data ; "
        "eval call call_extern:void('f', p.data)"
    ),
    "with T.allocate([4], 'int32') as p:\n    T.evaluate(p[n])": "alloc p:int32(4:int32) ; eval p[n:int32]",
    "k = T.allocate_const([1, 2, 3, 4], 'int32', [2, 2])\nC = T.Buffer([4], 'int32', data=k)": (
        "alloc k:int32(2:int32, 2:int32) ; k[0:int32, 0:int32] = 1:int32 ; k[0:int32, 1:int32] = 2:int32 ; "
        "k[1:int32, 0:int32] = 3:int32 ; k[1:int32, 1:int32] = 4:int32 ; decl C:int32(4:int32) of k.data"
    ),
    "T.store(B.data, n, T.load('float32', B.data, 0), True)": "B[n:int32] = B[0:int32]",
}


@pytest.mark.parametrize(
    ("body", "expected"), OLD_CASES.items(), ids=[body[:40].replace("\n", " ") for body in OLD_CASES]
)
def test_statement_before_027(body, expected):
    params = "A: T.Buffer[(8, 8), 'float32'], B: T.Buffer[8, 'float32'], n: T.int32"
    assert stmt(body, params, OLD) == expected


REFUSED = {
    "def g():\n    pass": "RM103",
    "class G:\n    pass": "RM103",
    "import os": "RM103",
    "del n": "RM103",
    "try:\n    pass\nfinally:\n    pass": "RM103",
    "global n": "RM103",
    "return": "RM103",
    "for i in range(3):\n    pass\nelse:\n    pass": "RM103",
    "while n > 1:\n    pass\nelse:\n    pass": "RM103",
    "a = b = 1": "RM103",
    "n.x = 1": "RM103",
    "n[0] = 1": "RM103",
    "T.grid(3)": "RM103",
    "T.sblock('x')": "RM103",
    "x = T.grid(3)": "RM103",
    "with T.reads():\n    pass": "RM103",
    "with T.launch_thread('threadIdx.x', 4) as (a, b):\n    pass": "RM103",
    "with T.If(n > 1):\n    T.evaluate(0)": "RM103",
    "with T.If(n > 1):\n    with T.Else():\n        pass": "RM103",
    "A.x: T.int32 = 3": "RM103",
    "C: T.Buffer((4,))": "RM103",
    "for i.x in range(3):\n    pass": "RM103",
    "T.evaluate(x)\nx = 1": "RM104",
    "for i in n:\n    pass": "RM105",
    "for i in range(1.5):\n    pass": "RM105",
    "for i in range():\n    pass": "RM105",
    "for i in T.grid():\n    pass": "RM105",
    "for i, j in T.grid(2):\n    pass": "RM105",
    "for i, j in T.grid(2, 3, 4):\n    pass": "RM105",
    "for i, *j, *k in T.grid(2, 3, 4):\n    pass": "RM105",
    "for i in T.thread_binding(4):\n    pass": "RM105",
    "x, y = 1, 2, 3": "RM105",
    "x: 3 = 4": "RM105",
    "assert n > 0, ('a', 'b', 'c')": "RM105",
    "assert n > 0, 3": "RM105",
    "T.launch_thread(3, 4)": "RM105",
    "T.iter_var(3, 4, '', '')": "RM105",
    "T.attr(A)": "RM105",
    "T.func_attr(3)": "RM105",
    "T.func_attr({'a': T.grid(3)})": "RM105",
    "T.let(3, 4)": "RM105",
    "T.Bind(3, var=4)": "RM105",
    "T.buffer_store(3, 1, [0])": "RM105",
    "T.store(A.data, 0, 1)": "RM105",
    "T.match_buffer(h)": "RM105",
    "T.match_buffer(3, (4,))": "RM105",
    "T.preflattened_buffer(3, (4,))": "RM105",
    "C = T.Buffer((4,))\nT.preflattened_buffer(C, (4,))": "RM105",
    "with T.sblock('b'):\n    T.axis.remap('SS', [n])": "RM105",
    "with T.sblock('b'):\n    T.axis.remap('X', [n])": "RM105",
    "with T.sblock('b'):\n    T.reads(n)": "RM105",
    "with T.sblock('b'):\n    T.reads(B[0:8:2])": "RM105",
    "T.alloc_buffer((4,), annotations=3)": "RM105",
    "C = T.Buffer((4,), 'float33')": "RM106",
    "B[0] = 1e300": "RM107",
    "if n + 0.5:\n    pass": "RM201",
    "x: T.let[T.int32] = T.int64(3)": "RM201",
    "B[0] = h": "RM201",
    "B[0, 0] = 1.0": "RM208",
    "T.init()": "RM103",
    "with T.init():\n    pass": "RM209",
    "with T.sblock('b'):\n    with T.init():\n        pass\n    with T.init():\n        pass": "RM209",
    "vi = T.axis.spatial(3, 1)": "RM209",
    "with T.sblock('b'):\n    vi = T.axis.remap('S', [n])": "RM209",
    "p = B.data\nC = T.match_buffer(p, (4,))": "RM209",
    "C = T.match_buffer(h, (4,))\nD = T.match_buffer(h, (4,))": "RM209",
    "with T.sblock('b', no_realize=True):\n    pass": "RM504",
    "with T.serial(3) as i, T.attr(A, 'k', 1):\n    pass": "RM504",
    "C = T.allocate([4], 'int32', 'global', n > 1)": "RM504",
    "k = T.allocate_const([0] * 20000, 'int8', [20000])": "RM504",
}


@pytest.mark.parametrize(("body", "code"), REFUSED.items(), ids=[body[:40].replace("\n", " ") for body in REFUSED])
def test_refused(body, code):
    with pytest.raises(RefmlcError) as caught:
        stmt(body, AB)
    assert caught.value.code.id == code
    assert caught.value.diagnostic.span is not None
