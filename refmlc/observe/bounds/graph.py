"""Relax functions certified: the interpreter runs the graph, each call of a TensorIR function is run on enclosures too.

Every storage that a TensorIR function touches has one region, which outlives the call; so enclosures pass from call
to call, by views and reshapes, through memory that a plan reuses. Operations of the graph itself are exact: constants,
allocations, shapes, views. What could carry a rounded value past the regions is not certified (RM504):

| not certified                                   | because                                            |
|-------------------------------------------------|----------------------------------------------------|
| packed and external functions                   | what they compute is not known                     |
| `R.if` of a tensor that is computed             | the value may depend on a rounding                 |
| assertions and shapes read from tensors         | the same                                           |
| copies (`ensure_zero_offset`)                   | the copy has no region                             |
| a storage used with two dtypes                  | a region has one                                   |
"""

from collections.abc import Iterator, Sequence

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.visit import walk
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS
from refmlc.observe.bounds.arguments import bound
from refmlc.observe.bounds.freedom import Freedom
from refmlc.observe.bounds.operators import not_certified
from refmlc.observe.bounds.places import Region, View, first_value
from refmlc.observe.bounds.run import Run
from refmlc.observe.bounds.statements import execute
from refmlc.run.interp.hooks import Hooks
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
    """Fails: RM504 where a Relax function of the module does what is not certified; `entry` is called."""
    given = _given(module, entry)
    for func in module.functions.values():
        if not isinstance(func, relax.Function):
            continue
        for node in walk(func):
            match node:
                case relax.If(condition=condition) if condition not in given:
                    raise not_certified("`R.if`", node.span)
                case relax.Op(name) if name in REFUSED or name not in GRAPH_OPS:
                    raise not_certified(f"the operator `{name}`", node.span)
                case relax.ExternFunc(symbol) if symbol in REFUSED or symbol not in BUILTINS:
                    raise not_certified(f"the function `{symbol}`", node.span)


def _given(module: IRModule, entry: str) -> frozenset[relax.Var]:
    """The parameters of `entry` that are what the caller gave: nothing else calls it, nothing writes to arguments."""
    func = module.functions.get(entry)
    nodes = [node for each in module.functions.values() if isinstance(each, relax.Function) for node in walk(each)]
    writes = any(isinstance(node, relax.Op) and "inplace" in node.name for node in nodes)
    again = any(isinstance(node, tir.GlobalVar) and node.name == entry for node in nodes)
    return frozenset(func.params) if isinstance(func, relax.Function) and not writes and not again else frozenset()


class Regions:
    """The region of each storage that was met; the storages are kept, so that no other takes their identity."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Storage, Region]] = {}

    def view(self, tensor: Tensor) -> View:
        """The tensor on its storage's region, which begins with the values that are there now."""
        region = self._region(tensor.storage, tensor.dtype)
        offset, rest = divmod(tensor.byte_offset, tensor.itemsize)
        if rest:
            raise not_certified("a tensor between elements", None)
        return View(region, tensor.shape, tensor.element_strides, offset)

    def _region(self, storage: Storage, dtype: DType) -> Region:
        found = self._known.get(id(storage))
        if found is None:
            found = self._known[id(storage)] = (storage, _snapshot(storage, dtype))
        if found[1].dtype != dtype:
            raise not_certified(f"memory used as {found[1].dtype} and as {dtype}", None)
        return found[1]


def _snapshot(storage: Storage, dtype: DType) -> Region:
    if dtype.is_vector or dtype.kind in ("handle", "void"):
        raise not_certified(f"memory of {dtype}", None)
    size = Tensor(storage, dtype, (0,)).itemsize
    whole = Tensor(storage, dtype, (storage.nbytes // size,))
    cells, shadow = whole.cells, whole.shadow
    return Region(dtype, [first_value(dtype, cells[at]) if shadow[at] else None for at in range(whole.size)])


class Enclosing(Hooks):
    """Runs each TensorIR function on enclosures after the interpreter has run it."""

    def __init__(self, module: IRModule, freedom: Freedom) -> None:
        self.module = module
        self.freedom = freedom
        self.regions = Regions()
        self._open: list[tuple[tir.PrimFunc, list[object]] | None] = []

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """Take the values that the arguments have before the call."""
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

    def leave_function(self, name: str, result: object) -> None:
        """Run `name` on enclosures: it is defined, since the interpreter ran to its end."""
        del name, result
        opened = self._open.pop()
        if opened is None:
            return
        func, args = opened
        run = Run(self.freedom)
        views = {
            buffer: self.regions.view(arg)
            for param, arg in zip(func.params, args, strict=True)
            if (buffer := func.buffer_map.get(param)) is not None and isinstance(arg, Tensor)
        }
        bound(run, func, args, views)
        execute(run, func.body, views)


def tensors(value: object) -> Iterator[Tensor]:
    """The tensors of a result, tuples in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from tensors(part)
