"""Static rules for calls in Relax: what is called takes such arguments, and may be called here.

* RLX-905, `call_tir` and its kin: inputs, then outputs, then shape variables are the parameters of the TensorIR
  function; each tensor has the shape and dtype of its buffer.
* RLX-904, a function of the module or a value of function type: as many arguments as parameters, of types that do not
  contradict.
* RLX-909, an operator of the library: as its definition says.
* RLX-903, any call: no effect in a dataflow block or in a pure function.

One call gives at most one finding on its arguments: the first misfit, the others as notes.
"""

from collections.abc import Mapping

from refmlc.diag import RefmlcError, Related, Span, Unsupported
from refmlc.diag.catalogue import ARITY, DATAFLOW_EFFECT, IMPURE, TYPE_MISMATCH, Code
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.relax import Call, Expr, Function, Op, ShapeExpr, Tuple, Var
from refmlc.lang.ir.types import FuncType, PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.library import OPERATORS, Operator, type_of as operator_type
from refmlc.lang.wellformed.findings import Findings
from refmlc.lang.wellformed.infer import function_type, type_of
from refmlc.lang.wellformed.purity import effect_of
from refmlc.lang.wellformed.unify import Unifier

CALL_TIR = frozenset(("call_tir", "call_tir_inplace", "call_tir_with_grad"))


class CallRules:
    """Checks calls; `pure_function` and `in_dataflow` say where."""

    def __init__(self, module: IRModule, findings: Findings, known: Mapping[Var, Type | None]) -> None:
        self.module = module
        self.findings = findings
        self.known = known
        self.here = Unifier(closed=True)
        self.pure_function: str | None = None
        self.in_dataflow = False

    def call(self, call: Call, near: Span | None) -> None:
        """Check one call, its parts being checked already."""
        self._effect(call, near)
        if isinstance(call.op, Op):
            if call.op.name in CALL_TIR and call.args and isinstance(call.args[0], tir.GlobalVar):
                self._call_tir(call, call.op.name, call.args[0], near)
            elif call.op.name in OPERATORS:
                self._operator(call, OPERATORS[call.op.name], near)
            return
        if isinstance(call.op, tir.GlobalVar):
            function = self.module.functions.get(call.op.name)
            if isinstance(function, tir.PrimFunc):
                self._count(call.op.name, len(function.params), len(call.args), near, function.span)
            elif isinstance(function, Function):
                self._function(call, call.op.name, function_type(function), near, function.span)
        else:
            ty = self._type(call.op)
            if isinstance(ty, FuncType):
                name = call.op.name if isinstance(call.op, Var) else "the called function"
                self._function(call, name, ty, near, None)

    def _operator(self, call: Call, op: Operator, near: Span | None) -> None:
        """The operator's own rules for arguments of known types. Limits of refmlc are left to the run."""
        try:
            operator_type(op, [self._type(arg) for arg in call.args], call.attrs)
        except Unsupported:
            return
        except RefmlcError as refused:
            diagnostic = refused.diagnostic
            self.findings.report(diagnostic.code, f"`{op.name}`: {diagnostic.message}", call.span or near)

    def _effect(self, call: Call, near: Span | None) -> None:
        what = effect_of(call, self.module, self.known)
        if what is None:
            return
        if self.in_dataflow:
            self.findings.report(DATAFLOW_EFFECT, f"{what} has an effect, and is called in a dataflow block", near)
        elif self.pure_function is not None:
            message = f"{what} has an effect, and is called in `{self.pure_function}`, which is declared pure"
            self.findings.report(IMPURE, message, near, subject=self.pure_function)

    def _type(self, expr: Expr) -> Type | None:
        return type_of(expr, self.module, self.known)

    def _count(self, name: str, takes: int, count: int, near: Span | None, declared: Span | None) -> bool:
        """Whether as many arguments are given as taken; report it where not."""
        if takes != count:
            message = f"`{name}` takes {takes} argument{'' if takes == 1 else 's'}, {count} given"
            related = [Related(f"`{name}` is defined here", declared)] if declared else []
            self.findings.report(ARITY, message, near, related=related)
        return takes == count

    def _function(self, call: Call, name: str, ty: FuncType, near: Span | None, declared: Span | None) -> None:
        """A call of a Relax function."""
        if ty.params is None or not self._count(name, len(ty.params), len(call.args), near, declared):
            return
        types = [self._type(arg) for arg in call.args]
        unifier = Unifier()
        for param, arg in zip(ty.params, types, strict=True):
            unifier.bind_type(param, arg)
        misfits: list[Misfit] = []
        for index, (param, arg) in enumerate(zip(ty.params, types, strict=True)):
            conflict = unifier.conflict(param, arg)
            if conflict is not None:
                code, text = conflict
                misfits.append(
                    (code, f"argument {index} of `{name}` does not fit: {text}", f"argument {index}: {text}", declared)
                )
        self._misfits(misfits, near, f"`{name}` is defined here")

    # --------------------------------------------------------------------------------------------- call_tir

    def _call_tir(self, call: Call, how: str, callee: tir.GlobalVar, near: Span | None) -> None:
        """A call of a TensorIR function that is given its outputs."""
        function = self.module.functions.get(callee.name)
        if function is None:
            return
        if not isinstance(function, tir.PrimFunc):
            self.findings.report(
                TYPE_MISMATCH, f"`R.{how}` calls `{callee.name}`, which is not a TensorIR function", near
            )
            return
        inputs = self._inputs(call.args[1]) if len(call.args) > 1 else []
        outputs = self._outputs(call)
        dims = self._dims(call)
        if inputs is None or dims is None:
            return
        types = (*inputs, *outputs, *dims)
        if not self._count(callee.name, len(function.params), len(types), near, function.span):
            return
        names = [*(f"argument {index}" for index in range(len(inputs)))]
        names += ["the output"] if len(outputs) == 1 else [f"output {index}" for index in range(len(outputs))]
        names += ["a shape variable"] * len(dims)
        self._buffers(function, callee.name, list(zip(names, types, strict=True)), near)

    def _inputs(self, args: Expr) -> list[Type | None] | None:
        """The types of the input tensors, None where their number is not known."""
        if isinstance(args, Tuple):
            return [self._type(field) for field in args.fields]
        ty = self._type(args)
        if isinstance(ty, TupleType):
            return list(ty.fields)
        return [ty] if isinstance(ty, TensorType) else None

    def _outputs(self, call: Call) -> list[Type | None]:
        """The types of the output tensors that are fresh."""
        outputs: list[Type | None] = []
        for ty in call.ty_args:
            outputs += ty.fields if isinstance(ty, TupleType) else (ty,)
        inplace = call.attrs.get("inplace_indices")
        if isinstance(inplace, tuple) and len(inplace) == len(outputs):
            return [ty for ty, index in zip(outputs, inplace, strict=True) if _number(index) == -1]
        return outputs

    def _dims(self, call: Call) -> list[Type | None] | None:
        """The values given for shape variables, None where their number is not known."""
        if len(call.args) < 3:
            return []
        packed = call.args[2]
        ty = ShapeType(packed.values) if isinstance(packed, ShapeExpr) else self._type(packed)
        if isinstance(ty, ShapeType) and ty.values is not None:
            return [PrimType(value.dtype, value) for value in ty.values]
        return None

    def _buffers(
        self, function: tir.PrimFunc, name: str, arguments: list[tuple[str, Type | None]], near: Span | None
    ) -> None:
        """Each tensor fits the buffer that it is given for."""
        unifier = Unifier()
        pairs = [
            (what, function.buffer_map.get(param, param), ty)
            for param, (what, ty) in zip(function.params, arguments, strict=True)
        ]
        for _, declared, ty in pairs:
            if isinstance(declared, tir.Var) and isinstance(ty, PrimType) and ty.value is not None:
                unifier.bind((declared,), (ty.value,))
        for _, declared, ty in pairs:
            if isinstance(declared, tir.Buffer) and isinstance(ty, TensorType) and ty.shape is not None:
                unifier.bind(declared.shape, ty.shape)
        misfits: list[Misfit] = []
        for what, declared, ty in pairs:
            if not isinstance(declared, tir.Buffer) or not isinstance(ty, TensorType):
                continue
            conflict = unifier.tensor_conflict(TensorType(declared.shape, declared.dtype), ty)
            if conflict is not None:
                code, text = conflict
                message = f"{what} of the call of `{name}` does not fit buffer `{declared.name}`: {text}"
                misfits.append((code, message, f"{what} does not fit buffer `{declared.name}`: {text}", declared.span))
        self._misfits(misfits, near, "the buffer is declared here")

    def _misfits(self, misfits: "list[Misfit]", near: Span | None, declared: str) -> None:
        """Report the first misfit, and the others in its notes."""
        if not misfits:
            return
        (code, message, _, span), *others = misfits
        related = [Related(declared, span)] if span else []
        self.findings.report(code, message, near, notes=[note for _, _, note, _ in others], related=related)


Misfit = tuple[Code, str, str, Span | None]


def _number(value: tir.Attr) -> object:
    """The integer in an attribute."""
    return value.value if isinstance(value, tir.IntImm) else value
