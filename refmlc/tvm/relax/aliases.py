"""`CanonicalizeBindings`: `b = a` is dropped, and `a` stands where `b` was, as far as both are visible there."""

from refmlc.lang.builder import PyExprMutator
from refmlc.lang.ir import IRModule, relax


class _Aliases(PyExprMutator):
    """Drops variables that are other variables."""

    def visit_var_binding_(self, binding: relax.VarBinding) -> None:
        """A binding; one of a variable of a dataflow block to a variable that leaves it stays."""
        value = self.visit_expr(binding.value)
        if isinstance(value, relax.Var) and (binding.var.dataflow or not value.dataflow):
            self.set_var_remap(binding.var, value)
        else:
            super().visit_var_binding_(binding)


def without_aliases(module: IRModule) -> IRModule:
    """The module with functions that name each value once."""
    work = _Aliases(module)
    for name, func in module.functions.items():
        if isinstance(func, relax.Function):
            changed = work.visit_expr(func)
            if isinstance(changed, relax.Function):
                work.builder_.update_func(name, changed)
    return work.builder_.get()
