"""Areas `relax`, `undefined`, `trap`, `reject`: Relax clause by clause, worked by hand."""

import sys

import numpy as np
from hand import K, ask, boolean, f32, i64, reject, trap, undefined
from write_tir import Split

FUNCS = """
@I.ir_module
class Module:
    @T.prim_func
    def both(A: T.Buffer((2,), "float32"), S: T.Buffer((2,), "float32"), P: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "linked_both"})
        for i in range(2):
            S[i] = A[i] + A[i]
            P[i] = A[i] * A[i]

    @T.prim_func
    def twice(a: T.handle, b: T.handle):
        T.func_attr({"global_symbol": "twice"})
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @T.prim_func
    def fill(a: T.handle, n: T.int64, k: T.int64):
        A = T.match_buffer(a, (n,), "int64")
        for i in range(n):
            A[i] = k

    @T.prim_func
    def bump(A: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "bump"})
        for i in range(2):
            A[i] = A[i] + T.float32(1)

    @T.prim_func
    def bump_into(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]
            A[i] = A[i] + T.float32(1)

    @T.prim_func
    def copy(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]

    @T.prim_func
    def half(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        B[0] = A[0]

    @T.prim_func
    def plus_one(n: T.int64) -> T.int64:
        T.func_attr({"global_symbol": "plus_one"})
        return n + T.int64(1)

    @T.prim_func
    def double_heap(H: T.Buffer((3,), "int64")):
        H[2] = H[0] * T.int64(2)

    @R.function
    def add_relax(a: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(a, b)
"""
X, Y = f32(2, 3), f32(10, 20)
PAIR = 'out_ty=[R.Tensor((2,), "float32"), R.Tensor((2,), "float32")]'
T2 = 'R.Tensor((2,), "float32")'


def body(lines, params=f"x: {T2}", head="@R.function(pure=False)", funcs=FUNCS):
    indented = "\n".join(f"        {line}" for line in lines.strip("\n").split("\n"))
    start = funcs or "\n@I.ir_module\nclass Module:"
    return f"{start}\n    {head}\n    def main({params}):\n        cls = Module\n{indented}\n"


def case(book, name, clauses, lines, *calls, **more):
    params = {key: more.pop(key) for key in ("params", "head", "funcs") if key in more}
    ask(book, name, clauses, body(lines, **params), *calls, **more)


def calls(book):
    case(
        book,
        "relax.call-tir.several-outputs",
        "RLX-201",
        f"y = R.call_tir(cls.both, (x,), {PAIR})\nreturn y",
        ([X], [f32(4, 6), f32(4, 9), K]),
    )
    case(
        book,
        "relax.call-tir.one-output",
        "RLX-201",
        f"y = R.call_tir(cls.twice, (x,), out_ty={T2})\nreturn y",
        ([X], [f32(4, 6), K]),
        ([f32(np.inf, -0.0)], [f32(np.inf, -0.0), K]),
    )
    case(
        book,
        "relax.call-tir.ints",
        "RLX-201 RLX-906",
        'y = R.call_tir(cls.fill, (), out_ty=R.Tensor((n,), "int64"), tir_vars=R.shape([n, 7]))\nreturn y',
        ([3], i64(7, 7, 7)),
        ([0], np.zeros(0, np.int64)),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.call-tir.fresh-each-time",
        "RLX-201 RLX-109",
        f"y = R.call_tir(cls.twice, (x,), out_ty={T2})\nz = R.call_tir(cls.twice, (y,), out_ty={T2})\nreturn (x, y, z)",
        ([X], [X, f32(4, 6), f32(8, 12), K]),
    )
    case(
        book,
        "undefined.call-tir.negative-output",
        "RLX-201",
        'y = «R.call_tir(cls.fill, (), out_ty=R.Tensor((n,), "int64"), tir_vars=R.shape([n, 7]))»\nreturn y',
        ([-2], undefined("RM315")),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.call-tir-inplace.argument",
        "RLX-202",
        f"y = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], out_ty={T2})\nreturn y",
        ([X], [f32(3, 4), f32(3, 4)]),
    )
    case(
        book,
        "relax.call-tir-inplace.and-fresh",
        "RLX-202",
        f"y = R.call_tir_inplace(cls.bump_into, (x,), inplace_indices=[0, -1], {PAIR})\nreturn y",
        ([X], [f32(3, 4), X, f32(3, 4)]),
    )
    case(
        book,
        "undefined.call-tir-inplace.other-type",
        "RLX-202",
        'y = «R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], out_ty=R.Tensor((3,), "float32"))»\nreturn y',
        ([X], undefined("RM317")),
        params="x: R.Any",
    )
    case(
        book,
        "relax.call-tir-with-grad",
        "RLX-203",
        f'y = R.call_tir_with_grad(cls.twice, (x,), out_ty={T2}, te_grad_name="none")\nreturn y',
        ([X], [f32(4, 6), K]),
    )
    for name in ("both", "linked_both"):
        case(
            book,
            f"relax.call-dps-packed.{name.replace('_', '-')}",
            "RLX-204 RLX-132",
            f'y = R.call_dps_packed("{name}", (x,), {PAIR})\nreturn y',
            ([X], [f32(4, 6), f32(4, 9), K]),
        )
    forms = {
        "call-packed": ('R.call_packed("plus_one", n, ty_args=R.Prim("int64"))', "RLX-132 RLX-131"),
        "call-pure-packed": ('R.call_pure_packed("plus_one", n, ty_args=R.Prim("int64"))', "RLX-205 RLX-132"),
        "call-py-func": ('R.call_py_func("plus_one", (n,), ty_args=R.Prim("int64"))', "RLX-207 RLX-132"),
        "call-builtin": ('R.call_builtin_with_ctx("plus_one", (n,), ty_args=R.Prim("int64"))', "RLX-208 RLX-132"),
    }
    for name, (form, clauses) in forms.items():
        case(
            book,
            f"relax.{name}.by-name",
            clauses,
            f"y = {form}\nreturn y",
            ([41], 42),
            ([-1], 0),
            params='n: R.Prim("int64")',
        )
        missing = form.replace("plus_one", "no.such.function")
        case(
            book,
            f"trap.{name}.missing",
            clauses,
            f"y = «{missing}»\nreturn y",
            ([41], trap("RM402")),
            params='n: R.Prim("int64")',
        )
    case(
        book,
        "relax.call-inplace-packed",
        "RLX-206 RLX-132",
        f'y = R.call_inplace_packed("add_relax", x, x, inplace_indices=[0], ty_args={T2})\nreturn y',
        ([X], [f32(4, 6), K]),
    )
    case(
        book,
        "trap.call-packed.result-of-another-type",
        "RLX-132",
        f'y = «R.call_packed("plus_one", n, ty_args={T2})»\nreturn n',
        ([1], trap("RM404")),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "undefined.hidden-effect",
        "RLX-209",
        f"y = R.call_tir(cls.bump_into, (x,), out_ty={T2})\nreturn y",
        ([X], undefined("RM323")),
    )
    case(
        book,
        "relax.outputs-not-all-written",
        "RLX-210",
        f"y = R.call_tir(cls.half, (x,), out_ty={T2})\nreturn y",
        ([X], [{"rule": "exact", "dtype": "float32", "shape": [2], "values": ["0x1p+1", "_"]}, K]),
    )
    case(
        book,
        "undefined.output-read-unwritten",
        "RLX-210 RLX-201 TIR-007",
        f"y = R.call_tir(cls.half, (x,), out_ty={T2})\nz = R.call_tir(cls.copy, (y,), out_ty={T2})\nreturn z",
        ([X], {"kind": "undefined", "code": "RM305"}),
    )
    case(
        book,
        "relax.closure",
        "RLX-211 RLX-212",
        f"f = R.make_closure(cls.add_relax, (x,))\ny = R.invoke_closure(f, (x,), ty_args={T2})\nreturn y",
        ([X], [f32(4, 6), K]),
    )
    case(
        book,
        "relax.closure.order-of-arguments",
        "RLX-211 RLX-212",
        f'f = R.make_closure(cls.minus, (x,))\nz = R.const([1.0, 1.0], "float32")\ny = R.invoke_pure_closure(f, (z,), ty_args={T2})\nreturn y',
        ([X], [f32(-1, -2), K]),
        funcs=FUNCS + MINUS,
    )
    case(
        book,
        "relax.call-tir-dyn",
        "RLX-213 RLX-301",
        't = R.builtin.alloc_tensor(R.shape([3]), R.dtype("int64"), R.prim_value(0), R.str("global"))\n_ = R.vm.call_tir_dyn(cls.fill, (t, R.shape([3, 9])))\nreturn t',
        ([X], [i64(9, 9, 9), K]),
    )
    case(
        book,
        "undefined.used-after-in-place",
        "RLX-214",
        f"y = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], out_ty={T2})\nz = «R.add(x, y)»\nreturn z",
        ([X], {"kind": "undefined", "code": "RM328"}),
    )
    case(
        book,
        "relax.null-value",
        "RLX-221",
        "n = R.null_value()\ny = R.memory.view(x, R.shape([1]), n, n)\nreturn y",
        ([f32(7)], [f32(7), K]),
        params='x: R.Tensor((1,), "float32")',
    )
    case(book, "relax.print", "RLX-222", 'R.print(x, format="{}")\nreturn x', ([X], [X, K]))
    case(
        book,
        "relax.assert-holds",
        "RLX-223",
        'R.assert_op(c, x, format="{}")\nreturn x',
        ([X, boolean(True).reshape(())], [X, K, K]),
        params=f'x: {T2}, c: R.Tensor((), "bool")',
    )
    case(
        book,
        "trap.assert-op",
        "RLX-223",
        'R.assert_op(c, x, format="{}")\nreturn x',
        ([X, boolean(False).reshape(())], {"kind": "trap", "code": "RM401"}),
        params=f'x: {T2}, c: R.Tensor((), "bool")',
    )
    case(
        book,
        "relax.to-vdevice",
        "RLX-224",
        "y = R.to_vdevice(x, 'llvm:0')\nz = R.builtin.stop_lift_params(y)\nreturn z",
        ([X], [X, K]),
    )
    case(
        book,
        "relax.shape-of",
        "RLX-231 RLX-013",
        "y = R.shape_of(x)\nreturn y",
        ([np.zeros((2, 0, 3), np.float32)], [(2, 0, 3), K]),
        params='x: R.Tensor("float32", ndim=3)',
    )
    case(
        book,
        "relax.tensor-to-shape",
        "RLX-232",
        "y = R.tensor_to_shape(x)\nreturn y",
        ([i64(4, 0, 7)], [(4, 0, 7), K]),
        params='x: R.Tensor((3,), "int64")',
    )
    case(
        book,
        "relax.shape-to-tensor",
        "RLX-233",
        "y = R.shape_to_tensor(s)\nreturn y",
        ([(4, 0, 7)], i64(4, 0, 7)),
        params="s: R.Shape([4, 0, 7])",
    )
    for name, args, expected in (
        ("shape_i", "R.prim_value(1)", 3),
        ("stride_i", "R.prim_value(0)", 3),
        ("ndim", "", 2),
        ("dtype_bits", "", 32),
        ("dtype_lanes", "", 1),
        ("dtype_code", "", 2),
        ("byte_offset", "", 0),
        ("elem_offset", "", 0),
    ):
        prefix = "R.inspect.tensor_"
        form = f"{prefix}{name}(x{', ' + args if args else ''})"
        case(
            book,
            f"relax.inspect.{name.replace('_', '-')}",
            "RLX-234",
            f"y = {form}\nreturn y",
            ([np.zeros((2, 3), np.float32)], [expected, K]),
            params='x: R.Tensor((2, 3), "float32")',
        )
    case(
        book,
        "undefined.inspect.no-such-axis",
        "RLX-234",
        "y = «R.inspect.tensor_shape_i(x, R.prim_value(2))»\nreturn y",
        ([np.zeros((2, 3), np.float32)], undefined("RM304")),
        params='x: R.Tensor((2, 3), "float32")',
    )
    m = np.arange(6, dtype=np.float32)
    case(
        book,
        "relax.reshape",
        "RLX-241",
        "y = R.reshape(x, R.shape([3, 2]))\nreturn y",
        ([m.reshape(2, 3)], [m.reshape(3, 2), K]),
        params='x: R.Tensor((2, 3), "float32")',
    )
    case(
        book,
        "relax.reshape.what-is-left",
        "RLX-241",
        "y = R.reshape(x, (2, -1))\nreturn y",
        ([m], [m.reshape(2, 3), K]),
        params='x: R.Tensor((6,), "float32")',
    )
    case(
        book,
        "undefined.call-tir-inplace.no-such-argument",
        "RLX-202",
        f"y = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[1], out_ty={T2})\nreturn y",
        ([X], {"kind": "undefined", "code": "RM304"}),
    )
    book.write("relax-calls", "Calls in Relax.")


MINUS = f"""
    @R.function
    def minus(a: {T2}, b: {T2}) -> {T2}:
        return R.subtract(a, b)
"""
BRANCH = f"""
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: {T2}) -> {T2}:
        if c:
            y = R.add(x, x)
            z = R.add(y, x)
        else:
            z = R.multiply(x, x)
        return z
"""
RECURSIVE = """
@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less_equal(n, R.const(1, "int64"))
        if c:
            y = R.const(1, "int64")
        else:
            m = R.subtract(n, R.const(1, "int64"))
            r = cls.main(m)
            y = R.multiply(n, r)
        return y
"""
LOCAL = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: {T2}) -> {T2}:
        @R.function
        def inner(y: {T2}) -> {T2}:
            return R.add(x, y)

        z = inner(R.multiply(x, x))
        return z
"""


def expressions(book):
    case(book, "relax.var.shared", "RLX-101 RLX-123", "y = x\ncls.bump(x)\nreturn y", ([X], [f32(3, 4), f32(3, 4)]))
    case(
        book,
        "relax.global-var.value",
        "RLX-102 RLX-133 RLX-016",
        "f: R.Callable = cls.add_relax\ny = f(x, x)\nreturn y",
        ([X], [f32(4, 6), K]),
    )
    case(
        book,
        "relax.constant",
        "RLX-103",
        'y = R.add(x, R.const([0.5, -0.0], "float32"))\nreturn y',
        ([X], [f32(2.5, 3), K]),
    )
    case(
        book,
        "reject.relax.metadata-without-text",
        "RLX-104",
        'y = R.add(x, metadata["relax.expr.Constant"][0])\nreturn y',
        ([X], {"kind": "reject", "code": "RM108"}),
    )
    case(
        book,
        "relax.prim-value",
        "RLX-105 RLX-022",
        "y = R.prim_value(n * 3 + 1)\nreturn y",
        ([5], 16),
        ([-5], -14),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.string-and-dtype",
        "RLX-106 RLX-107",
        't = R.builtin.alloc_tensor(R.shape([2]), R.dtype("int64"), R.prim_value(0), R.str("global"))\ncls.fill(t, R.prim_value(4))\nreturn t',
        ([X], [i64(4, 4), K]),
        funcs=FUNCS.replace(
            "def fill(a: T.handle, n: T.int64, k: T.int64):\n        A = T.match_buffer(a, (n,)",
            "def fill(a: T.handle, k: T.int64):\n        n = T.int64()\n        A = T.match_buffer(a, (n,)",
        ),
    )
    case(
        book,
        "relax.shape-expr",
        "RLX-108 RLX-022",
        "return R.shape([n * 2, n // 2, n - 9])",
        ([5], (10, 2, -4)),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.tuple",
        "RLX-109 RLX-110",
        "t = (x, (x, n))\nu = t[1]\ny = u[1]\nreturn (y, t[0])",
        ([X, 7], [7, X, K]),
        params=f'x: {T2}, n: R.Prim("int64")',
    )
    case(
        book,
        "relax.extern-func",
        "RLX-111 RLX-133",
        'f = R.ExternFunc("plus_one")\ny = R.call_packed("plus_one", n, ty_args=R.Prim("int64"))\nreturn y',
        ([3], 4),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.op-called",
        "RLX-112 RLX-113 RLX-135",
        "y = R.subtract(R.multiply(x, x), R.add(x, x))\nreturn y",
        ([X], [f32(0, 3), K]),
    )
    ask(
        book,
        "relax.if",
        "RLX-114",
        BRANCH,
        ([boolean(True).reshape(()), X], [f32(6, 9), K, K]),
        ([boolean(False).reshape(()), X], [f32(4, 9), K, K]),
    )
    ask(
        book,
        "relax.recursion",
        "RLX-131 RLX-114 RLX-116",
        RECURSIVE,
        ([i64(5).reshape(())], [i64(120).reshape(()), K]),
        ([i64(0).reshape(())], [i64(1).reshape(()), K]),
    )
    ask(book, "relax.local-function", "RLX-116 RLX-133", LOCAL, ([X], [f32(6, 12), K]))
    case(
        book,
        "relax.sequence",
        "RLX-115 RLX-124 RLX-121",
        f"with R.dataflow():\n    a = R.add(x, x)\n    b = R.add(a, x)\n    R.output(b)\nc: {T2} = R.multiply(b, b)\nwith R.dataflow():\n    d = R.add(c, b)\n    R.output(d)\nreturn d",
        ([X], [f32(42, 90), K]),
    )
    case(
        book,
        "relax.match-cast",
        "RLX-122 RLX-021",
        'n, m = T.int64(), T.int64()\ny = R.match_cast(x, R.Tensor((n, m), "float32"))\nreturn (y, R.shape([m, n, n * m]))',
        ([np.ones((2, 3), np.float32)], [np.ones((2, 3), np.float32), (3, 2, 6), K]),
        params='x: R.Tensor("float32", ndim=2)',
    )
    for name, target, given in (
        ("rank", 'R.Tensor((n,), "float32")', np.ones((2, 3), np.float32)),
        ("dtype", 'R.Tensor((n, n), "int32")', np.ones((2, 2), np.float32)),
        ("extent", 'R.Tensor((n, 4), "float32")', np.ones((2, 3), np.float32)),
        ("twice", 'R.Tensor((n, n), "float32")', np.ones((2, 3), np.float32)),
        ("expression", 'R.Tensor((n, n * 2), "float32")', np.ones((2, 3), np.float32)),
    ):
        case(
            book,
            f"trap.match-cast.{name}",
            "RLX-122 RLX-021",
            f"n = T.int64()\ny = R.match_cast(x, {target})\nreturn y",
            ([given], {"kind": "trap", "code": "RM405"}),
            params="x: R.Any",
        )
    case(
        book,
        "relax.direct-call-of-tensorir",
        "RLX-131 RLX-123",
        "cls.bump(x)\ncls.bump(x)\nreturn x",
        ([X], [f32(4, 5), f32(4, 5)]),
    )
    case(
        book,
        "relax.operator-not-reached",
        "RLX-114 RLX-134 LIB-980",
        'if c:\n    y = R.ccl.allreduce(x, "sum", False)\nelse:\n    y = R.add(x, x)\nreturn y',
        ([X, boolean(False).reshape(())], [f32(4, 6), K, K]),
        params=f'x: {T2}, c: R.Tensor((), "bool")',
    )
    book.write("relax-expressions", "Expressions, bindings and blocks of Relax.")


def values(book):
    case(
        book,
        "relax.any",
        "RLX-011",
        "return x",
        ([X], [X, K]),
        ([5], 5),
        ([(2, 3)], (2, 3)),
        params="x: R.Any",
        head="@R.function",
    )
    symbolic = 'y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((n,), "float32"))\nreturn (y, R.shape([n, n * 2 + 1]))'
    case(
        book,
        "relax.symbolic.parameter",
        "RLX-021 RLX-012 RLX-022",
        "n = T.int64()\n" + symbolic,
        ([f32(1, 2, 3)], [f32(2, 4, 6), (3, 7), K]),
        ([f32()], [f32(), (0, 1), K]),
        params='x: R.Tensor(("n",), "float32")',
    )
    case(
        book,
        "relax.symbolic.two-parameters",
        "RLX-021",
        "n = T.int64()\nm = T.int64()\nreturn R.shape([n, m, n + m])",
        ([np.zeros((2, 3), np.float32), np.zeros((3,), np.float32)], [(2, 3, 5), K, K]),
        params='x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m",), "float32")',
    )
    inner = """
    @R.function
    def takes(y: {type}) -> R.Any:
        return y
"""
    rows = [
        ("tensor-dtype", "RLX-012", 'R.Tensor((2,), "int32")', [X]),
        ("tensor-rank", "RLX-012", 'R.Tensor((2, 1), "float32")', [X]),
        ("tensor-extent", "RLX-012", 'R.Tensor((3,), "float32")', [X]),
        ("tensor-kind", "RLX-012", 'R.Tensor((3,), "float32")', [5]),
        ("shape-extent", "RLX-013", "R.Shape([2, 4])", [(2, 3)]),
        ("shape-rank", "RLX-013", "R.Shape(ndim=3)", [(2, 3)]),
        ("prim-kind", "RLX-014", 'R.Prim("int64")', [X]),
        ("tuple-length", "RLX-015", "R.Tuple(R.Any, R.Any)", [[X]]),
        ("tuple-field", "RLX-015", 'R.Tuple(R.Any, R.Tensor((3,), "float32"))', [[X, X]]),
        ("callable-kind", "RLX-016", "R.Callable", [X]),
    ]
    for name, clause, kind, given in rows:
        case(
            book,
            f"undefined.type.{name}",
            f"{clause} RLX-116",
            "y = cls.takes(x)\nreturn y",
            (given, {"kind": "undefined", "code": "RM317"}),
            params="x: R.Any",
            funcs=FUNCS + inner.format(type=kind),
        )
    case(
        book,
        "undefined.type.binding",
        "RLX-121 RLX-012",
        'y: R.Tensor((3,), "float32") = x\nreturn y',
        ([X], {"kind": "undefined", "code": "RM317"}),
        params="x: R.Any",
    )
    case(
        book,
        "undefined.dimension.division",
        "RLX-022",
        "return R.shape([«6 // n»])",
        ([0], {"kind": "undefined", "code": "RM307"}),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "undefined.dimension.overflow",
        "RLX-022",
        "return R.shape([n * n])",
        ([2**40], {"kind": "undefined", "code": "RM306"}),
        params='n: R.Prim("int64")',
    )
    case(
        book,
        "relax.symbolic.lazy",
        "RLX-022",
        "return R.shape([T.if_then_else(n > 0, 6 // T.max(n, 1), 0)])",
        ([0], (0,)),
        ([4], (1,)),
        params='n: R.Prim("int64")',
    )
    book.write("relax-values", "Types and symbolic dimensions.")


STORE = 's = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def tensor(name, offset, level="memory"):
    return (
        f'{name} = R.{level}.alloc_tensor(s, R.prim_value({offset}), R.shape([2]), R.dtype("float32"), R.prim_value(0))'
        if level == "vm"
        else f'{name} = R.memory.alloc_tensor(s, {offset}, R.shape([2]), R.dtype("float32"), 0)'
    )


def memory(book):
    case(
        book,
        "relax.memory.two-tensors",
        "RLX-302 RLX-303 RLX-304",
        f"{STORE}\n{tensor('a', 0)}\n{tensor('b', 8)}\nR.memory.kill_storage(s)\ncls.copy(x, a)\ncls.copy(a, b)\nreturn (a, b)",
        ([X], [X, X, K]),
    )
    vm = 's = R.vm.alloc_storage(R.shape([16]), R.prim_value(0), R.dtype("uint8"), R.str("global"))'
    case(
        book,
        "relax.memory.vm",
        "RLX-302 RLX-303",
        f"{vm}\n{tensor('a', 0, 'vm')}\ncls.copy(x, a)\nreturn a",
        ([X], [X, K]),
    )
    case(
        book,
        "relax.memory.reuse-after-last-use",
        "RLX-303 RLX-304",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('c', 8)}\ncls.copy(a, c)\nR.memory.kill_tensor(a)\n{tensor('b', 0)}\ncls.bump_into(c, b)\nreturn (b, c)",
        ([X], [X, f32(3, 4), K]),
    )
    case(
        book,
        "undefined.memory.reused-too-early",
        "RLX-303",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('b', 4)}\n{tensor('c', 8)}\ncls.copy(a, c)\nreturn c",
        ([X], {"kind": "undefined", "code": "RM316"}),
    )
    case(
        book,
        "undefined.memory.begins-uninitialised",
        "RLX-303 TIR-007",
        f"{STORE}\n{tensor('a', 0)}\ncls.copy(x, a)\n{tensor('b', 0)}\n{tensor('c', 8)}\ncls.copy(b, c)\nreturn c",
        ([X], {"kind": "undefined", "code": "RM305"}),
    )
    case(
        book,
        "undefined.memory.outside-of-storage",
        "RLX-303",
        f"{STORE}\n«{tensor('a', 12)}»\nreturn a".replace("«a = ", "a = «"),
        ([X], undefined("RM304")),
    )
    case(
        book,
        "undefined.memory.killed",
        "RLX-304 RLX-101",
        "y = x\nR.memory.kill_tensor(x)\nz = R.add(y, x)\nreturn z",
        ([X], {"kind": "undefined", "code": "RM316"}),
    )
    case(
        book,
        "relax.memory.killed-variable-other-lives",
        "RLX-304 RLX-101",
        "y = x\nR.vm.kill_object(x)\nz = R.add(y, y)\nreturn z",
        ([X], [f32(4, 6), K]),
    )
    m = np.arange(6, dtype=np.float32)
    case(
        book,
        "relax.memory.view",
        "RLX-305 RLX-306",
        'n = R.null_value()\na = R.memory.view(x, R.shape([2, 2]), n, R.prim_value(8))\nb = R.memory.ensure_zero_offset(a)\nc = R.memory.view(x, n, R.dtype("int32"), n)\nreturn (a, b, c)',
        ([m], [m[2:].reshape(2, 2), m[2:].reshape(2, 2), m.view(np.int32), K]),
        params='x: R.Tensor((6,), "float32")',
    )
    case(
        book,
        "undefined.memory.view-outside",
        "RLX-305",
        "n = R.null_value()\na = «R.memory.view(x, R.shape([7]), n, R.prim_value(0))»\nreturn a",
        ([m], undefined("RM304")),
        params='x: R.Tensor((6,), "float32")',
    )
    case(
        book,
        "relax.memory.alloc-tensor",
        "RLX-301",
        't = R.builtin.alloc_tensor(R.shape([2]), R.dtype("float32"), R.prim_value(0), R.str("global"))\ncls.copy(x, t)\nreturn t',
        ([X], [X, K]),
    )
    case(
        book,
        "undefined.memory.negative",
        "RLX-301",
        't = «R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"))»\nreturn t',
        ([-1], undefined("RM315")),
        params='n: R.Prim("int64")',
    )
    book.write("relax-memory", "Memory in lowered Relax.")


HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), ty_args=(R.Any,))\n'


def by_name(name, *args):
    return f'R.call_packed("vm.builtin.{name}", {", ".join(args)}, ty_args=(R.Any,))'


def machine(book):
    lines = f"{HEAP}a = {by_name('match_shape', 'x', 'h', '3', '1', '0', '0', '4', '2', '0')}\ncls.double_heap(h)\nb = {by_name('match_prim_value', '6', 'h', '3', '2')}\nc = {by_name('match_prim_value', '9', 'h', '1', '1')}\ns = {by_name('make_shape', 'h', '3', '1', '2', '0', '5', '1', '1')}\np = {by_name('make_prim_value', 'h', '1', '0')}\nreturn (s, p)"
    case(
        book,
        "relax.heap",
        "RLX-401 RLX-402 RLX-403",
        lines,
        ([np.zeros((3, 4, 5), np.float32)], [(6, 5, 9), 3, K]),
        params="x: R.Any",
    )
    x = np.zeros((2, 3), np.float32)
    for name, form, code in (
        ("number", by_name("match_shape", "x", "h", "2", "0", "2", "0", "4"), "RM405"),
        ("rank", by_name("match_shape", "x", "h", "1", "2", "0"), "RM405"),
    ):
        case(
            book, f"trap.heap.{name}", "RLX-402", f"{HEAP}y = «{form}»\nreturn y", ([x], trap(code)), params="x: R.Any"
        )
    for name, form, code in (
        ("unwritten", by_name("match_shape", "x", "h", "2", "3", "0", "2", "0"), "RM305"),
        ("no-such-place", by_name("match_shape", "x", "h", "2", "1", "7", "2", "0"), "RM304"),
        ("make-unwritten", by_name("make_shape", "h", "1", "1", "0"), "RM305"),
    ):
        case(
            book,
            f"undefined.heap.{name}",
            "RLX-402 RLX-403",
            f"{HEAP}y = «{form}»\nreturn y",
            ([x], undefined(code)),
            params="x: R.Any",
        )
    one = f32(1)
    rows = [
        (
            "tensor",
            'check_tensor_info", x, 1, R.dtype("float32"), R.str("e")',
            one,
            [np.zeros((1, 1), np.float32), np.zeros(1, np.float64), 5],
        ),
        ("tensor-any-rank", 'check_tensor_info", x, -1, R.null_value(), R.str("e")', np.zeros((2, 2), np.int8), [5]),
        ("shape", 'check_shape_info", x, 2, R.str("e")', (2, 3), [(2,), one]),
        ("prim", 'check_prim_value_info", x, R.dtype("int64"), R.str("e")', 5, [one]),
        ("tuple", 'check_tuple_info", x, 2, R.str("e")', [one, one], [[one], one]),
    ]
    for name, form, good, bad in rows:
        lines = f'y = R.call_packed("vm.builtin.{form}, ty_args=(R.Any,))\nreturn R.prim_value(1)'
        parts = [1] if isinstance(good, (tuple, int)) else [1, K] if not isinstance(good, list) else [1, K, K]
        case(book, f"relax.check.{name}", "RLX-404", lines, ([good], parts), params="x: R.Any")
        case(
            book,
            f"trap.check.{name}",
            "RLX-404",
            lines.replace("y = R", "y = «R"),
            *(([b], trap("RM405")) for b in bad),
            params="x: R.Any",
        )
    case(
        book,
        "relax.builtin.copy",
        "RLX-405",
        f"y = {by_name('copy', 'x')}\nreturn y",
        ([one], [one, K]),
        params="x: R.Any",
    )
    case(
        book,
        "relax.builtin.read-if-cond",
        "RLX-406",
        f"y = {by_name('read_if_cond', 'x')}\nreturn y",
        ([boolean(True).reshape(())], [True, K]),
        params="x: R.Any",
    )
    case(
        book,
        "relax.builtin.tuple-getitem",
        "RLX-407",
        f"y = {by_name('tuple_getitem', '(x, 2)', '1')}\nreturn y",
        ([5], 2),
        params="x: R.Any",
    )
    case(
        book,
        "undefined.builtin.tuple-getitem",
        "RLX-407",
        f"y = «{by_name('tuple_getitem', '(x, 2)', '2')}»\nreturn y",
        ([5], undefined("RM304")),
        params="x: R.Any",
    )
    func = 'y = R.call_packed("vm.builtin.check_func_info", {}, R.str("e"), ty_args=(R.Any,))\nreturn R.prim_value(1)'
    case(book, "relax.check.func", "RLX-404", func.format("cls.add_relax"), ([5], 1), params="x: R.Any")
    wrong = func.format("x").replace("y = R", "y = «R")
    case(book, "trap.check.func", "RLX-404", wrong, ([5], trap("RM405")), ([one], trap("RM405")), params="x: R.Any")
    book.write("relax-machine", "Functions of the virtual machine by name.")


def static(book):
    flow = "with R.dataflow():\n    a = R.add(x, x)\n    b = R.add(a, a)\n    R.output(b)\nreturn {}"
    rows = [
        ("scope.unknown", "RLX-901", "RM104", "y = R.add(x, x)\nreturn z"),
        ("dataflow.escape", "RLX-902", "RM204", flow.format("a")),
        (
            "dataflow.effect",
            "RLX-903 RLX-124",
            "RM205",
            'with R.dataflow():\n    a = R.print(x, format="{}")\n    b = R.add(x, x)\n    R.output(b)\nreturn b',
        ),
        ("called.unknown", "RLX-904", "RM207", "y = cls.nowhere(x)\nreturn y"),
        ("called.arity", "RLX-904", "RM206", "y = cls.add_relax(x)\nreturn y"),
        ("called.type", "RLX-904", "RM202", 'y = cls.add_relax(x, R.const([1.0, 2.0, 3.0], "float32"))\nreturn y'),
        ("call-tir.arity", "RLX-905", "RM206", f"y = R.call_tir(cls.both, (x,), out_ty={T2})\nreturn y"),
        (
            "call-tir.shape",
            "RLX-905",
            "RM202",
            'y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((3,), "float32"))\nreturn y',
        ),
        (
            "call-tir.dtype",
            "RLX-905",
            "RM201",
            'y = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((2,), "int32"))\nreturn y',
        ),
        ("shape-variable", "RLX-906", "RM211", 'n = T.int64()\ny = R.zeros(R.shape([n]), "float32")\nreturn y'),
        ("declared.binding", "RLX-907", "RM202", 'y: R.Tensor((3,), "float32") = R.add(x, x)\nreturn y'),
        ("declared.condition", "RLX-907 RLX-114", "RM201", "if x:\n    y = R.add(x, x)\nelse:\n    y = x\nreturn y"),
        ("declared.field", "RLX-907", "RM201", "t = (x, x)\ny = t[2]\nreturn y"),
        ("operator.arguments", "RLX-909", "RM202", 'y = R.add(x, R.const([1.0, 2.0, 3.0], "float32"))\nreturn y'),
        ("operator.dtypes", "RLX-909", "RM201", 'y = R.add(x, R.const([1, 2], "int32"))\nreturn y'),
        ("impure", "RLX-903", "RM212", 'y = R.print(x, format="{}")\nreturn x'),
    ]
    for name, clauses, code, lines in rows:
        head = "@R.function" if name == "impure" else "@R.function(pure=False)"
        case(book, f"reject.relax.{name}", clauses, lines, ([], reject(code)), head=head)
    ask(
        book,
        "reject.relax.names",
        "RLX-908",
        f"\n@R.function\ndef main(x: {T2}, x: {T2}):\n    return x\n",
        ([], reject("RM210")),
    )
    book.write("relax", "Static rules of Relax.")


class Parts(Split):
    """As `Split`, for `relax`."""

    def write(self, stem, title):
        stem = stem.removeprefix("relax-")
        cases = list(self.cases)
        for area in dict.fromkeys(case.id.split(".")[0] for case in cases):
            self.area = area
            self.cases = [case for case in cases if case.id.split(".")[0] == area]
            Split.__mro__[1].write(self, stem if area == "relax" else f"relax-{stem}", title)


if __name__ == "__main__":
    said = []
    for part in (calls, expressions, values, memory, machine, static):
        pages = Parts(part.__name__)
        part(pages)
        said += pages.disagreements
    sys.stdout.write("".join(f"{line}\n" for line in said))
