"""TensorIR by hand: how buffers come into being: allocated, declared on a pointer, matched with a region."""

import numpy as np
from hand import K, ask, i32, new, tir, undefined
from tir_elements import BOUNDS, ONE, UNWRITTEN, series

EXTENT, FAILED, POINTER = undefined("RM315"), undefined("RM314"), undefined("RM313")


def storage(book):
    _allocated(book)
    _declared(book)
    _handles(book)
    _regions(book)
    _unstrided(book)
    _misfits(book)
    _variables(book)
    _parameters(book)
    book.write("storage", "Buffers: allocated, declared, matched.")


def _allocated(book):
    """Strides and an offset of fresh storage, seen through a view of all of it; it ends behind the last element."""
    fill = "for i, j in T.grid(2, 3):\n    B[i, j] = i * 10 + j\n"
    for name, how, expected in (
        ("strides", "strides=[4, 1]", {0: 0, 1: 1, 2: 2, 4: 10, 5: 11, 6: 12}),
        ("strides-swapped", "strides=[1, 2]", {0: 0, 2: 1, 4: 2, 1: 10, 3: 11, 5: 12}),
        ("offset", "elem_offset=2", {2: 0, 3: 1, 4: 2, 5: 10, 6: 11, 7: 12}),
        ("offset-and-strides", "strides=[5, 1], elem_offset=1", {1: 0, 2: 1, 3: 2, 6: 10, 7: 11, 8: 12}),
    ):
        size = max(expected) + 1
        for kind, alloc in (
            ("statement", f'B = T.alloc_buffer((2, 3), "int32", {how})\n{{}}'),
            ("block", f'with T.sblock("B"):\n    B = T.sblock_alloc_buffer((2, 3), "int32", {how})\n{{}}'),
            ("declared", f'B = T.decl_buffer((2, 3), "int32", {how})\n{{}}'),
        ):
            rest = f'{fill}V = T.decl_buffer(({size + 4},), "int32", data=B.data)\nR[0] = «V[n]»'
            if kind == "block":
                rest = "\n".join("    " + line for line in rest.split("\n"))
            calls = [([at, ONE], UNWRITTEN) for at in range(size) if at not in expected]
            calls.append(([size, ONE], BOUNDS))
            text = tir('n: T.int32, R: T.Buffer((1,), "int32")', alloc.format(rest))
            ask(book, f"undefined.storage.{kind}-{name}", "TIR-206 TIR-207 TIR-219 TIR-005", text, *calls)
    for kind, alloc in (
        ("alloc", '«B = T.alloc_buffer((n, m), "int32")»'),
        ("decl", '«B = T.decl_buffer((n, m), "int32")»'),
        ("view", '«B = T.decl_buffer((n, m), "int32", data=A.data)»'),
    ):
        use = "\nfor i, j in T.grid(n, m):\n    B[i, j] = i * 10 + j\nR[0] = 0\nfor i, j in T.grid(n, m):\n    R[0] = R[0] + B[i, j]"
        text = tir('n: T.int32, m: T.int32, A: T.Buffer((6,), "int32"), R: T.Buffer((1,), "int32")', alloc + use)
        after = [i32(0, 1, 10, 11, 20, 21), i32(63)] if kind == "view" else [K, i32(63)]
        zeros = i32(*[0] * 6)
        calls = [([3, 2, zeros, ONE], after), ([0, 2, zeros, ONE], [K, i32(0)]), ([3, 0, zeros, ONE], [K, i32(0)])]
        calls += [([a, b, zeros, ONE], EXTENT) for a, b in ((-1, 2), (3, -1), (-1, 0))]
        ask(book, f"undefined.storage.extents-{kind}", "TIR-206 TIR-207", text, *calls)
    lanes = 'B = T.alloc_buffer((3,), "int32x4")\nfor i in range(3):\n    B[i] = T.Ramp(i * 10, 1, 4)\nV = T.decl_buffer((16,), "int32", data=B.data)\nR[0] = «V[n]»'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', lanes)
    ask(book, "undefined.storage.lanes", "TIR-206 TIR-205 TIR-005", text, ([12, ONE], BOUNDS))
    text = text.replace("(16,)", "(12,)")
    ask(
        book,
        "tir.storage.lanes",
        "TIR-206 TIR-205 TIR-005",
        text,
        ([11, ONE], i32(23)),
        ([4, ONE], i32(10)),
        ([0, ONE], i32(0)),
    )


def _declared(book):
    """Without data it is fresh each time; with data a view, from an offset on, of another dtype."""
    body = 'for i in range(3):\n    B = T.decl_buffer((2,), "int32")\n    if i == 0:\n        B[0] = 5\n    B[1] = i\n    if i >= n:\n        R[0] = «B[0]» + B[1]'
    text = tir('n: T.int32, R: T.Buffer((1,), "int32")', body)
    ask(
        book,
        "undefined.storage.declared-afresh",
        "TIR-207 TIR-206",
        text,
        ([3, i32(9)], K),
        ([2, ONE], UNWRITTEN),
        ([0, ONE], UNWRITTEN),
    )
    body = 'V = T.decl_buffer((2, 2), "int32", data=A.data, strides=[n, m], elem_offset=k)\nfor i, j in T.grid(2, 2):\n    R[i, j] = V[i, j]'
    text = tir('n: T.int32, m: T.int32, k: T.int32, A: T.Buffer((9,), "int32"), R: T.Buffer((2, 2), "int32")', body)
    a, out = series((9,)), new([2, 2], "int32")
    calls = []
    for n, m, k in ((1, 2, 0), (4, 1, 2), (3, 3, 1), (0, 5, 3)):
        picked = [[a[k + i * n + j * m] for j in range(2)] for i in range(2)]
        calls.append(([n, m, k, a, out], [K, np.array(picked, np.int32)]))
    ask(book, "tir.storage.declared-by-variables", "TIR-207 TIR-005", text, *calls)
    body = 'V = T.decl_buffer((3,), "int16", data=A.data, elem_offset=3)\nfor i in range(3):\n    R[i] = T.Cast("int32", V[i])'
    text = tir('A: T.Buffer((3,), "int32"), R: T.Buffer((3,), "int32")', body)
    ask(
        book,
        "tir.storage.declared-other-dtype",
        "TIR-207 TIR-005",
        text,
        ([i32(0x10002, 0x30004, -0x50006), new([3], "int32")], [K, i32(3, -6, -6)]),
    )
    nested = 'V = T.decl_buffer((8,), "int32", data=A.data, elem_offset=2)\nW = T.decl_buffer((2, 2), "int32", data=V.data, elem_offset=1, strides=[3, 2])\nR[0] = V[0] * 100 + W[1, 1]'
    text = tir('A: T.Buffer((10,), "int32"), R: T.Buffer((1,), "int32")', nested)
    ask(book, "tir.storage.declared-on-a-view", "TIR-207 TIR-005", text, ([series((10,)), ONE], [K, i32(1700 + 45)]))


CALLED = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6,), "int32"), R: T.Buffer((1,), "int32")):
        T.evaluate(T.call_packed("{name}", A, R))

    @T.prim_func(s_tir=True)
    def {name}(p: T.handle("int32"), R: T.Buffer((1,), "int32")):
        T.func_attr({{"global_symbol": "{name}"}})
{body}
"""


def _handles(book):
    """A handle that no buffer is matched with may be a tensor: it points to the first element."""
    a = series((6,))
    rows = (
        ("declared", 'V = T.decl_buffer((2,), "int32", data=p, elem_offset=3)\nR[0] = V[0] * 100 + V[1]', 2431),
        (
            "bytes",
            'V = T.decl_buffer((2,), "int32", data=T.handle_add_byte_offset(p, 8))\nR[0] = V[0] * 100 + V[1]',
            1724,
        ),
        (
            "access",
            'V = T.decl_buffer((2,), "int32", data=T.tvm_access_ptr(T.type_annotation("int32"), p, 1, 2, 1))\nR[0] = V[0] * 100 + V[1]',
            1017,
        ),
        ("null", "R[0] = T.Select(T.isnullptr(p), 1, 2)", 2),
    )
    for name, body, expected in rows:
        lines = "\n".join("        " + line for line in body.split("\n"))
        text = CALLED.format(name=f"of_{name}", body=lines)
        ask(book, f"tir.storage.handle-{name}", "TIR-002 TIR-207", text, ([a, ONE], [K, i32(expected)]))
        if name != "null":
            whole = text.replace("A: T.Buffer((6,)", "A: T.Buffer((9,)").replace(
                '"{}", A, R'.format(f"of_{name}"),
                f'"of_{name}", T.tvm_stack_make_array(T.handle_add_byte_offset(A.data, 12), T.tvm_stack_make_shape(6), 0, 1, 0, 0), R',
            )
            moved = {2431: 4552, 1724: 3845, 1017: 3138}[expected]
            ask(
                book,
                f"tir.storage.handle-{name}-moved",
                "TIR-002 TIR-207 TIR-328",
                whole,
                ([series((9,)), ONE], [K, i32(moved)]),
            )


def block(lines, declared="T.reads(A[0:4, 0:5])\nT.writes(R[0])"):
    """A block with an axis in a loop of one round, around these lines."""
    inner = "\n".join("        " + line for line in f"{declared}\n{lines}".split("\n"))
    return f'for z in range(1):\n    with T.sblock("B"):\n        vz = T.axis.spatial(1, z)\n{inner}'


GRID = 'A: T.Buffer((4, 5), "int32"), N: T.Buffer((4,), "int32"), R: T.Buffer((1,), "int32")'


def _regions(book):
    """Regions by variables: inside, at the border, empty, beyond it on each side; the buffer's element is the region's."""
    a = series((4, 5))
    region = "A[N[0]:N[0] + N[1], N[2]:N[2] + N[3]]"
    lines = f'n = T.int32()\nm = T.int32()\nM = «T.match_buffer({region}, (n, m), "int32", strides=[5, 1], offset_factor=1)»\nR[0] = n * 1000 + m * 100\nif n > 0:\n    if m > 0:\n        R[0] = n * 1000 + m * 100 + M[n - 1, m - 1]'
    text = tir(GRID, block(lines, "T.reads(A[0:4, 0:5], N[0:4])\nT.writes(R[0])"))
    calls = []
    for first, size, left, width in (
        (0, 4, 0, 5),
        (1, 2, 2, 3),
        (3, 1, 4, 1),
        (4, 0, 0, 5),
        (0, 4, 5, 0),
        (2, 2, 1, 2),
    ):
        last = int(a[first + size - 1, left + width - 1]) if size and width else 0
        calls.append(([a, i32(first, size, left, width), ONE], [K, K, i32(size * 1000 + width * 100 + last)]))
    outside = ((0, 5, 0, 5), (1, 4, 0, 5), (-1, 2, 0, 5), (0, 4, 1, 5))
    outside += ((0, 4, -1, 2), (0, -1, 0, 5), (0, 4, 3, -2), (5, 0, 0, 1))
    calls += [([a, i32(*one), ONE], BOUNDS) for one in outside]
    ask(book, "undefined.storage.region-bounds", "TIR-220", text, *calls)
    params = 'A: T.Buffer((3, 4, 5), "int32"), N: T.Buffer((2,), "int32"), R: T.Buffer((2, 3), "int32")'
    a = series((3, 4, 5))
    lines = 's = T.int32()\nt = T.int32()\ne = T.int32()\nM = T.match_buffer(A[N[0], 1:3, N[1]:N[1] + 3], (2, 3), "int32", strides=[s, t], elem_offset=e, offset_factor=1)\nfor i, j in T.grid(2, 3):\n    R[i, j] = M[i, j] * 1000 + e * 10 + s + t'
    text = tir(params, block(lines, "T.reads(A[0:3, 0:4, 0:5], N[0:2])\nT.writes(R[0:2, 0:3])"))
    calls = []
    for i, j in ((0, 0), (2, 2), (1, 1)):
        found = a[i, 1:3, j : j + 3] * 1000 + (i * 20 + 5 + j) * 10 + 6
        calls.append(([a, i32(i, j), new([2, 3], "int32")], [K, K, found.astype(np.int32)]))
    ask(book, "tir.storage.region-of-a-region", "TIR-220 TIR-004", text, *calls)
    lines = 'e = T.int32()\nV = T.decl_buffer((2, 3), "int32", data=A.data, strides=[7, 2], elem_offset=1)\nwith T.sblock("inner"):\n    T.reads(V[0:2, 0:3])\n    T.writes(R[0])\n    M = T.match_buffer(V[1, 1:3], (2,), "int32", elem_offset=e, strides=[2], offset_factor=1)\n    R[0] = M[1] * 100 + e'
    text = tir('A: T.Buffer((4, 5), "int32"), R: T.Buffer((1,), "int32")', block(lines))
    ask(
        book,
        "tir.storage.region-of-a-view",
        "TIR-220 TIR-207",
        text,
        ([series((4, 5)), ONE], [K, i32((12 * 7 + 3) * 100 + 10)]),
    )
    lines = 'e = T.int32()\nM = T.match_buffer(A[2, 1:4], (3,), "int32", elem_offset=e, offset_factor=1)\nM[2] = e\nR[0] = M[0]'
    text = tir(
        'A: T.Buffer((4, 5), "int32"), R: T.Buffer((1,), "int32")',
        block(lines, "T.reads(A[2, 1:4])\nT.writes(A[2, 1:4], R[0])"),
    )
    wanted = series((4, 5))
    wanted[2, 3] = 11
    ask(book, "tir.storage.region-offset", "TIR-220", text, ([series((4, 5)), ONE], [wanted, i32(80)]))


def _unstrided(book):
    """Regions whose declaration names no strides: the elements are those of the region all the same."""
    a = series((4, 5))
    lines = 'M = T.match_buffer(A[N[0]:N[0] + 2, N[1]:N[1] + 3], (2, 3), "int32", offset_factor=1)\nR[0] = M[0, 1] * 10000 + M[1, 0] * 100 + M[1, 2]'
    text = tir(GRID, block(lines, "T.reads(A[0:4, 0:5], N[0:4])\nT.writes(R[0])"))
    calls = []
    for i, j in ((0, 0), (2, 2), (1, 1)):
        found = int(a[i, j + 1]) * 10000 + int(a[i + 1, j]) * 100 + int(a[i + 1, j + 2])
        calls.append(([a, i32(i, j, 0, 0), ONE], [K, K, i32(found)]))
    ask(book, "tir.storage.region-without-strides", "TIR-220", text, *calls)
    lines = 'M = T.match_buffer(A[N[0], N[1]:N[1] + 3], (3,), "int32", offset_factor=1)\nR[0] = M[0] * 10000 + M[2]'
    text = tir(GRID, block(lines, "T.reads(A[0:4, 0:5], N[0:4])\nT.writes(R[0])"))
    calls = [
        ([a, i32(i, j, 0, 0), ONE], [K, K, i32(int(a[i, j]) * 10000 + int(a[i, j + 2]))]) for i, j in ((0, 0), (3, 2))
    ]
    ask(book, "tir.storage.region-row", "TIR-220", text, *calls)


def _misfits(book):
    """A declaration that is not what its region is."""
    a = series((4, 5))
    for name, region, shape, more in (
        ("extent", "A[0:N[0], 0:5]", (2, 5), "strides=[5, 1]"),
        ("second-extent", "A[0:2, 0:N[0]]", (2, 2), "strides=[5, 1]"),
        ("leading", "A[0:N[0] - 1, 0:2]", (2,), "strides=[1]"),
        ("stride", "A[0:2, 0:2]", (2, 2), "strides=[N[0] + 3, 1]"),
        ("last-stride", "A[0:2, 0:2]", (2, 2), "strides=[5, N[0] - 1]"),
        ("offset", "A[1:2, 2:4]", (1, 2), "strides=[5, 1], elem_offset=N[0] + 5"),
    ):
        lines = f'M = «T.match_buffer({region}, {shape}, "int32", {more}, offset_factor=1)»\nR[0] = M[{"0, 1" if len(shape) == 2 else "1"}]'
        text = tir(GRID, block(lines, "T.reads(A[0:4, 0:5], N[0:4])\nT.writes(R[0])"))
        calls = [([a, i32(n, 0, 0, 0), ONE], FAILED) for n in (1, 3)]
        ask(book, f"undefined.storage.region-{name}", "TIR-220 TIR-004", text, *calls)
    more = 'M = «T.match_buffer(A[0:4, 0:5], (1, 4, 5), "int32", offset_factor=1)»\nR[0] = M[0, 1, 1]'
    ask(
        book,
        "undefined.storage.region-more-axes",
        "TIR-220",
        tir(GRID, block(more)),
        ([a, i32(0, 0, 0, 0), ONE], FAILED),
    )
    fewer = 'M = «T.match_buffer(A[0:4, 0:5], (5,), "int32", offset_factor=1)»\nR[0] = M[1]'
    ask(
        book,
        "undefined.storage.region-fewer-axes",
        "TIR-220",
        tir(GRID, block(fewer)),
        ([a, i32(0, 0, 0, 0), ONE], FAILED),
    )
    same = 'n = T.int32()\nM = «T.match_buffer(A[0:N[0], 0:N[1]], (n, n), "int32", strides=[5, 1], offset_factor=1)»\nR[0] = M[n - 1, n - 1] + n'
    text = tir(GRID, block(same, "T.reads(A[0:4, 0:5], N[0:4])\nT.writes(R[0])"))
    calls = [([a, i32(*one, 0, 0), ONE], FAILED) for one in ((2, 3), (3, 2))]
    ask(book, "undefined.storage.region-same-variable", "TIR-220 TIR-004", text, *calls)


NARROW = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer(({size},), "int32"), R: T.Buffer((1,), "int32")):
        T.evaluate(T.call_packed("narrow", A, R))

    @T.prim_func(s_tir=True)
    def narrow(a: T.handle, R: T.Buffer((1,), "int32")):
        T.func_attr({{"global_symbol": "narrow"}})
        n = T.{dtype}()
        A = «T.match_buffer(a, (n,), "int32")
        R[0] = T.Cast("int32", n) + A[0]
"""


def _variables(book):
    """Variables of few bits, at the last extent that they can have."""
    for dtype, last in (("int8", 127), ("uint8", 255)):
        for size in (1, last, last + 1):
            wanted = [K, i32(size + 3)] if size <= last else FAILED
            text = NARROW.format(size=size, dtype=dtype)
            if size <= last:
                text = text.replace("«", "")
            given = {"dtype": "int32", "shape": [size], "generator": "cycle", "start": 3, "step": 0, "modulus": 7}
            stem = "tir" if size <= last else "undefined"
            ask(book, f"{stem}.storage.variable-{dtype}-{size}", "TIR-004", text, ([given, ONE], wanted))
        text = NARROW.format(size=0, dtype=dtype).replace("«", "").replace(" + A[0]", " + 4")
        ask(book, f"tir.storage.variable-{dtype}-0", "TIR-004", text, ([i32(), ONE], [K, i32(4)]))


RANKS = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer({shape}, "int32"), R: T.Buffer((1,), "int32")):
        T.evaluate(T.call_packed("inner", A, R))

    @T.prim_func(s_tir=True)
    def inner(a: T.handle, R: T.Buffer((1,), "int32")):
        T.func_attr({{"global_symbol": "inner"}})
        {names}
        A = «T.match_buffer(a, {declared}, "int32"{more})»
        R[0] = {value}
"""


def _parameters(book):
    """What a function is given within the module: another rank, extents that are to be the same, strides."""
    rows = (
        ("rank", (2, 3), "n = T.int32()", "(n,)", "", "n", FAILED),
        ("rank-of-one", (6,), "n = T.int32()\n        m = T.int32()", "(n, m)", "", "n + m", FAILED),
        ("square", (2, 3), "n = T.int32()", "(n, n)", "", "n", FAILED),
        ("square-fits", (3, 3), "n = T.int32()", "(n, n)", "", "n * 10 + A[2, 1]", i32(30 + 52)),
        ("twice", (3, 6), "n = T.int32()", "(n, n * 2)", "", "n * 100 + A[1, 5]", i32(300 + 80)),
        ("twice-not", (3, 5), "n = T.int32()", "(n, n * 2)", "", "n", FAILED),
        (
            "strides",
            (2, 3),
            "s = T.int64()\n        t = T.int64()",
            "(2, 3)",
            ", strides=[s, t]",
            'T.Cast("int32", s * 10 + t)',
            i32(31),
        ),
        ("strides-not", (2, 3), "s = T.int64()", "(2, 3)", ", strides=[s, s]", 'T.Cast("int32", s)', FAILED),
        ("offset", (2, 3), "e = T.int32()", "(2, 3)", ", elem_offset=e", "e + A[1, 1]", i32(31)),
    )
    for name, shape, names, declared, more, value, wanted in rows:
        text = RANKS.format(shape=shape, names=names, declared=declared, more=more, value=value)
        fits = not isinstance(wanted, dict)
        stem = "tir" if fits else "undefined"
        text = text if not fits else text.replace("«", "").replace("»", "")
        ask(
            book,
            f"{stem}.storage.parameter-{name}",
            "TIR-003 TIR-004",
            text,
            ([series(shape), ONE], [K, wanted] if fits else wanted),
        )
