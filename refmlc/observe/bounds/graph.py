"""Relax functions certified: the interpreter runs the graph, each call of a TensorIR function is run on enclosures too.

Every storage that a TensorIR function touches has one region, which outlives the call; so enclosures pass from call
to call, by views and reshapes, through memory that a plan reuses. Operations of the graph itself are exact: constants,
allocations, shapes, views. Constructs that could carry a rounded value past the regions are not certified (RM504):

| not certified                                   | because                                            |
|-------------------------------------------------|----------------------------------------------------|
| packed and external functions                   | their results are unknown                          |
| `R.if` of a tensor that is computed             | the value may depend on a rounding                 |
| assertions and shapes read from tensors         | the same                                           |
| copies (`ensure_zero_offset`)                   | the copy has no region                             |
| a storage used with two dtypes                  | a region has one                                   |
"""

from collections.abc import Iterator, Mapping, Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.tirx import KERNEL
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS
from refmlc.native.tier.work import Work
from refmlc.observe.bounds.array_nests import execute_on_arrays, iterations
from refmlc.observe.bounds.ball_functions import NotPlain
from refmlc.observe.bounds.cell_arrays import cells_of_array, supported
from refmlc.observe.bounds.enclosure import Enclosure, point
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.nests import NestFunction, plain_function
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import Region, View, first_value
from refmlc.observe.bounds.roundoff import Grid
from refmlc.observe.bounds.run import Run
from refmlc.observe.bounds.statements import execute, match_declaration
from refmlc.run.interp.hooks import Hooks
from refmlc.run.interp.tirx.kernels import as_loops
from refmlc.run.memory.storage import Storage
from refmlc.run.memory.tensor import Tensor

REFUSED = frozenset(
    (
        "call_dps_packed",
        "call_pure_packed",
        "call_inplace_packed",
        "call_py_func",
        "tensor_to_shape",
        "assert_op",
        "memory.ensure_zero_offset",
        "vm.builtin.tensor_to_shape",
        "vm.builtin.read_if_cond",
        "vm.builtin.ensure_zero_offset",
        "relax.run.assert_op",
    )
)


def check_graph(module: IRModule, entry: str) -> None:
    """Fails: RM504 for a construct of a Relax function that is not certified; `entry` is the called function."""
    fixed = _fixed_parameters(module, entry)
    for func in module.functions.values():
        if not isinstance(func, relax.Function):
            continue
        for node in walk(func):
            match node:
                case relax.If(condition=condition) if condition not in fixed:
                    raise not_certified("`R.if`", node.span)
                case relax.Op(name) if name in REFUSED or name not in GRAPH_OPS:
                    raise not_certified(f"the operator `{name}`", node.span)
                case relax.ExternFunc(symbol) if symbol in REFUSED or symbol not in BUILTINS:
                    raise not_certified(f"the function `{symbol}`", node.span)


def _fixed_parameters(module: IRModule, entry: str) -> frozenset[relax.Var]:
    """The parameters of `entry` that have the caller's values: no other call of it, no write to arguments."""
    func = module.functions.get(entry)
    nodes = [
        node
        for function in module.functions.values()
        if isinstance(function, relax.Function)
        for node in walk(function)
    ]
    writes = any(isinstance(node, relax.Op) and "inplace" in node.name for node in nodes)
    recursive = any(isinstance(node, tir.GlobalVar) and node.name == entry for node in nodes)
    return frozenset(func.params) if isinstance(func, relax.Function) and not writes and not recursive else frozenset()


class Regions:
    """The region of each storage; the storages are kept alive, so that no other takes their identity."""

    def __init__(self, least: int, freedom: Freedom) -> None:
        """No regions. `least`: how many elements are held as arrays; `freedom`: numbers in memory may be narrower."""
        self._known: dict[int, tuple[Storage, Region]] = {}
        self._least = least
        self._freedom = freedom

    def view(self, tensor: Tensor) -> View:
        """The tensor on its storage's region; a new region has the values of the storage."""
        region = self._region(tensor.storage, tensor.dtype)
        offset, remainder = divmod(tensor.byte_offset, tensor.itemsize)
        if remainder:
            raise not_certified("a tensor between elements", None)
        return View(region, tensor.shape, tensor.element_strides, offset)

    def _region(self, storage: Storage, dtype: DType) -> Region:
        entry = self._known.get(id(storage))
        if entry is None:
            entry = self._known[id(storage)] = (storage, self._narrowed(_snapshot(storage, dtype, self._least)))
        if entry[1].dtype != dtype:
            raise not_certified(f"memory used as {entry[1].dtype} and as {dtype}", None)
        return entry[1]

    def _narrowed(self, region: Region) -> Region:
        narrow = self._freedom.narrow
        if narrow is None or not region.dtype.is_float or region.dtype.bits <= narrow.bits:
            return region
        grid = Grid(region.dtype, self._freedom)
        values = [region.read(number) for number in range(region.size)]
        return Region(region.dtype, [grid.narrowed(each) if isinstance(each, Enclosure) else each for each in values])


def _snapshot(storage: Storage, dtype: DType, least: int) -> Region:
    if dtype.is_vector or dtype.kind in ("handle", "void"):
        raise not_certified(f"memory of {dtype}", None)
    size = Tensor(storage, dtype, (0,)).itemsize
    whole = Tensor(storage, dtype, (storage.nbytes // size,))
    if whole.size >= least and supported(dtype):
        return Region(dtype, cells_of_array(dtype, whole.array, whole.written))
    cells, shadow = whole.cells, whole.shadow
    return Region(dtype, [first_value(dtype, cells[at]) if shadow[at] else None for at in range(whole.size)])


ARRAYS_FROM = 10_000
"""How many elements or iterations are executed on arrays, where that is possible: numbers take a third of a second."""
MOST_ON_NUMBERS = 200_000
"""How many iterations are executed on numbers: some ten seconds."""


class EnclosureHooks(Hooks):
    """Runs each TensorIR function on enclosures after the interpreter has run it.

    A function of at least `arrays_from` iterations, or with memory of that many elements, runs on arrays where it is
    plain (`nests`). `executes`: functions are executed; else the call is known to be defined, and none is.
    """

    def __init__(
        self, module: IRModule, freedom: Freedom, *, arrays_from: int = ARRAYS_FROM, executes: bool = True
    ) -> None:
        self.module = module
        self.freedom = freedom
        arrays_from = arrays_from if freedom.narrow is None else MOST_ON_NUMBERS
        self.regions = Regions(arrays_from, freedom)
        self._arrays_from = arrays_from
        self._executes = executes
        self._plain: dict[str, NestFunction | str] = {}
        self._open: list[tuple[tir.PrimFunc, list[object]] | None] = []

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Make the regions of the arguments, with the values from before the call."""
        func = self.module.functions.get(name)
        if not isinstance(func, tir.PrimFunc):
            self._open.append(None)
            return
        if len(args) != len(func.params):
            raise not_certified(f"the packed entry `{name}`", func.span)
        for arg in args:
            if isinstance(arg, Tensor):
                self.regions.view(arg)
        self._open.append((func, list(args)))

    def is_quiet(self, name: str, args: Sequence[object]) -> bool:
        """Whether a substitute takes the call in the interpreter's place."""
        del name, args
        return not self._executes

    def leave_function(self, name: str, result: object) -> None:
        """Run `name` on enclosures: it is defined, since the interpreter ran to its end."""
        del result
        call = self._open.pop()
        if call is None:
            return
        func, args = as_loops(call[0]), call[1]
        _check_kernel(func)
        views = {
            buffer: self.regions.view(arg)
            for param, arg in zip(func.params, args, strict=True)
            if (buffer := func.buffer_map.get(param)) is not None and isinstance(arg, Tensor)
        }
        reason = self._on_arrays(name, func, args, views)
        if reason is None:
            return
        count = Work(func).iterations(args)
        if count > MOST_ON_NUMBERS:
            raise not_certified(f"`{name}`, which has {reason} and {count:,} iterations,", func.span)
        run = Run(self.freedom)
        bind_arguments(run, func, args, views)
        execute(run, func.body, views)

    def _on_arrays(
        self, name: str, func: tir.PrimFunc, args: Sequence[object], views: Mapping[tir.Buffer, View]
    ) -> str | None:
        """Why a function is not executed on arrays; None: it was."""
        plain = self._plain.get(name)
        if plain is None:
            try:
                plain = plain_function(func)
            except NotPlain as problem:
                plain = str(problem)
            self._plain[name] = plain
        if isinstance(plain, str):
            return plain
        run = Run(self.freedom)
        bind_arguments(run, func, args, views)
        run.views.update(views)
        try:
            large = any(view.region.large_arrays(self._arrays_from) for view in views.values())
            if not large and iterations(run, plain) < self._arrays_from:
                return "few iterations"
            execute_on_arrays(run, plain)
        except NotPlain as problem:
            return str(problem)
        return None


def _check_kernel(func: tir.PrimFunc) -> None:
    """Fails: RM504 where the threads of a kernel share memory: here each runs alone, to its end."""
    kernels = [node for node in walk(func.body) if isinstance(node, tir.AttrStmt) and node.key == KERNEL]
    for node in (part for kernel in kernels for part in walk(kernel)):
        if isinstance(node, tir.AllocBuffer) and node.buffer.scope.startswith("shared"):
            raise not_certified("memory that threads share", node.span)


def bind_arguments(run: Run, func: tir.PrimFunc, args: Sequence[object], views: Mapping[tir.Buffer, View]) -> None:
    """Set the parameters of `func`: numbers are rounded to the parameter, shapes bind variables.

    Fails: RM504 for an argument that is neither tensor nor number.
    """
    for param, arg in zip(func.params, args, strict=True):
        buffer = func.buffer_map.get(param)
        if buffer is not None and buffer in views:
            view = views[buffer]
            match_declaration(run, buffer, view.shape, view.strides, view.offset)
        elif isinstance(arg, bool | int | float) and param.dtype.kind not in ("handle", "void"):
            run.values[param] = point(rounder(param.dtype)(float(arg))) if param.dtype.is_float else int(arg)
        else:
            raise not_certified(f"`{param.name}`, which is neither tensor nor number,", param.span)


def tensors(value: object) -> Iterator[Tensor]:
    """The tensors of a result, tuples in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from tensors(part)
