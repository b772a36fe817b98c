"""Patterns: what they describe, worked out by hand; modules that they divide mean what they meant."""

import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import relax
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.module import check_module
from refmlc.rewrite.partition import (
    FusionPattern,
    fuse_ops_by_pattern,
    matched_expressions,
    merge_composite_functions,
)
from refmlc.rewrite.partition.patterns import (
    ConstantPattern,
    FunctionPattern,
    ShapeExprPattern,
    TuplePattern,
    VarPattern,
    WildcardPattern,
    bias_activation,
    operator_pattern,
)
from refmlc.testing import assert_equivalent

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            c = R.add(b, a)
            d = R.nn.relu(c)
            s = R.split(d, 2, axis=1)
            e = R.exp(s[0])
            f = R.add(e, s[1])
            g = R.reshape(f, (8,))
            h = R.multiply(g, R.const(2.0, "float32"))
            R.output(h, d)
        return (h, d)
"""


def anything(count):
    return [WildcardPattern() for _ in range(count)]


def bound(text=TEXT):
    """The module, its values by the names of variables, and its values by variable."""
    func = refmlc.read(text)["main"]
    bindings = [binding for block in func.body.blocks for binding in block.bindings]
    return func, {b.var.name: b.value for b in bindings}, {b.var: b.value for b in bindings}


FUNC, BY_NAME, VALUES = bound()


def is_it(pattern, name):
    return matched_expressions(pattern, BY_NAME[name], VALUES) is not None


def test_variables_are_looked_through_only_where_values_are_known():
    pattern = operator_pattern("nn.relu")(
        operator_pattern("add")(WildcardPattern(), operator_pattern("matmul")(*anything(2)))
    )
    assert is_it(pattern, "d")
    assert matched_expressions(pattern, BY_NAME["d"]) is None


def test_arguments_of_an_addition_may_be_swapped_and_others_may_not():
    product = operator_pattern("matmul")(*anything(2))
    assert is_it(operator_pattern("add")(WildcardPattern(), VarPattern("b")), "c")
    assert is_it(operator_pattern("relax.add")(product, VarPattern("b")), "c")
    assert is_it(operator_pattern("matmul")(VarPattern("x"), VarPattern("w")), "a")
    assert not is_it(operator_pattern("matmul")(VarPattern("w"), VarPattern("x")), "a")


def test_a_pattern_is_one_expression_in_all_its_places():
    one = WildcardPattern()
    assert not is_it(operator_pattern("matmul")(one, one), "a")
    square, values = bound(TEXT.replace("R.matmul(x, w)", "R.matmul(x, x)"))[1:]
    assert matched_expressions(operator_pattern("matmul")(one, one), square["a"], values) is not None


def test_constants_shapes_tuples_and_functions():
    assert is_it(operator_pattern("multiply")(WildcardPattern(), ConstantPattern()), "h")
    assert not is_it(operator_pattern("multiply")(WildcardPattern(), VarPattern()), "h")
    assert is_it(operator_pattern("reshape")(WildcardPattern(), ShapeExprPattern((8,))), "g")
    assert not is_it(operator_pattern("reshape")(WildcardPattern(), ShapeExprPattern((4, 2))), "g")
    pair = relax.Tuple((FUNC.params[0], FUNC.params[2]))
    fields = (VarPattern("b"), VarPattern("x"))
    assert matched_expressions(TuplePattern(fields), pair) is None
    assert matched_expressions(TuplePattern(fields, unordered=True), pair) is not None
    assert matched_expressions(FunctionPattern((VarPattern("x"),) * 2, WildcardPattern()), FUNC) is None
    assert matched_expressions(FunctionPattern(tuple(anything(3)), WildcardPattern()), FUNC)


def test_arguments_may_be_left_open():
    assert not is_it(operator_pattern("reshape")(WildcardPattern()), "g")
    assert is_it(operator_pattern("reshape")(WildcardPattern(), varg_default_wildcard=True), "g")


def test_types_attributes_and_a_refusal():
    split = operator_pattern("split")(WildcardPattern())
    assert is_it(split.has_attr({"axis": 1}), "s")
    assert not is_it(split.has_attr({"axis": True}), "s")
    x = FUNC.params[0]
    assert matched_expressions(VarPattern().has_type(x.ty), x) is not None
    assert matched_expressions(VarPattern().has_shape((4, 5)), x) is None
    assert matched_expressions(VarPattern().has_dtype("float16"), x) is None
    with pytest.raises(RefmlcError, match="attribute of an operator"):
        is_it(operator_pattern("split").has_attr({"TOpPattern": 0})(WildcardPattern()), "s")


def divided(*patterns, **options):
    return fuse_ops_by_pattern(refmlc.read(TEXT), [FusionPattern(*pattern) for pattern in patterns], **options)


PATTERNS = (
    ("a.act", operator_pattern("exp")(WildcardPattern()) | operator_pattern("nn.relu")(WildcardPattern())),
    ("a.bias", bias_activation("matmul", with_bias=True)),
    ("b.add", operator_pattern("add")(WildcardPattern(), WildcardPattern())),
    ("a.split", operator_pattern("split")(WildcardPattern())),
    ("a.mul", operator_pattern("multiply")(WildcardPattern(), WildcardPattern())),
)


@pytest.mark.parametrize("bind_constants", [True, False])
@pytest.mark.parametrize("annotate_codegen", [True, False])
@pytest.mark.parametrize("merged", [True, False])
def test_the_meaning_is_kept_to_the_bit(bind_constants, annotate_codegen, merged):
    module = divided(*PATTERNS, bind_constants=bind_constants, annotate_codegen=annotate_codegen)
    module = merge_composite_functions(module) if merged else module
    assert not list(check_module(module))
    assert_equivalent(refmlc.read(TEXT), module, func="main", calls=4, exact=True)
    refmlc.read(module.script(show_meta=True))


def test_composites_carry_their_names():
    module = divided(*PATTERNS)
    names = {func.attrs["Composite"] for func in module.functions.values() if "Composite" in func.attrs}
    assert names == {"a.act", "a.bias", "b.add", "a.split", "a.mul"}
    calls = [node for node in walk(module["main"]) if isinstance(node, relax.Call)]
    assert [call for call in calls if isinstance(call.op, relax.Op)] == [
        call for call in calls if isinstance(call.op, relax.Op) and call.op.name == "reshape"
    ]


def test_a_check_sees_the_match_and_may_refuse_it():
    contexts = []

    def check(context):
        contexts.append(context)
        return False

    data = WildcardPattern()
    relu = operator_pattern("nn.relu")(data)
    assert divided(("a.relu", relu, {"data": data, "root": relu}, check)).functions.keys() == {"main"}
    (context,) = contexts
    assert {*context.annotated_expr} == {"data", "root"}
    assert [var.name for var in context.matched_bindings] == ["d"]
    (usages,) = [users for var, users in context.var_usages.items() if var.name == "c"]
    assert [var.name for var in usages] == ["d"]


def test_a_merge_takes_a_module_with_a_main():
    with pytest.raises(RefmlcError, match="RM112"):
        merge_composite_functions(refmlc.read(TEXT.replace("def main", "def other")))


PACKED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.call_dps_packed("outside", (x,), R.Tensor((4,), "float32"))
            R.output(a)
        return a
"""


def test_the_name_of_a_packed_function_stays_where_it_is():
    pattern = operator_pattern("call_dps_packed")(*anything(2))
    module = fuse_ops_by_pattern(refmlc.read(PACKED), [FusionPattern("a.out", pattern)])
    func = module["fused_relax_call_dps_packed"]
    assert [param.name for param in func.params] == ["x"]
    assert any(isinstance(node, relax.ExternFunc) and node.symbol == "outside" for node in walk(func))
