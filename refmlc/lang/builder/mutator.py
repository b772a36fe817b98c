"""`PyExprMutator`: a function of Relax built anew, a method for each kind of node that gives what takes its place.

>>> class Lower(PyExprMutator):
...     def visit_call_(self, call):
...         call = self.visit_expr_post_order(call)
...         return self.builder_.call_te(te_relu, *call.args) if call.op.name == "nn.relu" else call
...     def transform(self):
...         for name, func in self.mod_.functions.items():
...             if isinstance(func, relax.Function):
...                 self.builder_.update_func(name, self.visit_expr(func))
...         return self.builder_.get()

Bindings go through a `BlockBuilder`, `builder_`: a method may emit others before the one that is visited, nested calls
become bindings, and types follow. A variable whose value changes is a new one of the same name, and takes its place in
what comes after. What does not change stays the same object. Names are TVM's.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from refmlc.lang.builder.block_builder import BlockBuilder
from refmlc.lang.builder.visitor import method_of
from refmlc.lang.ir import IRModule, relax, tir


class PyExprMutator:
    """Builds expressions anew."""

    def __init__(self, mod: IRModule | None = None, builder: BlockBuilder | None = None) -> None:
        """Work on the functions of `mod`, with a builder that begins with it."""
        self.mod_ = IRModule({}) if mod is None else mod
        self.builder_ = BlockBuilder(self.mod_) if builder is None else builder
        self._remap: dict[relax.Var, relax.Var] = {}

    def visit_expr(self, expr: relax.Expr) -> relax.Expr:
        """The replacement of an expression, by its kind."""
        visit: Callable[[relax.Expr], relax.Expr] | None = getattr(self, method_of(expr), None)
        return expr if visit is None else visit(expr)

    def visit_expr_post_order(self, expr: relax.Expr) -> relax.Expr:
        """The expression with its parts visited, but not itself."""
        if isinstance(expr, relax.Var):
            return self.get_var_remap(expr)
        visit: Callable[[PyExprMutator, relax.Expr], relax.Expr] | None = getattr(PyExprMutator, method_of(expr), None)
        return expr if visit is None else visit(self, expr)

    # ------------------------------------------------------------------------------------------- expressions

    def visit_constant_(self, op: relax.Constant) -> relax.Expr:
        """A constant."""
        return op

    def visit_shape_expr_(self, op: relax.ShapeExpr) -> relax.Expr:
        """A shape."""
        return op

    def visit_extern_func_(self, op: relax.ExternFunc) -> relax.Expr:
        """A packed function's name."""
        return op

    def visit_global_var_(self, op: tir.GlobalVar) -> relax.Expr:
        """The name of a function of the module."""
        return op

    def visit_op_(self, op: relax.Op) -> relax.Expr:
        """An operator."""
        return op

    def visit_var_(self, op: relax.Var) -> relax.Expr:
        """A variable where it is used: the one in its place."""
        return self.get_var_remap(op)

    def visit_dataflow_var_(self, op: relax.Var) -> relax.Expr:
        """A variable of a dataflow block; as `visit_var_`."""
        return self.visit_var_(op)

    def visit_tuple_(self, op: relax.Tuple) -> relax.Expr:
        """A tuple: its fields."""
        fields = self._all(op.fields)
        return op if fields is op.fields else replace(op, fields=fields)

    def visit_tuple_getitem_(self, op: relax.TupleGetItem) -> relax.Expr:
        """A field of a tuple."""
        value = self.visit_expr(op.tuple_value)
        return op if value is op.tuple_value else replace(op, tuple_value=value)

    def visit_call_(self, op: relax.Call) -> relax.Expr:
        """A call: what is called, and the arguments."""
        callee, args = self.visit_expr(op.op), self._all(op.args)
        return op if callee is op.op and args is op.args else replace(op, op=callee, args=args)

    def visit_if_(self, op: relax.If) -> relax.Expr:
        """A condition and both branches, each with its bindings."""
        condition = self.visit_expr(op.condition)
        yes, no = self.visit_with_new_scope(op.true_branch), self.visit_with_new_scope(op.false_branch)
        if condition is op.condition and yes is op.true_branch and no is op.false_branch:
            return op
        return replace(op, condition=condition, true_branch=_sequence(yes), false_branch=_sequence(no))

    def visit_seq_expr_(self, op: relax.SeqExpr) -> relax.Expr:
        """Blocks and the value, in a separate scope of bindings."""
        return self.visit_with_new_scope(op)

    def visit_function_(self, op: relax.Function) -> relax.Expr:
        """The function with its body visited; the type of the result is kept."""
        params = tuple(self.visit_var_def(param) for param in op.params)
        body = self._scoped(op.body, params)
        same = all(a is b for a, b in zip(params, op.params, strict=True))
        return op if body is op.body and same else replace(op, params=params, body=body)

    def visit_with_new_scope(self, expr: relax.Expr) -> relax.Expr:
        """An expression in a separate scope of bindings."""
        return self._scoped(_sequence(expr), ())

    def _scoped(self, seq: relax.SeqExpr, params: Sequence[relax.Var]) -> relax.SeqExpr:
        with self.builder_.scope(params) as blocks:
            for block in seq.blocks:
                self.visit_binding_block(block)
            body = self.builder_.normalize(self.visit_expr(seq.body))
        old = [binding for block in seq.blocks for binding in block.bindings]
        new = [binding for block in blocks for binding in block.bindings]
        same = len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
        return seq if same and body is seq.body else replace(seq, blocks=tuple(blocks), body=body)

    # ------------------------------------------------------------------------------------ blocks and bindings

    def visit_binding_block(self, block: relax.Block) -> None:
        """Bind a block's bindings anew, by its kind."""
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
        with self.builder_.dataflow():
            for binding in block.bindings:
                self.visit_binding(binding)

    def visit_binding(self, binding: relax.Binding) -> None:
        """Bind anew, by the kind of the binding."""
        if isinstance(binding, relax.MatchCast):
            self.visit_match_cast_(binding)
        else:
            self.visit_var_binding_(binding)

    def visit_var_binding_(self, binding: relax.VarBinding) -> None:
        """A binding: its value is visited, its variable takes a new place where that changes."""
        self.set_var_remap(binding.var, self.builder_.again(binding, self.visit_expr(binding.value)))

    def visit_match_cast_(self, binding: relax.MatchCast) -> None:
        """A cast: the same."""
        self.set_var_remap(binding.var, self.builder_.again(binding, self.visit_expr(binding.value)))

    def visit_var_def(self, var: relax.Var) -> relax.Var:
        """What takes the place of a parameter."""
        return var

    # ---------------------------------------------------------------------------------------------- variables

    def set_var_remap(self, old_var: relax.Var, new_var: relax.Var) -> None:
        """`new_var` takes the place of `old_var` from now on."""
        if new_var is not old_var:
            self._remap[old_var] = new_var

    def get_var_remap(self, var: relax.Var) -> relax.Var:
        """What has taken the place of a variable, or itself."""
        return self._remap.get(var, var)

    def lookup_binding(self, var: relax.Var) -> relax.Expr | None:
        """The value that a variable is bound to; None for a parameter."""
        return self.builder_.lookup_binding(var)

    def _all(self, exprs: tuple[relax.Expr, ...]) -> tuple[relax.Expr, ...]:
        visited = tuple(self.visit_expr(expr) for expr in exprs)
        return exprs if all(a is b for a, b in zip(visited, exprs, strict=True)) else visited


def _sequence(expr: relax.Expr) -> relax.SeqExpr:
    return expr if isinstance(expr, relax.SeqExpr) else relax.SeqExpr((), expr)
