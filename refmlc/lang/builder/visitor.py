"""`PyExprVisitor`: a walk over a function of Relax, a method for each kind of node, to be overridden.

| method                                              | gets                                                  |
|-----------------------------------------------------|-------------------------------------------------------|
| `visit_expr`                                        | any expression, and calls the method for it           |
| `visit_call_`, `visit_function_`, `visit_if_`, …    | an expression of that kind                            |
| `visit_binding`, `visit_var_binding_`, …            | a binding                                             |
| `visit_binding_block`, `visit_dataflow_block_`, …   | a block                                               |
| `visit_var_def`, `visit_dataflow_var_def_`, …       | a variable where it is bound                          |

Each method, unless it is overridden, visits what is inside, in the order of execution. Names are TVM's.

>>> class Calls(PyExprVisitor):
...     def visit_call_(self, call):
...         print(call.op)
...         super().visit_call_(call)
"""

from collections.abc import Mapping

from refmlc.lang.ir import relax, tir

METHODS: Mapping[type, str] = {
    relax.Constant: "visit_constant_",
    relax.Tuple: "visit_tuple_",
    relax.ShapeExpr: "visit_shape_expr_",
    relax.ExternFunc: "visit_extern_func_",
    tir.GlobalVar: "visit_global_var_",
    relax.Function: "visit_function_",
    relax.Call: "visit_call_",
    relax.SeqExpr: "visit_seq_expr_",
    relax.If: "visit_if_",
    relax.Op: "visit_op_",
    relax.TupleGetItem: "visit_tuple_getitem_",
    relax.PrimValue: "visit_prim_value_",
    relax.StringImm: "visit_string_imm_",
    relax.DataTypeImm: "visit_data_type_imm_",
}


def method_of(expr: relax.Expr) -> str:
    """The name of the method for an expression of this kind; empty if there is none."""
    if isinstance(expr, relax.Var):
        return "visit_dataflow_var_" if expr.dataflow else "visit_var_"
    return METHODS.get(type(expr), "")


class PyExprVisitor:
    """Visits expressions, bindings and blocks."""

    def visit_expr(self, expr: relax.Expr) -> None:
        """Visit an expression by its kind."""
        method = method_of(expr)
        if method:
            getattr(self, method)(expr)

    def visit_constant_(self, op: relax.Constant) -> None:
        """A constant: nothing is inside."""

    def visit_tuple_(self, op: relax.Tuple) -> None:
        """A tuple: its fields."""
        for item in op.fields:
            self.visit_expr(item)

    def visit_var_(self, op: relax.Var) -> None:
        """A variable where it is used."""

    def visit_dataflow_var_(self, op: relax.Var) -> None:
        """A variable of a dataflow block where it is used; as `visit_var_`."""
        self.visit_var_(op)

    def visit_shape_expr_(self, op: relax.ShapeExpr) -> None:
        """A shape: nothing of Relax is inside."""

    def visit_extern_func_(self, op: relax.ExternFunc) -> None:
        """A packed function's name."""

    def visit_global_var_(self, op: tir.GlobalVar) -> None:
        """The name of a function of the module."""

    def visit_op_(self, op: relax.Op) -> None:
        """An operator."""

    def visit_prim_value_(self, op: relax.PrimValue) -> None:
        """A primitive value."""

    def visit_string_imm_(self, op: relax.StringImm) -> None:
        """A string."""

    def visit_data_type_imm_(self, op: relax.DataTypeImm) -> None:
        """A dtype."""

    def visit_tuple_getitem_(self, op: relax.TupleGetItem) -> None:
        """A field of a tuple: the tuple."""
        self.visit_expr(op.tuple_value)

    def visit_call_(self, op: relax.Call) -> None:
        """A call: what is called, then the arguments."""
        self.visit_expr(op.op)
        for argument in op.args:
            self.visit_expr(argument)

    def visit_if_(self, op: relax.If) -> None:
        """A condition, and both branches."""
        self.visit_expr(op.condition)
        self.visit_expr(op.true_branch)
        self.visit_expr(op.false_branch)

    def visit_seq_expr_(self, op: relax.SeqExpr) -> None:
        """Blocks, then the value."""
        for block in op.blocks:
            self.visit_binding_block(block)
        self.visit_expr(op.body)

    def visit_function_(self, op: relax.Function) -> None:
        """Parameters, then the body."""
        for param in op.params:
            self.visit_var_def(param)
        self.visit_expr(op.body)

    def visit_binding_block(self, block: relax.Block) -> None:
        """Visit a block by its kind."""
        if isinstance(block, relax.DataflowBlock):
            self.visit_dataflow_block_(block)
        else:
            self.visit_binding_block_(block)

    def visit_binding_block_(self, block: relax.BindingBlock) -> None:
        """A block: its bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block: relax.DataflowBlock) -> None:
        """A dataflow block: its bindings."""
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_binding(self, binding: relax.Binding) -> None:
        """Visit a binding by its kind."""
        if isinstance(binding, relax.MatchCast):
            self.visit_match_cast_(binding)
        else:
            self.visit_var_binding_(binding)

    def visit_var_binding_(self, binding: relax.VarBinding) -> None:
        """A binding: its value, then its variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_match_cast_(self, binding: relax.MatchCast) -> None:
        """A cast: its value, then its variable."""
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_var_def(self, var: relax.Var) -> None:
        """Visit a variable where it is bound, by its kind."""
        if var.dataflow:
            self.visit_dataflow_var_def_(var)
        else:
            self.visit_var_def_(var)

    def visit_var_def_(self, var: relax.Var) -> None:
        """A variable where it is bound."""

    def visit_dataflow_var_def_(self, var: relax.Var) -> None:
        """A variable of a dataflow block where it is bound."""
