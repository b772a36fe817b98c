"""TensorIR by hand: pointers, workspaces, arrays made on the stack."""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_elements import BOUNDS, ONE, UNWRITTEN, series

POINTER, EXTENT = undefined("RM313"), undefined("RM315")


def pointers(book):
    _addresses(book)
    _moved(book)
    _workspaces(book)
    _arrays(book)
    _nulls(book)
    book.write("pointers", "Pointers, workspaces, arrays made on the stack.")


def _addresses(book):
    """The address of an element, in each form of a buffer; bounds of each axis."""
    for rank, shape in ((1, (5,)), (2, (3, 4)), (3, (2, 3, 4))):
        index = ", ".join(f"I[{axis}]" for axis in range(rank))
        params = f'A: T.Buffer({shape}, "int32"), I: T.Buffer(({rank},), "int32"), R: T.Buffer((1,), "int32")'
        text = tir(params, f'V = T.decl_buffer((1,), "int32", data=T.address_of(«A[{index}]»))\nR[0] = V[0]')
        a = series(shape)
        last = [extent - 1 for extent in shape]
        inside = [last, [0] * rank, [(axis + 1) % extent for axis, extent in enumerate(shape)]]
        calls = [([a, i32(*at), ONE], [K, K, i32(a[tuple(at)])]) for at in inside]
        for axis, extent in enumerate(shape):
            for value in (-1, extent):
                at = [0] * rank
                at[axis] = value
                calls.append(([a, i32(*at), ONE], BOUNDS))
        ask(book, f"undefined.pointer.address-{rank}", "TIR-321 TIR-006", text, *calls)
    body = 'B = T.decl_buffer((2, 2), "int32", data=A.data, strides=[n, 2], elem_offset=3)\nV = T.decl_buffer((2,), "int32", data=T.address_of(B[1, 1]))\nR[0] = V[0] * 1000 + V[1]'
    text = tir('n: T.int32, A: T.Buffer((12,), "int32"), R: T.Buffer((1,), "int32")', body)
    a = series((12,))
    calls = [([n, a, ONE], [K, i32(int(a[5 + n]) * 1000 + int(a[6 + n]))]) for n in (1, 4, 5)]
    ask(book, "tir.pointer.address-with-strides", "TIR-321 TIR-005", text, *calls)
    body = 'W = T.decl_buffer((3,), "int32x4", data=A.data)\nV = T.decl_buffer((9,), "int32", data=T.address_of(W[n]))\nR[0] = «V[m]»'
    text = tir('n: T.int32, m: T.int32, A: T.Buffer((12,), "int32"), R: T.Buffer((1,), "int32")', body)
    calls = [([n, 12 - n * 4, a, ONE], BOUNDS) for n in (1, 2)]
    ask(book, "undefined.pointer.address-of-lanes", "TIR-321 TIR-005", text, *calls)
    body = 'B = T.alloc_buffer((4,), "int32")\nV = T.decl_buffer((1,), "int32", data=T.address_of(B[n]))\nB[2] = 7\nR[0] = «V[0]»'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
    ask(
        book,
        "undefined.pointer.address-reads-nothing",
        "TIR-321 TIR-007",
        text,
        ([2, ONE], i32(7)),
        ([1, ONE], UNWRITTEN),
    )


def _moved(book):
    """Pointers that are moved by elements of a dtype, and by bytes; behind the end, and before the beginning."""
    params = 'n: T.int32, A: T.Buffer((6,), "int32"), R: T.Buffer((1,), "int32")'
    a = series((6,))
    for name, data, size in (
        ("elements", 'T.tvm_access_ptr(T.type_annotation("int32"), A.data, n, 1, 1)', 1),
        ("wide", 'T.tvm_access_ptr(T.type_annotation("int64"), A.data, n, 1, 1)', 2),
        ("lanes", 'T.tvm_access_ptr(T.type_annotation("int32x2"), A.data, n, 1, 1)', 2),
        ("bytes", "T.handle_add_byte_offset(A.data, n * 4)", 1),
        ("twice", "T.handle_add_byte_offset(T.handle_add_byte_offset(A.data, 8), n * 4 - 8)", 1),
        (
            "back",
            'T.handle_add_byte_offset(T.tvm_access_ptr(T.type_annotation("int32"), A.data, 5, 1, 1), n * 4 - 20)',
            1,
        ),
    ):
        text = tir(params, f'V = T.decl_buffer((1,), "int32", data={data})\nR[0] = «V[0]»')
        calls = [([n, a, ONE], [K, i32(a[n * size])]) for n in (0, 1, 2, 5) if n * size < 6 and size == 1]
        calls += [([n, a, ONE], BOUNDS) for n in (6 // size, -1)]
        ask(book, f"undefined.pointer.moved-{name}", "TIR-322 TIR-323 TIR-006", text, *calls)
    body = 'V = T.decl_buffer((2,), "int16", data=T.handle_add_byte_offset(A.data, n))\nR[0] = T.Cast("int32", V[0]) * 100 + T.Cast("int32", V[1])'
    text = tir('n: T.int32, A: T.Buffer((2,), "int32"), R: T.Buffer((1,), "int32")', body)
    given = i32(0x20001, 0x40003)
    ask(
        book,
        "tir.pointer.moved-by-halves",
        "TIR-323 TIR-005",
        text,
        *(([n, given, ONE], [K, i32(value)]) for n, value in ((0, 102), (2, 203), (4, 304))),
    )
    body = 'B = T.decl_buffer((1,), "int32", data=T.handle_add_byte_offset(«T.reinterpret("handle", T.uint64(0)), 4))\nR[0] = B[0]'
    text = tir('R: T.Buffer((1,), "int32")', body.replace("«", ""))
    for name, data in (
        ("bytes", 'T.handle_add_byte_offset(«T.reinterpret("handle", T.uint64(0)), 4)'),
        ("elements", 'T.tvm_access_ptr(T.type_annotation("int32"), «T.reinterpret("handle", T.uint64(0)), 1, 1, 1)'),
    ):
        text = tir('R: T.Buffer((1,), "int32")', f'B = T.decl_buffer((1,), "int32", data={data})\nR[0] = B[0]')
        ask(book, f"undefined.pointer.null-{name}", "TIR-322 TIR-323", text, ([ONE], POINTER))


def _workspaces(book):
    """Their size in bytes; what may be freed; several at the same time."""
    work = "T.TVMBackendAllocWorkspace(1, 0, T.uint64({}), 0, 32)"
    body = f'W = T.decl_buffer((4,), "int32", data={work.format(12)})\nfor i in range(3):\n    W[i] = i * 5 + 1\nR[0] = «W[n]»\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
    ask(book, "undefined.pointer.workspace-size", "TIR-325 TIR-006", text, ([3, ONE], BOUNDS))
    body = f'W = T.decl_buffer((1,), "int32", data={work.format("n")})\nR[0] = 8\nif n > 0:\n    W[0] = n\n    R[0] = W[0]\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))'
    text = tir(
        'n: T.uint64, R: T.Buffer((1,), "int32")',
        body.replace("W[0] = n", 'W[0] = T.Cast("int32", n)')
        .replace("T.uint64(n)", "n")
        .replace("n > 0", "n > T.uint64(0)"),
    )
    ask(book, "tir.pointer.workspace-by-variable", "TIR-325", text, ([4, ONE], i32(4)), ([8, ONE], i32(8)))
    body = f'W = T.decl_buffer((2,), "int32", data={work.format(8)})\nU = T.decl_buffer((2,), "int32", data={work.format(8)})\nW[0] = 1\nU[0] = 2\nW[1] = 3\nT.evaluate(T.TVMBackendFreeWorkspace(1, 0, U.data))\nif n > 0:\n    T.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))\nR[0] = «W[0]» + W[1] * 10\nif n == 0:\n    T.evaluate(T.TVMBackendFreeWorkspace(1, 0, W.data))'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
    ask(book, "undefined.pointer.workspace-two", "TIR-325", text, ([0, ONE], i32(31)), ([1, ONE], undefined("RM316")))
    for name, freed in (
        ("inside", "T.handle_add_byte_offset(W.data, n)"),
        ("by-address", "T.address_of(W[n])"),
    ):
        body = f'W = T.decl_buffer((2,), "int32", data={work.format(8)})\nW[0] = 4\nR[0] = W[0]\nR[0] = R[0] + «T.TVMBackendFreeWorkspace(1, 0, {freed})»'
        text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
        ask(book, f"undefined.pointer.freed-{name}", "TIR-325", text, ([0, ONE], i32(4)), ([1, ONE], POINTER))
    body = 'R[0] = 4\nif n > 0:\n    T.evaluate(T.TVMBackendFreeWorkspace(1, 0, «T.reinterpret("handle", T.uint64(0))))'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
    ask(book, "undefined.pointer.freed-null", "TIR-325", text, ([0, ONE], i32(4)), ([1, ONE], POINTER))


MADE = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((24,), "int32"), N: T.Buffer((5,), "int32"), R: T.Buffer((2, 3), "int32")):
        T.evaluate(T.call_packed("copy", {made}, R))

    @T.prim_func(s_tir=True)
    def copy(a: T.handle, R: T.Buffer((2, 3), "int32")):
        T.func_attr({{"global_symbol": "copy"}})
        s = T.int64()
        t = T.int64()
        A = T.match_buffer(a, (2, 3), "int32", strides=[s, t])
        for i, j in T.grid(2, 3):
            R[i, j] = A[i, j] * 100 + T.Cast("int32", s * 10 + t)
"""


def _arrays(book):
    """Tensors made of a pointer: strides, an offset in elements, the end of the storage."""
    out = new([2, 3], "int32")
    a = series((24,))
    strided = (
        "«T.tvm_stack_make_array({}, T.tvm_stack_make_shape(2, 3), T.tvm_stack_make_shape(N[0], N[1]), 2, 0, N[2])»"
    )
    for name, data, first in (("start", "A.data", 0), ("moved", "T.handle_add_byte_offset(A.data, 8)", 2)):
        calls = []
        for s, t, offset in ((3, 1, 0), (1, 2, 4), (8, 3, 1), (0, 1, 2)):
            rows = [[a[first + offset + i * s + j * t] * 100 + s * 10 + t for j in range(3)] for i in range(2)]
            calls.append(([a, i32(s, t, offset, 0, 0), out], [K, K, np.array(rows, np.int32)]))
        edge = 24 - first - 6
        rows = [[a[first + edge + i * 3 + j] * 100 + 31 for j in range(3)] for i in range(2)]
        calls.append(([a, i32(3, 1, edge, 0, 0), out], [K, K, np.array(rows, np.int32)]))
        calls.append(([a, i32(3, 1, edge + 1, 0, 0), out], BOUNDS))
        calls.append(([a, i32(3, 1, -1 - first, 0, 0), out], BOUNDS))
        text = MADE.format(made=strided.format(data))
        ask(book, f"undefined.pointer.array-strides-{name}", "TIR-328 TIR-327 TIR-006", text, *calls)
    compact = "T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, 3), 0, 2, 0, N[2])"
    rows = [[a[5 + i * 3 + j] * 100 + 31 for j in range(3)] for i in range(2)]
    text = MADE.format(made=compact)
    ask(
        book,
        "tir.pointer.array-compact",
        "TIR-328 TIR-327",
        text,
        ([a, i32(0, 0, 5, 0, 0), out], [K, K, np.array(rows, np.int32)]),
    )
    text = MADE.format(
        made='T.tvm_stack_make_array(«T.reinterpret("handle", T.uint64(0)), T.tvm_stack_make_shape(2, 3), 0, 2, 0, 0)'
    )
    ask(book, "undefined.pointer.array-on-null", "TIR-328", text, ([a, i32(0, 0, 0, 0, 0), out], POINTER))


def _nulls(book):
    """Whether a handle is null, and what a number is as a handle."""
    params = 'n: T.int32, A: T.Buffer((2,), "int32"), R: T.Buffer((1,), "int32")'
    body = 'R[0] = 0\nif T.isnullptr(A.data):\n    R[0] = R[0] + 1\nif T.isnullptr(T.reinterpret("handle", T.uint64(0))):\n    R[0] = R[0] + 10\nif T.isnullptr(T.address_of(A[1])):\n    R[0] = R[0] + 100\nif T.isnullptr(T.reinterpret("handle", A.data)):\n    R[0] = R[0] + 1000'
    ask(book, "tir.pointer.null", "TIR-324 TIR-332", tir(params, body), ([0, i32(4, 5), ONE], [K, i32(10)]))
    body = 'V = T.decl_buffer((2,), "int32", data=T.reinterpret("handle", A.data))\nR[0] = V[n]'
    ask(book, "tir.pointer.reinterpreted", "TIR-332 TIR-207", tir(params, body), ([1, i32(4, 5), ONE], [K, i32(5)]))
    body = 'R[0] = 3\nif n > 0:\n    R[0] = T.Cast("int32", «T.reinterpret("uint64", A.data)»)'
    ask(book, "undefined.pointer.number-of-an-address", "TIR-332", tir(params, body), ([1, i32(4, 5), ONE], POINTER))
    for number in (1, 2**31 - 1):
        body = (
            f'R[0] = 3\nif n > 0:\n    if T.isnullptr(«T.reinterpret("handle", T.uint64({number}))»):\n        R[0] = 4'
        )
        ask(
            book,
            f"undefined.pointer.handle-of-{number}",
            "TIR-332",
            tir(params, body),
            ([0, i32(4, 5), ONE], [K, i32(3)]),
            ([1, i32(4, 5), ONE], POINTER),
        )
