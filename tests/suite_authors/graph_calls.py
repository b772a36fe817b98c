"""Relax by hand, densely: what is called, with what, and what is allocated for it; closures; memory of a plan."""

import numpy as np
from graph_usual import graph
from hand import K, boolean, f32, i64, new, reject, trap, undefined
from relax_machine import by_name
from relax_usual import FUNCS, PAIR, T2, X, Y

OUT = f"out_ty={T2}"
FULL = {"funcs": FUNCS, "params": f"x: {T2}"}
TWO = {"funcs": FUNCS, "params": f"x: {T2}, z: {T2}"}


THREE = PAIR.replace("[R", '[R.Tensor((2,), "float32"), R')
MORE = """
    @T.prim_func
    def three(A: T.Buffer((2,), "float32"), S: T.Buffer((2,), "float32"), P: T.Buffer((2,), "float32")):
        for i in range(2):
            S[i] = A[i] + A[i]
            P[i] = A[i] * A[i]
            A[i] = A[i] + T.float32(1)
"""


def in_place(book):
    """Outputs that are arguments, the first or a later one, and fresh ones between them."""
    rows = [
        ("fresh-first", "both, (x, z), inplace_indices=[-1, 1]", PAIR, [X, Y], [f32(4, 9), f32(4, 6), K, f32(4, 6)]),
        ("both", "bump_into, (x, z), inplace_indices=[0, 1]", PAIR, [X, Y], [f32(3, 4), X, f32(3, 4), X]),
        ("crossed", "bump_into, (x, z), inplace_indices=[1, 0]", PAIR, [X, Y], [X, f32(3, 4), f32(3, 4), X]),
        ("one-in-tuple", "bump, (x,), inplace_indices=[0]", f"out_ty=[{T2}]", [X], [f32(3, 4), f32(3, 4)]),
        (
            "two-fresh",
            "three, (x,), inplace_indices=[-1, 0, -1]",
            THREE,
            [X],
            [f32(4, 6), f32(3, 4), f32(4, 9), f32(3, 4)],
        ),
        ("no-list", "bump, (x,), inplace_indices=0", OUT, [X], [f32(3, 4), f32(3, 4)]),
    ]
    for name, args, out, given, wanted in rows:
        lines = f"y = R.call_tir_inplace(cls.{args}, {out})\nreturn y"
        more = {**(TWO if len(given) == 2 else FULL), "funcs": FUNCS + MORE}
        graph(book, f"relax.graph-inplace.{name}", "RLX-202", lines, (given, wanted), **more)
    lines = f"y = «R.call_tir_inplace(cls.both, (x, z), inplace_indices=[0, 1], {PAIR})»\nreturn y"
    lines = lines.replace("cls.both", "cls.bump_into")
    other = 'x: R.Tensor((2,), "float32"), z: R.Any'
    calls = [([X, bad], undefined("RM317")) for bad in (f32(1), np.zeros(2, np.int32), (2,), 5)]
    graph(book, "undefined.graph-inplace.second", "RLX-202", lines, *calls, funcs=FUNCS, params=other)
    lines = f"y = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], {OUT})\nz = R.add(y, y)\nreturn z"
    graph(book, "relax.graph-inplace.used", "RLX-202", lines, ([X], [f32(6, 8), f32(3, 4)]), **FULL)
    for name, end in (("returned", "return «x»"), ("in-a-tuple", "return «(y, x)»")):
        lines = f"y = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], {OUT})\n{end}"
        call = ([X], {"kind": "undefined", "code": "RM328"})
        graph(
            book,
            f"undefined.graph-inplace.old-{name}",
            "RLX-214",
            lines.replace("«", "").replace("»", ""),
            call,
            **FULL,
        )
    for name, form in (
        ("indices-of-more", f"bump_into, (x,), inplace_indices=[0, -2], {OUT}"),
        ("indices-of-fewer", f"both, (x,), inplace_indices=[0], {PAIR}"),
    ):
        lines = f"y = «R.call_tir_inplace(cls.{form})»\nreturn y"
        graph(book, f"reject.graph-inplace.{name}", "RLX-202", lines, ([X], reject("RM206")), **FULL)
    for name, indices in (("below", "[-2]"), ("number", "[0, -2]")):
        out = PAIR if name == "number" else OUT
        args = "bump_into, (x, z)" if name == "number" else "bump, (x,)"
        lines = f"y = «R.call_tir_inplace(cls.{args}, inplace_indices={indices}, {out})»\nreturn y"
        more = TWO if name == "number" else FULL
        given = [X, Y] if name == "number" else [X]
        graph(book, f"reject.graph-inplace.{name}", "RLX-202", lines, (given, reject("RM206")), **more)
    for number in (1, 2):
        lines = f"y = «R.call_tir_inplace(cls.bump, (x,), inplace_indices=[{number}], {OUT})»\nreturn y"
        graph(book, f"undefined.graph-inplace.argument-{number}", "RLX-202", lines, ([X], undefined("RM304")), **FULL)


def outputs(book):
    """Outputs by the type that is given: a list of one, symbolic extents, no shape, no dtype, no tensor."""
    lines = f"y = R.call_tir(cls.twice, (x,), out_ty=[{T2}])\nreturn y"
    graph(book, "relax.graph-output.list-of-one", "RLX-201", lines, ([X], [f32(4, 6), K]), **FULL)
    lines = 'y = R.call_dps_packed("twice", (x,), out_ty=R.Tensor((n * 2 - m,), "float32"))\nreturn y'
    head = "n, m = T.int64(), T.int64()\n"
    params = 'x: R.Tensor(("n",), "float32"), a: R.Tensor(("m",), "float32")'
    calls = [([f32(1, 2), f32(0, 0)], [f32(2, 4), K, K]), ([f32(7), f32(1)], [f32(14), K, K])]
    graph(book, "relax.graph-output.symbolic", "RLX-204 RLX-022", head + lines, *calls, funcs=FUNCS, params=params)
    rows = [
        ("no-shape", 'R.Tensor("float32", ndim=1)', "RM202"),
        ("no-dtype", "R.Tensor((2,))", "RM201"),
        ("no-tensor", "R.Any", "RM201"),
        ("shape", "R.Shape([2])", "RM201"),
        ("second-no-tensor", f"[{T2}, R.Any]", "RM201"),
    ]
    for name, out, code in rows:
        lines = f'y = «R.call_dps_packed("copy", (x,), out_ty={out})»\nreturn y'
        graph(book, f"reject.graph-output.{name}", "RLX-204 RLX-201", lines, ([X], reject(code)), **FULL)
    lines = f"y = «R.call_tir(x, (x,), {OUT})»\nreturn y"
    graph(book, "reject.graph-output.no-function", "RLX-201", lines, ([X], reject("RM201")), **FULL)
    lines = 'y = «R.call_dps_packed("no.such.function", (x,), out_ty=R.Tensor((2,), "float32"))»\nreturn y'
    graph(book, "trap.graph-output.missing", "RLX-204 RLX-132", lines, ([X], trap("RM402")), **FULL)
    lines = f'y = R.call_dps_packed("add_relax", (x, z), {OUT})\nreturn y'
    more = {**TWO, "funcs": FUNCS + ADDS}
    lines = lines.replace("add_relax", "adds")
    graph(book, "relax.graph-output.result-is-not-looked-at", "RLX-204", lines, ([X, Y], [f32(12, 23), K, K]), **more)


ADDS = """
    @T.prim_func
    def adds(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32"), C: T.Buffer((2,), "float32")) -> T.int32:
        T.func_attr({"global_symbol": "adds"})
        for i in range(2):
            C[i] = A[i] + B[i]
        return 7
"""


def by_names(book):
    """Calls by name: how many arguments, of what kind; the module hides functions of the machine."""
    rows = [
        ("shape-of-2", "shape_of", "x, x"),
        ("copy-0", "copy", ""),
        ("reshape-1", "reshape", "x"),
        ("reshape-3", "reshape", "x, x, x"),
        ("tuple-1", "tuple_getitem", "x"),
        ("heap-2", "alloc_shape_heap", "1, 2"),
    ]
    for name, function, args in rows:
        given = ", ".join(part for part in (f'"vm.builtin.{function}"', args) if part)
        lines = f"y = «R.call_packed({given}, ty_args=(R.Any,))»\nreturn y"
        graph(book, f"reject.graph-name.{name}", "RLX-132", lines, ([X], reject("RM206")))
    lines = f"y = {by_name('to_device', 'x', '1', '0')}\nz = {by_name('to_device', 'y')}\nreturn z"
    graph(book, "relax.graph-name.to-device", "RLX-405", lines, ([X], [X, K]))
    lines = 'f: R.Any = R.ExternFunc("vm.builtin.shape_of")\ny = f(x)\nreturn y'
    graph(
        book, "relax.graph-name.value", "RLX-111 RLX-133", lines, ([X], [(2,), K]), ([f32().reshape(0, 3)], [(0, 3), K])
    )
    lines = 'f: R.Any = «R.ExternFunc("no.such.function")»\ny = f(x)\nreturn y'
    graph(book, "trap.graph-name.value-missing", "RLX-111 RLX-132", lines, ([X], {"kind": "trap", "code": "RM402"}))
    lines = "y = «x(x)»\nreturn y"
    graph(book, "reject.graph-name.no-function", "RLX-133", lines, *(([one], reject("RM201")) for one in (X, 5, (2,))))
    for form in ("call_pure_packed", "call_inplace_packed"):
        more = ", inplace_indices=[0]" if "inplace" in form else ""
        lines = f"y = «R.{form}(x, x{more}, ty_args=R.Any)»\nreturn y"
        graph(book, f"reject.graph-name.{form.replace('_', '-')}", "RLX-205 RLX-206", lines, ([X], reject("RM201")))
    lines = 'y = «R.call_packed("vm.builtin.shape_of", x, ty_args=R.Shape(ndim=2))»\nreturn y'
    graph(
        book,
        "trap.graph-name.result",
        "RLX-132",
        lines,
        ([X], trap("RM404")),
        ([f32(1).reshape(1, 1, 1)], trap("RM404")),
    )
    plain = lines.replace("«", "").replace("»", "")
    graph(book, "relax.graph-name.result", "RLX-132", plain, ([f32(1).reshape(1, 1)], [(1, 1), K]))
    lines = 'y = «R.call_packed("vm.builtin.copy", x, ty_args=(R.Shape(ndim=1), R.Any))»\nreturn y'
    plain = lines.replace("«", "").replace("»", "")
    graph(book, "relax.graph-name.several-types", "RLX-132", plain, ([[(3,), 5]], [(3,), 5]))
    calls = [([bad], trap("RM404")) for bad in ([(3, 4), 5], [(3,)], (3,), X)]
    graph(book, "trap.graph-name.several-types", "RLX-132", lines, *calls)
    lines = 'y = R.call_packed("vm.builtin.shape_of", x, ty_args=R.Tuple())\nreturn x'
    graph(book, "relax.graph-name.result-does-not-matter", "RLX-132", lines, ([X], [X, K]))
    lines = 'y = «R.call_builtin_with_ctx("vm.builtin.shape_of", (x,), ty_args=R.Shape([3]))»\nreturn y'
    graph(book, "trap.graph-name.result-of-builtin", "RLX-132 RLX-208", lines, ([X], trap("RM404")))


def closures(book):
    """What is captured goes last; a closure of a closure; wrong numbers and kinds."""
    rows = [
        ("all-captured", "cls.minus, (x, z)", "()", f32(-8, -17)),
        ("none-captured", "cls.minus, ()", "(x, z)", f32(-8, -17)),
        ("one-captured", "cls.minus, (x,)", "(z,)", f32(8, 17)),
    ]
    minus = (
        FUNCS
        + f"""
    @R.function
    def minus(a: {T2}, b: {T2}) -> {T2}:
        return R.subtract(a, b)
"""
    )
    more = {**TWO, "funcs": minus}
    for name, made, args, wanted in rows:
        lines = f"f = R.make_closure({made})\ny = R.invoke_closure(f, {args}, ty_args={T2})\nreturn y"
        graph(book, f"relax.graph-closure.{name}", "RLX-211 RLX-212", lines, ([X, Y], [wanted, K, K]), **more)
    at_minus = {**TWO, "funcs": minus.replace("def minus", "«def minus")}
    for name, made, args in (("few", "(x,)", "()"), ("many", "(x,)", "(x, z)")):
        lines = f"f = R.make_closure(cls.minus, {made})\ny = R.invoke_closure(f, {args}, ty_args=R.Any)\nreturn y"
        graph(book, f"reject.graph-closure.{name}", "RLX-211 RLX-116", lines, ([X, Y], reject("RM206")), **at_minus)
    lines = "y = «R.invoke_closure(x, (), ty_args=R.Any)»\nreturn y"
    graph(book, "reject.graph-closure.invoked", "RLX-212", lines, *(([one], reject("RM201")) for one in (X, 5, [X])))
    lines = "f = «R.make_closure(x, (x,))»\nreturn x"
    graph(book, "reject.graph-closure.made", "RLX-211", lines, *(([one], reject("RM201")) for one in (X, 5, (2,))))
    lines = 't = R.builtin.alloc_tensor(R.shape([3]), R.dtype("int64"), R.prim_value(0), R.str("global"))\n_ = R.vm.call_tir_dyn(cls.fill, (t, {}))\nreturn t'
    for name, args in (("shape", "R.shape([3, 9])"), ("number-and-shape", "R.prim_value(3), R.shape([9])")):
        graph(book, f"relax.graph-dyn.{name}", "RLX-213", lines.format(args), ([X], [i64(9, 9, 9), K]), **FULL)


LOCAL = """
@R.function
def inner(k: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
    c = R.less_equal(k, R.const(1, "int64"))
    if c:
        y = R.const(1, "int64")
    else:
        m = R.subtract(k, R.const(1, "int64"))
        r = inner(m)
        y = R.multiply(k, r)
    return y
z = inner(x)
return z"""


def local_functions(book):
    """Local functions: they see what is around them as it was, and themselves."""
    scalar = [i64(value).reshape(()) for value in (5, 120, 1)]
    params = 'x: R.Tensor((), "int64")'
    calls = [([scalar[0]], [scalar[1], K]), ([scalar[2]], [scalar[2], K])]
    graph(book, "relax.graph-local.recursion", "RLX-116 RLX-901", LOCAL.lstrip(), *calls, params=params)
    lines = 'y = R.add(x, x)\n@R.function\ndef inner(k: R.Tensor((2,), "float32")) -> R.Any:\n    z = R.add(y, k)\n    return z\nR.vm.kill_object(y)\nz = inner(x)\nreturn z'
    graph(
        book, "relax.graph-local.captured-by-value", "RLX-116 RLX-304", lines, ([X], [f32(6, 9), K]), params=f"x: {T2}"
    )
    lines = 'n = T.int64()\n@R.function\ndef inner(k: R.Any) -> R.Any:\n    «z: R.Tensor((n,), "float32") = k»\n    return R.shape([n, n])\nz = inner(a)\nreturn z'
    plain = lines.replace("«", "").replace("»", "")
    params = 'x: R.Tensor(("n",), "float32"), a: R.Any'
    graph(book, "relax.graph-local.dimensions", "RLX-116", plain, ([X, X], [(2, 2), K, K]), params=params)
    calls = [([X, f32(1, 2, 3)], undefined("RM317"))]
    graph(book, "undefined.graph-local.dimensions", "RLX-116", lines, *calls, params=params)
    lines = '@R.function\ndef inner(k: R.Tensor(("m",), "float32")) -> R.Any:\n    m = T.int64()\n    return R.shape([m])\ny = inner(x)\nz = inner(a)\nreturn (y, z)'
    graph(
        book,
        "relax.graph-local.own-dimensions",
        "RLX-116 RLX-021",
        lines,
        ([X, f32(1, 2, 3)], [(2,), (3,), K, K]),
        params='x: R.Tensor(("n",), "float32"), a: R.Tensor(("k",), "float32")',
    )
    lines = "@R.function\ndef inner(k: R.Any) -> R.Any:\n    return k\nf: R.Any = inner\ny = f({})\nreturn y"
    for name, args in (("few", ""), ("many", "x, x")):
        graph(book, f"reject.graph-local.{name}", "RLX-116 RLX-133", lines.format(args), ([X], reject("RM206")))


def memory(book):
    """Storages of several forms, tensors at their borders, what a plan may not do."""
    store = 's = R.memory.alloc_storage(R.shape({}), R.prim_value(0), R.str("global"), R.dtype("{}"))\n'
    at = 't = «R.memory.alloc_tensor(s, n, R.shape([{}]), R.dtype("float32"), 0)»\n'
    rows = [
        ("bytes", "[24]", "uint8"),
        ("bytes-of-floats", "[24]", "float32"),
        ("elements", "[2, 3]", "float32"),
        ("halves", "[2, 3, 2]", "float16"),
    ]
    both = f'x: {T2}, n: R.Prim("int64")'
    more = {"funcs": FUNCS, "params": both}
    for name, shape, dtype in rows:
        lines = store.format(shape, dtype) + at.format(2)
        good = lines.replace("«", "").replace("»", "") + "cls.copy(x, t)\nreturn t"
        graph(book, f"relax.graph-storage.{name}", "RLX-302 RLX-303", good, ([X, 0], [X, K]), ([X, 16], [X, K]), **more)
        calls = [([X, offset], undefined("RM304")) for offset in (17, 20, -4, -1, 24)]
        graph(book, f"undefined.graph-storage.{name}", "RLX-302 RLX-303", lines + "return t", *calls, **more)
    lines = store.format("[24]", "uint8") + at.format(0) + "return t"
    plain = lines.replace("«", "").replace("»", "")
    nothing = np.zeros(0, np.float32)
    graph(
        book, "relax.graph-storage.nothing", "RLX-303", plain, ([X, 24], [nothing, K]), ([X, 0], [nothing, K]), **more
    )
    calls = [([X, 25], undefined("RM304")), ([X, -1], undefined("RM304"))]
    graph(book, "undefined.graph-storage.nothing", "RLX-303", lines, *calls, **more)
    for name, form, code in (
        (
            "size",
            's = «R.memory.alloc_storage(R.shape([n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))»',
            "RM315",
        ),
        (
            "tensor",
            't = «R.builtin.alloc_tensor(R.shape([2, n]), R.dtype("float32"), R.prim_value(0), R.str("global"))»',
            "RM315",
        ),
    ):
        graph(
            book,
            f"undefined.graph-storage.negative-{name}",
            "RLX-301 RLX-302",
            f"{form}\nreturn x",
            ([X, -1], undefined(code)),
            **more,
        )
    kill = "y = R.add(x, x)\nR.vm.kill_object(y)\nreturn y"
    graph(
        book, "undefined.graph-storage.killed", "RLX-304", kill, ([X], {"kind": "undefined", "code": "RM316"}), **FULL
    )
    kill = "y = R.add(x, x)\nR.memory.kill_tensor(y)\nR.memory.kill_tensor(y)\nreturn x"
    graph(
        book,
        "undefined.graph-storage.killed-twice",
        "RLX-304",
        kill,
        ([X], {"kind": "undefined", "code": "RM316"}),
        **FULL,
    )
    kill = "t = (x, z)\ny = t[1]\nR.vm.kill_object(t)\nreturn y"
    graph(book, "relax.graph-storage.field-lives", "RLX-304", kill, ([X, Y], [Y, K, K]), **TWO)


def values(book):
    """Conditions, fields, prints and assertions of values of any kind."""
    lines = "if x:\n    y = R.prim_value(1)\nelse:\n    y = R.prim_value(2)\nreturn y"
    true, false = (boolean(one).reshape(()) for one in (True, False))
    calls = [([true], [1, K]), ([false], [2, K]), ([True], 1), ([False], 2)]
    graph(book, "relax.graph-if.any", "RLX-114", lines, *calls)
    bad = [f32(1).reshape(()), (1,), [1], 0.5, 1.0, 0.0]
    graph(book, "reject.graph-if.any", "RLX-114", lines, *(([one], reject("RM201")) for one in bad))
    graph(book, "undefined.graph-if.unwritten", "RLX-114 TIR-007", lines, ([new([], "bool")], undefined("RM305")))
    lines = "y = «x[1]»\nreturn y"
    plain = lines.replace("«", "").replace("»", "")
    graph(
        book,
        "relax.graph-field.any",
        "RLX-110",
        plain,
        ([[5, 6]], 6),
        ([[5, (2, 3)]], [(2, 3)]),
        params="x: R.Tuple(R.Any, R.Any)",
    )
    bad = [[5], [], X, (1, 2), 5]
    graph(book, "reject.graph-field.any", "RLX-110", lines, *(([one], reject("RM201")) for one in bad))
    rows = [
        ("one", "x, ", '"{}"'),
        ("two", "x, 5, ", '"{1} {0} {{}}"'),
        ("none", "x, ", '""'),
        ("plain", "x, ", '"a"'),
        ("last", "x, 5, 6, ", '"{2}"'),
    ]
    for row, args, form in rows:
        text = f"R.print({args}format={form})\nreturn x"
        graph(book, f"relax.graph-print.{row}", "RLX-222", text, ([X], [X, K]), params=f"x: {T2}")
    rows = [("missing", "x, ", '"{} {}"'), ("number", "x, 5, ", '"{0} {2}"'), ("beyond", "x, ", '"{1}"')]
    for row, args, form in rows:
        text = f"y = «R.print({args}format={form})»\nreturn x"
        graph(book, f"undefined.graph-print.{row}", "RLX-222", text, ([X], undefined("RM304")), params=f"x: {T2}")
    text = 'y = «R.print(x, format="{}")»\nreturn y'
    calls = ([new([2], "float32")], undefined("RM305"))
    graph(book, "undefined.graph-print.unwritten", "RLX-222 TIR-007", text, calls, params=f"x: {T2}")
    text = 'y = «R.assert_op(x, x, format="{}")»\nreturn R.prim_value(1)'
    plain = text.replace("«", "").replace("»", "")
    flag = 'x: R.Tensor((), "bool")'
    graph(book, "relax.graph-assert.any", "RLX-223 RLX-114", plain, ([true], [1, K]), params=flag)
    graph(book, "trap.graph-assert.any", "RLX-223 RLX-114", text, ([false], trap("RM401")), params=flag)
    graph(
        book,
        "reject.graph-assert.any",
        "RLX-223 RLX-114",
        text,
        *(([one], reject("RM201")) for one in ((1,), 0.5, [1])),
    )


def operands(book):
    """Arguments of another kind, and of another number, at the place of the call."""
    store = 'R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8")'
    scope = 'R.prim_value(0), R.str("global")'
    rows = [
        ("dtype", f"R.builtin.alloc_tensor(R.shape([2]), x, {scope})", "RLX-301", [5, X, (2,)]),
        ("extents", f'R.builtin.alloc_tensor(x, R.dtype("float32"), {scope})', "RLX-301", [5, X, [0.5], [X, 2]]),
        ("storage", 'R.memory.alloc_tensor(x, 0, R.shape([2]), R.dtype("float32"), 0)', "RLX-303", [5, X, (16,)]),
        ("axis", "R.inspect.tensor_shape_i(R.const([1.0, 2.0]), x)", "RLX-234", [0.5, X, (0,), [0]]),
        ("field", by_name("tuple_getitem", "(x, x)", "x"), "RLX-407", [0.5, X, (0,)]),
        ("of-no-tensor", "R.inspect.tensor_ndim(x)", "RLX-234", [5, (2,), [X]]),
        ("text", 'R.call_packed("relax.run.print", x, x, ty_args=R.Any)', "RLX-222", [5, X, (2,)]),
        ("text-of-assert", 'R.call_packed("relax.run.assert_op", x, x, ty_args=R.Any)', "RLX-223", [False]),
        ("closure", "R.invoke_closure(x, (x,), ty_args=R.Any)", "RLX-212", [5, X, (2,)]),
        ("name-of-builtin", "R.call_builtin_with_ctx(x, (x,), ty_args=R.Any)", "RLX-208", [5, X]),
        ("name-of-python", "R.call_py_func(x, (x,), ty_args=R.Any)", "RLX-207", [5, X]),
        ("view", "R.memory.view(x, R.shape([1]), R.null_value(), R.null_value())", "RLX-305", [5, (1,), [X]]),
        ("zero-offset", "R.memory.ensure_zero_offset(x)", "RLX-306", [5, (1,), [X]]),
    ]
    for name, form, clause, bad in rows:
        lines = f"y = «{form}»\nreturn y"
        graph(book, f"reject.graph-operand.{name}", clause, lines, *(([one], reject("RM201")) for one in bad))
    rows = [
        ("shape-of", "R.shape_of(x, x)", "RLX-231"),
        ("ndim", "R.inspect.tensor_ndim(x, x)", "RLX-234"),
        ("kill", "R.vm.kill_object(x, x)", "RLX-304"),
        ("view", "R.memory.view()", "RLX-305"),
    ]
    for name, form, clause in rows:
        graph(book, f"reject.graph-arity.{name}", clause, f"y = «{form}»\nreturn x", ([X], reject("RM206")))
    part = 'R.memory.alloc_tensor(s, {}, R.shape([2]), R.dtype("float32"), 0)'
    plan = f"s = R.memory.alloc_storage({store})\na = {part.format(0)}\ncls.copy(x, a)\nb = {part.format(4)}\n"
    for name, use in (
        ("asked", "y = R.shape_of(a)\nreturn y"),
        ("returned", "return (a, x)"),
        ("bound", "y = a\nreturn x"),
    ):
        end = {"kind": "undefined", "code": "RM316"}
        graph(book, f"undefined.graph-storage.gone-{name}", "RLX-303 RLX-101", plan + use, ([X], end), **FULL)


def called(book):
    """All of them."""
    for part in (in_place, outputs, by_names, closures, local_functions, memory, values, operands):
        part(book)
    book.write("relax-graph-calls", "Calls, closures, memory and values, densely.")
