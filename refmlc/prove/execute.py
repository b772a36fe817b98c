"""A function executed on terms: its arguments are all arguments of these shapes at once.

Sizes and scalar arguments are numbers: those of `dims`, else the smallest of `SIZES` and `SCALAR`. The tensors of the
arguments do not overlap. The sanitizer's detectors take part (`watch`), with the barriers that the text implies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from refmlc.diag import Diagnostic, fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.errors import Exhausted, Malformed, Trap, Undefined, Unsupported
from refmlc.lang.dtypes import DType, dtype as dtype_named
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.types import PrimType, ShapeType, TensorType, TupleType, Type
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops.evaluate import evaluate
from refmlc.observe.sanitize.kinds import DETECTED
from refmlc.prove.expressions import prepare_expr
from refmlc.prove.memory import ArgumentMemory, TermMemory
from refmlc.prove.obligations import Obligations
from refmlc.prove.statements import prepare_stmt
from refmlc.prove.terms import SymbolicTerm, Terms, TermValue, Undecided, Unfinished
from refmlc.prove.values import rows
from refmlc.prove.watch import watchers
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.substitutes import Prepared
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.run.interp.tensorir.functions import prepare_prim_func
from refmlc.run.memory.budget import Budget
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape, kind_of
from refmlc.vm.parameters import parameters_of

SIZE, SCALAR = 5, 2
"""The value of a symbolic dimension, and of a scalar argument, for which the caller has none."""
GRAPH = frozenset(
    (
        *("call_tir", "call_tir_inplace", "null_value", "shape_of", "reshape", "builtin.alloc_tensor"),
        *("memory.alloc_storage", "vm.alloc_storage", "memory.alloc_tensor", "vm.alloc_tensor", "memory.view"),
        *("memory.kill_storage", "memory.kill_tensor", "vm.kill_object", "to_vdevice", "hint_on_device"),
        *("builtin.stop_lift_params", "call_builtin_with_ctx"),
    )
)
"""The operators of graphs that look at no element."""
BUILTINS = frozenset(
    f"vm.builtin.{name}"
    for name in (
        *("alloc_shape_heap", "match_shape", "match_prim_value", "make_shape", "make_prim_value"),
        *("check_tensor_info", "check_shape_info", "check_prim_value_info", "check_tuple_info"),
        *("alloc_storage", "alloc_tensor", "reshape", "shape_of", "null_value", "tuple_getitem", "make_tuple"),
    )
)
"""The functions of lowered graphs that look at no element, but at those of the heap of shapes."""
HEAP = "vm.builtin.alloc_shape_heap"


class TermMachine(Machine):
    """A machine whose elements are terms."""

    def __init__(self, module: IRModule, memory: TermMemory, hooks: Hooks, budget: Budget) -> None:
        super().__init__(module, hooks=hooks, budget=budget, fast=False)
        self.memory = memory
        self.scalar_ops = rows(self.scalar_ops, memory)
        self.c_functions = rows(self.c_functions, memory)

    def prim_func(self, func: tir.PrimFunc, name: str) -> Prepared:
        """The function, prepared to execute on terms."""
        memory = self.memory
        return prepare_prim_func(
            func,
            name,
            self,
            lambda scope, node: prepare_expr(scope, node, memory),
            lambda scope, node: prepare_stmt(scope, node, memory),
        )


@dataclass(frozen=True)
class OutputTensor:
    """A tensor after the execution: a value per cell; None: the cell is not initialised."""

    label: str
    dtype: DType
    shape: tuple[int, ...]
    cells: tuple[TermValue | None, ...]

    def element(self, number: int) -> str:
        """The text of cell `number`, such as `C[0, 1]`."""
        indices = ArgumentMemory(self.label, self.dtype, self.shape).index(number)
        return f"{self.label}[{', '.join(map(str, indices))}]"


@dataclass(frozen=True)
class OutputValue:
    """A number, or a shape as text."""

    label: str
    value: TermValue | str


Output: TypeAlias = OutputTensor | OutputValue


@dataclass(frozen=True)
class SymbolicExecution:
    """What a function leaves, as terms. `failure`: it is undefined, or traps, for all arguments.

    `names` are the names of the tensors among the arguments, `signature` the shape or value of each parameter, `fixed`
    the values of its sizes and scalars.
    """

    names: tuple[str, ...]
    signature: tuple[object, ...]
    fixed: Mapping[str, int | float]
    obligations: Obligations
    outputs: tuple[Output, ...] = ()
    failure: Diagnostic | None = None
    steps: int = 0


@dataclass(frozen=True)
class SymbolicCall:
    """The fixed part of the arguments: values of dimensions and scalar parameters by name; limits of each execution.

    Units: seconds (None: no limit).
    """

    dims: Mapping[str, int | float] = field(default_factory=dict)
    steps: int = 20_000_000
    seconds: float | None = None


def execute(
    module: IRModule, func: str, call: SymbolicCall, terms: Terms, like: SymbolicExecution | None = None
) -> SymbolicExecution:
    """Execute `func` for all arguments at once. Tensors have the names of those of `like`, by position; else its own.

    A function with TVM's C interface, whose parameters say nothing of its arguments, has those of `like`. Fails:
    Undecided where control or an address depends on them, or an operation has no terms, or a limit of `call` is met;
    RM112 (no such function), RM2xx.
    """
    _require_no_elements(module, func)
    memory = TermMemory(terms)
    arguments = _Arguments(module, func, call.dims, memory, like)
    values = arguments.make()
    machine = TermMachine(module, memory, watchers(module, memory), Budget(call.steps, max_seconds=call.seconds))
    outputs: list[Output] = []
    failure: Diagnostic | None = None
    try:
        result = machine.call(func, values)
        outputs = [part for name, tensor in arguments.tensors for part in _returned(tensor, memory, name)]
        outputs += _returned(result, memory, "result")
    except (Undefined, Trap) as problem:
        failure = problem.diagnostic
        if memory.has_possible_accesses and failure.code.id in DETECTED:
            raise Undecided(f"for some values of an argument: {failure.message}", failure.span) from None
    except Exhausted as limit:
        raise Unfinished(limit.diagnostic.message, limit.diagnostic.span) from None
    except (Unsupported, Malformed) as refusal:
        raise Undecided(refusal.diagnostic.message, refusal.diagnostic.span) from None
    names = tuple(name for name, _ in arguments.tensors)
    signature = tuple(map(signature_of, values))
    steps = machine.budget.steps
    return SymbolicExecution(names, signature, arguments.fixed, memory.obligations, tuple(outputs), failure, steps)


def signature_of(value: object) -> object:
    """What two arguments at one position must have in common: dtype and shape of a tensor, all of another value."""
    match value:
        case Tensor():
            return str(value.dtype), value.shape
        case tuple() if not isinstance(value, Shape):
            return tuple(map(signature_of, value))
        case _:
            return type(value).__name__, value


def _returned(value: object, memory: TermMemory, label: str) -> "list[Output]":
    """The tensors and numbers of a result, in order."""
    match value:
        case Tensor():
            if value.strides is not None:
                raise Undecided("a result has strides")
            return [OutputTensor(label, value.dtype, value.shape, memory.contents(value))]
        case Shape():
            return [OutputValue(label, repr(value))]
        case tuple():
            return [part for number, item in enumerate(value) for part in _returned(item, memory, f"{label}[{number}]")]
        case None:
            return []
        case SymbolicTerm() | int() | float():
            return [OutputValue(label, value)]
        case _:
            raise Undecided(f"{label} is {kind_of(value)}")


def _require_no_elements(module: IRModule, func: str) -> None:
    """Require that nothing but loads and stores looks at elements of tensors. Fails: Undecided."""
    for function in reachable(module, func).functions.values():
        if isinstance(function, relax.ExternFunc):
            raise Undecided(f"the function `{function.symbol}` from outside is called")
        heaps = _heaps(function) if isinstance(function, relax.Function) else set()
        for node in walk(function) if isinstance(function, relax.Function) else ():
            match node:
                case relax.If():
                    raise Undecided("a graph branches on the values of an argument", node.span)
                case relax.ExternFunc(symbol=symbol) if symbol not in BUILTINS:
                    raise Undecided(f"the function `{symbol}` from outside is called", node.span)
                case relax.Call(op=tir.GlobalVar(), args=args) if heaps.intersection(args):
                    raise Undecided("a function of the module computes shapes", node.span)
                case relax.Op(name=name):
                    name = name.removeprefix("relax.")
                    row = OPERATORS.get(name)
                    if name not in GRAPH and (row is None or row.counting is not None):
                        raise Undecided(f"the operator `R.{name}` looks at elements, or is unknown", node.span)


def _heaps(function: relax.Function) -> set[relax.Expr]:
    """The variables that hold a heap of shapes, whose elements are numbers in memory."""
    heaps: set[relax.Expr] = set()
    for node in walk(function):
        match node:
            case relax.VarBinding(value=relax.Call() as call) if any(
                isinstance(part, relax.ExternFunc) and part.symbol == HEAP for part in walk(call)
            ):
                heaps.add(node.var)
            case relax.VarBinding(value=value) if value in heaps:
                heaps.add(node.var)
    return heaps


class _Arguments:
    """Makes the arguments: every tensor of its own, with an element of the caller in each place."""

    def __init__(
        self,
        module: IRModule,
        func: str,
        dims: Mapping[str, int | float],
        memory: TermMemory,
        like: SymbolicExecution | None,
    ) -> None:
        function = module.functions.get(func)
        if function is None or isinstance(function, relax.ExternFunc):
            raise fail(BAD_USAGE, f"the module has no function `{func}` to call")
        self._function = function
        self._dims = dims
        self._memory = memory
        self._like = like
        self._names = () if like is None else like.names
        self._sizes: dict[tir.Var, int] = {}
        self.fixed: dict[str, int | float] = {}
        self.tensors: list[tuple[str, Tensor]] = []

    def make(self) -> list[object]:
        """An argument for each parameter. Fails: Undecided for a parameter of another kind."""
        if isinstance(self._function, tir.PrimFunc):
            if is_packed_entry(self._function) and self._like is not None:
                self.fixed = dict(self._like.fixed)
                return [self._same(spec) for spec in self._like.signature]
            self._scalars_that_are_sizes(self._function)
        return [self._argument(parameter.ty, parameter.name) for parameter in parameters_of(self._function)]

    def _scalars_that_are_sizes(self, function: tir.PrimFunc) -> None:
        shapes = [extent for buffer in function.buffer_map.values() for extent in buffer.shape]
        for var in (node for extent in shapes for node in walk(extent) if isinstance(node, tir.Var)):
            self._size(var)

    def _size(self, var: tir.Var) -> int:
        if var not in self._sizes:
            self._sizes[var] = self.fixed[var.name] = int(self._dims.get(var.name, SIZE))
        return self._sizes[var]

    def _extent(self, expr: tir.Expr) -> int:
        values = {var: self._size(var) for var in walk(expr) if isinstance(var, tir.Var)}
        return max(int(evaluate(expr, values)), 0)

    def _argument(self, ty: Type | None, name: str) -> object:
        match ty:
            case TensorType(shape=tuple() as shape, dtype=DType() as dtype) if dtype.kind not in ("handle", "void"):
                return self._tensor(name, tuple(map(self._extent, shape)), dtype)
            case ShapeType(values=tuple() as values):
                return Shape(map(self._extent, values))
            case PrimType(dtype=dtype, value=tir.Var() as var) if dtype.is_integer:
                return self._size(var)
            case PrimType(dtype=dtype) if dtype.kind not in ("handle", "void"):
                return self._number(name, dtype)
            case TupleType(fields=fields):
                return tuple(self._argument(part, f"{name}[{number}]") for number, part in enumerate(fields))
            case _:
                raise Undecided(f"no argument can be made for `{name}`")

    def _same(self, spec: object) -> object:
        """An argument like one of another function, of which `spec` is the signature."""
        match spec:
            case (str() as dtype, tuple() as shape):
                number = len(self.tensors)
                return self._tensor(self._names[number], shape, dtype_named(dtype))
            case ("bool" | "int" | "float", value):
                return value
            case _:
                raise Undecided("a function with TVM's C interface has an argument that is neither tensor nor number")

    def _number(self, name: str, dtype: DType) -> int | float:
        value = self.fixed.get(name, self._dims.get(name, SCALAR))
        number = float(value) if dtype.is_float else bool(value) if dtype.kind == "bool" else int(value)
        self.fixed[name] = number
        return number

    def _tensor(self, name: str, shape: tuple[int, ...], dtype: DType) -> Tensor:
        tensor = Tensor.empty(shape, dtype)
        number = len(self.tensors)
        name = self._names[number] if number < len(self._names) else name
        self._memory.argument(name, tensor)
        self.tensors.append((name, tensor))
        return tensor
