"""Relax by hand: calls."""

import numpy as np
from hand import K, boolean, f32, i64, trap, undefined
from relax_usual import FUNCS, PAIR, T2, X, case

MINUS = f"""
    @R.function
    def minus(a: {T2}, b: {T2}) -> {T2}:
        return R.subtract(a, b)
"""


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
