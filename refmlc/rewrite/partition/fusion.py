"""`fuse_ops_by_pattern`: what a pattern describes becomes a function with the name of the pattern, `Composite`.

The patterns are tried in their order. A match may be refused by the `check` of its pattern. Where matches of one
pattern overlap, the later one takes the bindings that it needs from an earlier one of which it has everything; else
the earlier one stays. What the last binding of a group is belongs to the match; wildcards do not.

Source: `PatternBasedPartitioner` of TVM 0.27, `src/relax/transform/fuse_ops.cc`. Decision, as there: what an earlier
match has is read from the group of the binding that both need, and that of an inner binding holds itself alone; so the
second of two `relu` of one `conv2d` takes the `conv2d`, and the group of the first, still called `conv2d_relu`, keeps
`relu`. The meaning is the same; what the name says is not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from refmlc.diag.entry import entry_point
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.wellformed.infer import type_of
from refmlc.rewrite.partition.groups import BindingGroup, entries_of, grouped_functions
from refmlc.rewrite.partition.matcher import Matches, matched_expressions
from refmlc.rewrite.partition.patterns import CallPattern, DFPattern, TupleGetItemPattern
from refmlc.rewrite.partition.wrapping import COMPOSITE, with_compilers
from refmlc.rewrite.transform.normal_form import normalize


@dataclass(frozen=True)
class PatternCheckContext:
    """A match as a check sees it.

    `annotated_expr`: by the names that the pattern gives its parts. `matched_bindings`: what the calls and fields of
    the match are bound to. `var_usages`: the variables whose values read a variable, in the block.
    """

    matched_expr: relax.Expr
    annotated_expr: Mapping[str, relax.Expr]
    matched_bindings: Mapping[relax.Var, relax.Expr]
    var_usages: Mapping[relax.Var, Sequence[relax.Var]]
    value_to_bound_var: Mapping[relax.Expr, relax.Var]


Check = Callable[[PatternCheckContext], object]


@dataclass(frozen=True)
class FusionPattern:
    """A pattern by its name, `backend.operation`, with names of its parts and a check."""

    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] = field(default_factory=dict)
    check: Check | None = None
    attrs_getter: Callable[[Mapping[str, relax.Expr]], Mapping[str, tir.Attr]] | None = None


@entry_point
def fuse_ops_by_pattern(
    module: IRModule,
    patterns: Sequence[FusionPattern],
    *,
    bind_constants: bool = True,
    annotate_codegen: bool = False,
    entry_functions: Sequence[str] = (),
) -> IRModule:
    """`module`, in normal form, with functions for what the patterns describe.

    `bind_constants`: constants stay in the functions, else they become arguments. `annotate_codegen`: each function
    becomes a local one of a function for its compiler, `Codegen`, which is called as the pattern up to its first dot.
    """
    module = normalize(module)
    for pattern in patterns:
        groups: dict[relax.Var, BindingGroup] = {}
        for name, func in entries_of(module, entry_functions).items():
            if name in entry_functions or COMPOSITE not in func.attrs:
                groups |= _Partition(module, pattern).run(func)
        module = grouped_functions(module, groups, lift_constants=not bind_constants, entries=entry_functions)
    return with_compilers(module) if annotate_codegen else module


class _Partition:
    """The groups that one pattern makes in one function."""

    def __init__(self, module: IRModule, pattern: FusionPattern) -> None:
        self.module = module
        self.pattern = pattern
        self.groups: dict[relax.Var, BindingGroup] = {}
        self.content: dict[BindingGroup, list[relax.Var]] = {}
        self.values: dict[relax.Var, relax.Expr] = {}
        self.vars: dict[relax.Expr, relax.Var] = {}
        self.usages: dict[relax.Var, list[relax.Var]] = {}

    def run(self, func: relax.Function) -> Mapping[relax.Var, BindingGroup]:
        """The group of each variable."""
        for param in func.params:
            self.define(param)
        for block in (node for node in walk(func) if isinstance(node, relax.BindingBlock | relax.DataflowBlock)):
            self.usages = {}
            for binding in block.bindings:
                for var in dict.fromkeys(node for node in walk(binding.value) if isinstance(node, relax.Var)):
                    self.usages.setdefault(var, []).append(binding.var)
            for binding in block.bindings:
                self.define(binding.var)
                if isinstance(binding, relax.VarBinding):
                    self.values[binding.var] = binding.value
                    self.vars[binding.value] = binding.var
                    if isinstance(binding.value, relax.Call):
                        self.match(binding.var, binding.value)
        return self.groups

    def define(self, var: relax.Var) -> None:
        self.groups[var] = BindingGroup()
        self.content[self.groups[var]] = [var]

    def match(self, var: relax.Var, call: relax.Call) -> None:
        """Make a group of what the pattern describes, if `call` is it."""
        matches = matched_expressions(
            self.pattern.pattern, call, self.values, lambda expr: type_of(self.vars.get(expr, expr), self.module, {})
        )
        if matches is None:
            return
        context = self.context(call, matches)
        if self.pattern.check is not None and not self.pattern.check(context):
            return
        calls = [expr for pattern, expr in matches.items() if isinstance(pattern, CallPattern | TupleGetItemPattern)]
        inner = [
            self.vars[expr]
            for pattern, expr in matches.items()
            if isinstance(pattern, TupleGetItemPattern) or (isinstance(pattern, CallPattern) and expr is not call)
        ]
        whole = {self.vars[expr] for expr in calls}
        for part in inner:
            group = self.groups[part]
            if group.root.size > 1 and not whole.issuperset(self.content[group]):
                return
        into = self.groups[var].root
        into.attrs[COMPOSITE] = self.pattern.name
        if self.pattern.attrs_getter is not None:
            into.attrs |= self.pattern.attrs_getter(context.annotated_expr)
        for part in inner:
            self.move(part, into)

    def move(self, var: relax.Var, into: BindingGroup) -> None:
        """Put a binding in a group."""
        group = self.groups[var]
        if group is not into:
            group.size -= 1
            group.parent = into
            self.content[into].append(var)
            into.size += 1

    def context(self, call: relax.Call, matches: Matches) -> PatternCheckContext:
        annotated = {
            name: matches[pattern] for name, pattern in self.pattern.annotation_patterns.items() if pattern in matches
        }
        bindings = {
            self.vars[expr]: expr
            for pattern, expr in matches.items()
            if isinstance(pattern, CallPattern | TupleGetItemPattern)
        }
        return PatternCheckContext(call, annotated, bindings, self.usages, self.vars)
