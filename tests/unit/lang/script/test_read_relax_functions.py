"""Functions: statements, blocks, scopes, branches, local functions."""

import textwrap

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import INT32, INT64
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.lang.script.reader.text import read

SIGNATURE = 'x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool"), t: R.Tuple(R.Tensor, R.Tensor), p: R.Prim("int64")'


def main(body: str, decorator: str = "@R.function", signature: str = SIGNATURE, ret: str = "") -> relax.Function:
    text = f"@I.ir_module\nclass Module:\n    {decorator}\n    def main({signature}){ret}:\n"
    return read(text + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8) + "\n")["main"]


def code_of(body: str, **more: str) -> tuple[str, int]:
    with pytest.raises(RefmlcError) as caught:
        main(body, **more)
    return caught.value.code.id, caught.value.diagnostic.span.line - 4


def bindings(function: relax.Function):
    return [binding for block in function.body.blocks for binding in block.bindings]


def test_blocks_end_where_dataflow_begins():
    function = main("""
        a = R.f(x)
        b = R.f(a)
        with R.dataflow():
            u = R.f(b)
            v = R.f(u)
            w = R.f(v)
            R.output(u, w)
        d = R.f(w)
        with R.dataflow():
            e = R.f(d)
            R.output(e)
        return (u, e)
    """)
    kinds = [(type(block).__name__, [b.var.name for b in block.bindings]) for block in function.body.blocks]
    assert kinds == [
        ("BindingBlock", ["a", "b"]),
        ("DataflowBlock", ["u", "v", "w"]),
        ("BindingBlock", ["d"]),
        ("DataflowBlock", ["e"]),
    ]
    assert [b.var.dataflow for b in bindings(function)] == [False, False, False, True, False, False, False]
    everything = bindings(function)
    assert everything[6].value.args[0] is everything[5].var
    assert function.body.body.fields == (everything[2].var, everything[6].var)


def test_only_the_last_binding_of_an_output_is_one():
    function = main("""
        with R.dataflow():
            a = R.f(x)
            a = R.f(a)
            R.output(a)
        return a
    """)
    first, second = bindings(function)
    assert (first.var.dataflow, second.var.dataflow) == (True, False)
    assert second.value.args[0] is first.var
    assert function.body.body is second.var


def test_a_dataflow_variable_that_escapes_is_read():
    function = main("""
        with R.dataflow():
            a = R.f(x)
            b = a
            R.output(b)
        return a
    """)
    assert function.body.body is bindings(function)[0].var
    assert function.body.body.dataflow


def test_annotations():
    function = main("""
        a: R.Tensor((2,), "float32") = R.f(x)
        b = R.f(x)
        n: T.int32 = 3
        m: R.Prim("float32") = 1
        s: I.StringType() = R.str("s")
        return a
    """)
    a, b, n, m, s = bindings(function)
    assert isinstance(a.var.ty, TensorType)
    assert b.var.ty is None
    assert (n.value.value.dtype, n.value.value.value, n.var.ty.dtype, n.var.ty.value.name) == (INT32, 3, INT32, "n")
    assert (m.value.value.value, str(m.value.value.dtype)) == (1.0, "float32")
    assert s.var.ty is None


def test_primitive_bindings_are_dimensions():
    function = main("""
        q = p * 2
        r: T.int64 = R.call_packed("f", x)
        s = R.shape([q, r])
        return s
    """)
    q, r, s = bindings(function)
    assert isinstance(q.var.ty, PrimType)
    assert s.value.values == (q.var.ty.value, r.var.ty.value)


def test_shape_variables_of_the_body():
    function = main(
        """
        n, m = T.int64(), T.int64()
        k = T.var("int64")
        j = T.int64()
        y = R.match_cast(x, R.Tensor((n, m, k, j), "float32"))
        z: R.Tensor((n, 4, k, j), "float32") = R.match_cast(y, R.Tensor((n, 4, k, j), "float32"))
        return R.shape([n, m])
        """,
        signature='x: R.Tensor(("n", 2), "float32")',
    )
    y, z = bindings(function)
    assert isinstance(y, relax.MatchCast)
    assert y.var.ty is None
    assert y.ty.shape[0] is function.params[0].ty.shape[0]
    assert [dim.dtype for dim in y.ty.shape] == [INT64] * 4
    assert z.ty.shape[0] is y.ty.shape[0]
    assert (z.ty.shape[2], z.ty.shape[3]) == (y.ty.shape[2], y.ty.shape[3])
    assert isinstance(z.var.ty, TensorType)
    assert function.body.body.values == (y.ty.shape[0], y.ty.shape[1])


def test_tuples_are_unpacked():
    function = main("""
        a, b = t
        [d, e] = x, a
        f, g = R.split(x, 2)
        cls, n = Module, T.int64()
        h, i = (a, b)
        return b
    """)
    everything = bindings(function)
    assert [b.var.name for b in everything] == ["a", "b", "d", "e", "_", "f", "g", "h", "i"]
    assert [(b.value.tuple_value, b.value.index) for b in everything[:2]] == [(function.params[2], i) for i in range(2)]
    assert everything[2].value is function.params[0]
    assert [b.value.tuple_value for b in everything[5:7]] == [everything[4].var] * 2


def test_statements_without_a_name():
    function = main("""
        "text"
        R.print(x, format="")
        _ = R.f(x)
        R.match_cast(x, R.Tensor((2,)))
        ()
        pass
        cls = Module
        alias = R.Tensor((2,), "float32")
        words = ["a"]
        y: alias = R.f(x)
        return y
    """)
    assert [b.var.name for b in bindings(function)] == ["_", "_", "_", "_", "y"]
    assert isinstance(bindings(function)[2], relax.MatchCast)
    assert isinstance(bindings(function)[4].var.ty, TensorType)


def test_attributes_are_spelled_as_today():
    function = main("""
        R.func_attr({"global_symbol": "main", "tir.noalias": True, "l": [1, "a", None], "d": {"e": 1.5}})
        return x
    """)
    attrs = {"global_symbol": "main", "tirx.noalias": True, "l": (1, "a", None), "d": {"e": 1.5}}
    assert function.attrs == attrs


@pytest.mark.parametrize(
    ("decorator", "pure", "private"),
    [
        ("@R.function", True, False),
        ("@R.function()", True, False),
        ("@R.function(pure=False)", False, False),
        ("@R.function(private=True, check_well_formed=False)", True, True),
    ],
)
def test_options(decorator, pure, private):
    function = main("return x", decorator)
    assert (function.pure, function.private) == (pure, private)


def test_returns():
    assert isinstance(main("return x", ret=' -> R.Tensor((2,), "float32")').ret_ty, TensorType)
    assert main("return x").ret_ty is None
    assert main("return").body.body.fields == ()
    assert [type(field) for field in main("return x, 1").body.body.fields] == [relax.Var, relax.PrimValue]
    assert isinstance(main("return 1").body.body, relax.Constant)


def test_branches():
    function = main("""
        if c:
            a = R.f(x)
            y = a
        else:
            y = R.g(x)
        return y
    """)
    (binding,) = bindings(function)
    assert binding.var.name == "y"
    assert function.body.body is binding.var
    choice = binding.value
    assert choice.condition is function.params[1]
    (a,) = choice.true_branch.blocks[0].bindings
    assert choice.true_branch.body is a.var
    (g,) = choice.false_branch.blocks[0].bindings
    assert g.value.op.name == "g"
    assert choice.false_branch.body is g.var
    assert g.var is not binding.var


def test_annotated_branches_give_the_variable_its_type():
    function = main("""
        if c:
            y = x
        else:
            y: R.Tensor((2,), "float32") = x
        return y
    """)
    (binding,) = bindings(function)
    assert isinstance(binding.var.ty, TensorType)
    assert binding.value.true_branch.blocks == ()
    assert binding.value.true_branch.body is function.params[0]


def test_branches_nest():
    function = main("""
        if c:
            y = x
        elif R.f(c):
            y = R.match_cast(x, R.Tensor((2,)))
        else:
            with R.dataflow():
                u = R.f(x)
                y = R.f(u)
                R.output(y)
        return y
    """)
    (outer,) = bindings(function)
    (inner,) = outer.value.false_branch.blocks[0].bindings
    assert isinstance(inner.value, relax.If)
    assert outer.value.false_branch.body is inner.var
    assert isinstance(inner.value.true_branch.blocks[0].bindings[0], relax.MatchCast)
    last = inner.value.false_branch.blocks[0]
    assert isinstance(last, relax.DataflowBlock)
    assert [b.var.dataflow for b in last.bindings] == [True, False]
    assert inner.value.false_branch.body is last.bindings[1].var


def test_branches_of_effects():
    function = main("""
        if c:
            R.print(x, format="")
        else:
            R.print(c, format="")
        return x
    """)
    (binding,) = bindings(function)
    assert binding.var.name == "_"


def test_names_of_a_branch_end_with_it():
    assert code_of("""
        if c:
            a = R.f(x)
            y = a
        else:
            y = x
        return a
    """) == ("RM104", 6)


def test_local_functions_see_the_variables_around_them():
    function = main(
        """
        @R.function(pure=False)
        def inner(z: R.Tensor((n,), "float32")) -> R.Tensor(("n", "k"), "float32"):
            w = R.add(z, x)
            return inner(w)
        y = inner(x)
        return y
        """,
        signature='x: R.Tensor(("n",), "float32")',
    )
    inner, y = bindings(function)
    assert isinstance(inner.value, relax.Function)
    assert not inner.value.pure
    n = function.params[0].ty.shape[0]
    assert inner.value.params[0].ty.shape == (n,)
    assert inner.value.ret_ty.shape[0] is n
    assert bindings(inner.value)[0].value.args[1] is function.params[0]
    assert inner.value.body.body.op is inner.var
    assert y.value.op is inner.var


def test_local_functions_in_dataflow():
    function = main("""
        with R.dataflow():
            @R.function
            def inner(z: R.Any):
                with R.dataflow():
                    w = R.f(z)
                    R.output(w)
                return w
            y = inner(x)
            R.output(y)
        return y
    """)
    assert [b.var.dataflow for b in bindings(function)] == [True, False]
    assert not bindings(function)[0].value.body.blocks[0].bindings[0].var.dataflow


def test_places():
    function = main("""
        y = R.f(x)
        return y
    """)
    (binding,) = bindings(function)
    assert (binding.span.line, binding.span.column, binding.span.end_column) == (5, 8, 18)
    assert binding.var.span.end_column == 9
    assert (binding.value.span.line, binding.value.span.column) == (5, 12)
    assert function.params[0].span.column == 13
    assert function.span.line == 4


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        ("y = R.f(x)", "RM103", 1),
        ("return x\ny = x", "RM103", 1),
        ("y = z\nreturn y", "RM104", 1),
        ("y = x = x\nreturn y", "RM103", 1),
        ("x[0] = x\nreturn x", "RM103", 1),
        ("a, x[0] = t\nreturn x", "RM103", 1),
        ("(a, x[0]) = x, x\nreturn x", "RM103", 1),
        ("a, b = x, x, x\nreturn x", "RM103", 1),
        ("u = [x, x, x]\na, b = u\nreturn x", "RM103", 2),
        ("y += x\nreturn y", "RM103", 1),
        ("y: R.Any\nreturn x", "RM103", 1),
        ("for i in range(3):\n    pass\nreturn x", "RM103", 1),
        ("while c:\n    pass\nreturn x", "RM103", 1),
        ("assert c\nreturn x", "RM103", 1),
        ("del x\nreturn c", "RM103", 1),
        ("with T.sblock('a'):\n    pass\nreturn x", "RM103", 1),
        ("with R.dataflow() as d:\n    pass\nreturn x", "RM103", 1),
        ("with x:\n    pass\nreturn x", "RM103", 1),
        ("R.output(x)\nreturn x", "RM103", 1),
        ("with R.dataflow():\n    y = x\n    R.output(z)\nreturn x", "RM104", 3),
        ("with R.dataflow():\n    y = x\n    R.output((y,))\nreturn x", "RM103", 3),
        ("with R.dataflow():\n    with R.dataflow():\n        y = x\nreturn x", "RM103", 2),
        ("with R.dataflow():\n    return x\nreturn x", "RM103", 2),
        ("if c:\n    y = x\nreturn x", "RM103", 1),
        ("if c:\n    y = x\nelse:\n    z = x\nreturn x", "RM103", 1),
        ("if c:\n    pass\nelse:\n    z = x\nreturn x", "RM103", 1),
        ("if c:\n    return x\nelse:\n    z = x\nreturn x", "RM103", 2),
        ("if R:\n    y = x\nelse:\n    y = x\nreturn x", "RM105", 1),
        ("def f():\n    return x\nreturn x", "RM103", 1),
        ("@T.prim_func\ndef f():\n    return x\nreturn x", "RM103", 2),
        ("@R.function(bogus=True)\ndef f():\n    return x\nreturn x", "RM103", 1),
        ("@R.function(pure=3)\ndef f():\n    return x\nreturn x", "RM103", 1),
        ("3\nreturn x", "RM103", 1),
        ("R.func_attr(3)\nreturn x", "RM105", 1),
        ("R.func_attr({3: 4})\nreturn x", "RM105", 1),
        ("y = R.dataflow()\nreturn y", "RM105", 1),
        ("R.dataflow(3)\nreturn x", "RM105", 1),
    ],
)
def test_what_is_no_relax(body, code, line):
    assert code_of(body) == (code, line)


@pytest.mark.parametrize("signature", ["x=3", "*x", "**x", "*, x", "x, /"])
def test_signatures_that_are_none(signature):
    with pytest.raises(RefmlcError, match="RM103"):
        main("return x", signature=signature)


def test_parameters_without_a_type():
    assert main("return x", signature="x").params[0].ty is None


def test_a_name_may_be_bound_again():
    function = main("y = R.f(x)\ny = R.f(y)\nreturn y")
    first, second = bindings(function)
    assert second.value.args[0] is first.var
    assert function.body.body is second.var


def test_a_shape_variable_of_another_dtype_is_another_one():
    function = main("n = T.int32()\nreturn R.prim_value(n)", signature='x: R.Tensor(("n",), "float32")')
    assert isinstance(function.body.body.value, tir.Var)
    assert function.body.body.value.dtype == INT32


def test_shape_variables_declared_before_a_local_function_are_its_own():
    """So TVM 0.27 prints the composite functions of `FuseOpsByPattern(annotate_codegen=True)`."""
    function = main(
        """
        n_1 = TypeVar("n_1")
        @R.function
        def inner(a: R.Tensor((n_1, "n_1 + 1"), "float32")):
            return a
        y = inner(x)
        return y
        """,
        signature='x: R.Tensor(("n", "n + 1"), "float32")',
    )
    inner = bindings(function)[0].value
    own, outer = (one.params[0].ty.shape[0] for one in (inner, function))
    assert (own.name, own.dtype, outer.name) == ("n_1", INT64, "n")
    assert inner.params[0].ty.shape[1].args[0] is own


def test_a_variable_without_a_value_is_refused_by_its_name():
    with pytest.raises(RefmlcError, match="`y` gets a type and no value") as caught:
        main('y: R.Tensor((2,), "float32")\nreturn y')
    assert caught.value.code.id == "RM103"
