"""Visitors see every node in order; mutators build functions anew, and leave alone what does not change."""

import numpy as np

import refmlc
from refmlc.lang import te
from refmlc.lang.builder import PyExprMutator, PyExprVisitor, update_func, with_attr, without_attr, without_func
from refmlc.lang.ir import relax
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.wellformed.module import check_module
from refmlc.rewrite.transform import dead_code_elimination
from refmlc.strategies import rolled_module
from refmlc.testing import assert_equivalent

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"), p: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            gv = R.nn.relu(R.negative(b))
            R.output(gv)
        if p:
            c = R.nn.relu(gv)
            r = R.add(c, c)
        else:
            r = R.negative(gv)
        t = (r, gv)
        return t[0]
"""


class Names(PyExprVisitor):
    """The operators that are called, the variables that are bound, in order."""

    def __init__(self):
        self.seen = []

    def visit_call_(self, op):
        super().visit_call_(op)
        self.seen.append(op.op.name)

    def visit_var_def_(self, var):
        self.seen.append(var.name)

    def visit_dataflow_var_def_(self, var):
        self.seen.append(f"{var.name} in dataflow")


def test_a_visitor_sees_all_in_order():
    names = Names()
    names.visit_expr(refmlc.read(TEXT)["main"])
    seen = [one for one in names.seen if not one.startswith("lv")]
    assert seen[:9] == [
        "x", "w", "p", "matmul", "a in dataflow", "nn.relu", "b in dataflow", "negative", "nn.relu",
    ]  # fmt: skip
    assert names.seen.count("nn.relu") == 3
    assert "t" in names.seen


def relu(x):
    return te.compute(x.shape, lambda i, j: te.max(x[i, j], te.const(0, "float32")), "relu")


class Lower(PyExprMutator):
    """As people write it: some operators become functions on tensor expressions."""

    def visit_call_(self, op):
        call = self.visit_expr_post_order(op)
        lowered = isinstance(call.op, relax.Op) and call.op.name == "nn.relu"
        return self.builder_.call_te(relu, *call.args) if lowered else call

    def transform(self):
        for name, func in self.mod_.functions.items():
            if isinstance(func, relax.Function):
                self.builder_.update_func(name, self.visit_expr(func))
        return self.builder_.get()


def test_a_mutator_lowers_operators():
    module = refmlc.read(TEXT)
    lowered = Lower(module).transform()
    assert check_module(lowered) == ()
    assert structural_equal(refmlc.read(lowered.script()), lowered)
    names = Names()
    names.visit_expr(lowered["main"])
    assert "nn.relu" not in names.seen
    assert names.seen.count("call_tir") == 3
    assert [*lowered.functions] == ["main", "relu"]
    assert_equivalent(module, lowered, calls=6, exact=True)


class Doubled(PyExprMutator):
    """A negation of what is emitted before: `-x` is `0 - x`, the zero being a binding of its own."""

    def visit_call_(self, op):
        call = self.visit_expr_post_order(op)
        if isinstance(call.op, relax.Op) and call.op.name == "negative":
            zero = self.builder_.emit(relax.Call(relax.Op("zeros_like"), call.args), "zero")
            return relax.Call(relax.Op("subtract"), (zero, *call.args))
        return call


def test_a_mutator_may_emit_bindings_first():
    module = refmlc.read(TEXT.replace("nn.relu", "exp"))
    mutator = Doubled(module)
    after = update_func(module, "main", mutator.visit_expr(module["main"]))
    assert check_module(after) == ()
    names = Names()
    names.visit_expr(after["main"])
    assert names.seen.count("subtract") == 2
    assert any(one.startswith("zero") for one in names.seen)
    assert_equivalent(module, after, inputs=[[np.ones((2, 3), "f4"), np.ones((3, 4), "f4"), np.array(True)]])


def test_a_mutator_that_changes_nothing_gives_the_same_function():
    for seed in range(30):
        module = rolled_module(seed).module
        for func in module.functions.values():
            if isinstance(func, relax.Function):
                assert PyExprMutator(module).visit_expr(func) is func, seed


def test_functions_and_attributes():
    module = dead_code_elimination(Lower(refmlc.read(TEXT)).transform())
    func = with_attr(module["main"], "note", 3)
    assert func.attrs["note"] == 3
    assert without_attr(func, "note").attrs == module["main"].attrs
    visible = with_attr(module["relu"], "global_symbol", "relu")
    assert (visible.private, visible.attrs["global_symbol"]) == (False, "relu")
    assert "global_symbol" not in update_func(module, "relu", visible)["relu"].attrs
    assert update_func(module, "twin", visible)["twin"].attrs["global_symbol"] == "relu"
    assert update_func(module, "other", func)["other"] is func
    assert [*without_func(module, "relu").functions] == ["main"]
