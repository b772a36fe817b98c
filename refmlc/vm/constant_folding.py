"""`fold_constant`: calls in dataflow blocks whose arguments are constants become their results.

| folded                                                                     | not folded                        |
|----------------------------------------------------------------------------|-----------------------------------|
| a call of an operator of the library, or `call_tir`, of constants alone    | packed functions                  |
| … whose result is one tensor                                               | results that are tuples           |
| … without a tensor among its arguments: up to 1,024 elements               | bigger ones: they cost nothing    |
| a variable that stands for a constant, wherever it is read                 | calls that are undefined or trap  |

The call is executed like any other, so the meaning of the module stays the same to the bit. A call that fails is not
folded: the run may never reach it. Bindings without a use are dropped, as `dead_code_elimination` does.

Source: TVM's `relax.transform.FoldConstant`, which executes its own lowering.
"""

from collections.abc import Mapping
from dataclasses import replace

from refmlc.diag.errors import Exhausted, Trap, Undefined, Unsupported
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.types import TensorType
from refmlc.lang.ir.visit import substitute
from refmlc.lang.library import OPERATORS
from refmlc.rewrite.transform.dead_code import without_unused
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.executable import build
from refmlc.vm.machine import VirtualMachine
from refmlc.vm.parameter_binding import constant_of

MOST_ELEMENTS = 1024
"""Elements of a result that is computed from no tensor: larger ones are not folded."""


def fold_constant(module: IRModule) -> IRModule:
    """`module` with the constant calls of its dataflow blocks computed, and bindings without a use dropped."""
    functions = dict(module.functions)
    for name, func in functions.items():
        if isinstance(func, relax.Function):
            body = _Folder(module).sequence(func.body)
            functions[name] = without_unused(func if body is func.body else replace(func, body=body), module)
    same = all(module.functions[name] is func for name, func in functions.items())
    return module if same else replace(module, functions=functions)


class _Folder:
    """The state of one function: the constants that variables stand for."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.constants: dict[Node, Node] = {}

    def sequence(self, seq: relax.SeqExpr) -> relax.SeqExpr:
        blocks = tuple(self.block(block) for block in seq.blocks)
        body = substitute(seq.body, self.constants)
        same = body is seq.body and all(a is b for a, b in zip(blocks, seq.blocks, strict=True))
        return seq if same else replace(seq, blocks=blocks, body=body)

    def block(self, block: relax.Block) -> relax.Block:
        dataflow = isinstance(block, relax.DataflowBlock)
        bindings = tuple(self.binding(binding, dataflow=dataflow) for binding in block.bindings)
        same = all(a is b for a, b in zip(bindings, block.bindings, strict=True))
        return block if same else replace(block, bindings=bindings)

    def binding(self, binding: relax.Binding, *, dataflow: bool) -> relax.Binding:
        if isinstance(binding, relax.VarBinding) and isinstance(binding.value, relax.If):
            value: relax.Expr = self.branches(binding.value)
        else:
            value = substitute(binding.value, self.constants)
        if isinstance(binding, relax.VarBinding):
            if dataflow and isinstance(value, relax.Call):
                value = self.folded(value)
            if isinstance(value, relax.Constant):
                self.constants[binding.var] = value
        return binding if value is binding.value else replace(binding, value=value)

    def branches(self, value: relax.If) -> relax.If:
        condition = substitute(value.condition, self.constants)
        yes, no = self.sequence(value.true_branch), self.sequence(value.false_branch)
        same = condition is value.condition and yes is value.true_branch and no is value.false_branch
        return value if same else replace(value, condition=condition, true_branch=yes, false_branch=no)

    def folded(self, call: relax.Call) -> relax.Expr:
        """The result of the call; the call itself where it is not folded."""
        if not foldable(call, self.module):
            return call
        var = relax.Var("folded", None)
        body = relax.SeqExpr((relax.BindingBlock((relax.VarBinding(var, call),)),), var)
        alone = {"folded": relax.Function((), body, None, pure=False), **_callees(call, self.module)}
        try:
            result = VirtualMachine(build(IRModule(alone)))["folded"]()
        except (Undefined, Trap, Unsupported, Exhausted):
            return call
        has_tensor = any(isinstance(arg, relax.Constant) for arg in _flat(call.args))
        if not isinstance(result, Tensor) or (not has_tensor and result.size > MOST_ELEMENTS):
            return call
        return constant_of(result, call.span)


def foldable(call: relax.Call, module: IRModule) -> bool:
    """Whether the call is of an operator or a TensorIR function, and of constants alone."""
    match call.op:
        case relax.Op("call_tir"):
            callee, *operands = call.args
            known = isinstance(callee, tir.GlobalVar) and isinstance(module.functions.get(callee.name), tir.PrimFunc)
            single = len(call.ty_args) == 1 and isinstance(call.ty_args[0], TensorType)
            return known and single and all(_is_constant(arg) for arg in _flat(tuple(operands)))
        case relax.Op(name) if name == "reshape" or (name in OPERATORS and not OPERATORS[name].reason):
            return all(_is_constant(arg) for arg in _flat(call.args))
    return False


def _flat(args: tuple[relax.Expr, ...]) -> list[relax.Expr]:
    """The arguments, the fields of tuples in their places."""
    return [item for arg in args for item in (_flat(arg.fields) if isinstance(arg, relax.Tuple) else [arg])]


def _is_constant(arg: relax.Expr) -> bool:
    match arg:
        case relax.Constant() | relax.DataTypeImm() | relax.StringImm():
            return True
        case relax.PrimValue(value):
            return isinstance(value, tir.IntImm | tir.FloatImm)
        case relax.ShapeExpr(values):
            return all(isinstance(value, tir.IntImm) for value in values)
    return False


def _callees(call: relax.Call, module: IRModule) -> Mapping[str, "tir.PrimFunc | relax.Function | relax.ExternFunc"]:
    """The functions that a call of a TensorIR function may reach: all of them, since they may call each other."""
    is_tir = any(isinstance(arg, tir.GlobalVar) for arg in call.args)
    return {name: func for name, func in module.functions.items() if isinstance(func, tir.PrimFunc)} if is_tir else {}
