"""Variants: programs that say the same as another one in other words.

Loops of another kind, as many as schedules allow:

| variant      | loops                                                          |
|--------------|----------------------------------------------------------------|
| `serial`     | every loop but those of threads                                |
| `unrolled`   | innermost ones of at most `MOST_UNROLLED` iterations           |
| `vectorised` | innermost ones whose iterations do not touch what others write |
| `parallel`   | outermost ones, the same                                       |

Constant against loaded operands: what is folded when a program is compiled, against what is computed when it runs:

| variant      | is                                                                                                   |
|--------------|------------------------------------------------------------------------------------------------------|
| `loaded`     | constants that are operands of stored values stand in a buffer, a parameter more for each dtype      |
| `written in` | numbers that are given stand in the text, where no shape depends on them; it has the first call only |

Only the function that is called is rewritten, and only if it is of TensorIR. Indices, conditions, extents and operands
of intrinsics stay: the program must keep its shape.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace

import numpy as np

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import HANDLE, INT32, DType
from refmlc.lang.dtypes.storage import storage_dtype
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import ForKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.reference import Program
from refmlc.rewrite import schedule
from refmlc.run.interp.tensorir.c_abi import is_packed_entry
from refmlc.run.memory.tensor import Tensor


@dataclass(frozen=True)
class Variant:
    """`base` said otherwise, as `label` says. `more` makes the arguments that come after those of the base."""

    base: Program
    module: IRModule
    label: str
    more: Callable[[], Sequence[object]] = tuple
    calls: Sized = ()

    @property
    def func(self) -> str:
        """The function that is called."""
        return self.base.func

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.base.name or self.base.func}, {self.label}"

    def arguments(self, number: int = 0) -> list[object]:
        """The arguments of the base, and those that the variant has besides."""
        return [*self.base.arguments(number), *self.more()]

    def without_more(self, ended: Ended) -> Ended:
        """The answer to a call in the form of the base program."""
        more = len(self.more())
        return Ended(ended.value, ended.args[: len(ended.args) - more]) if more else ended


MOST_UNROLLED = 16
Step = Callable[[tir.PrimFunc, tir.Var], tir.PrimFunc]
Chosen = Callable[[tir.For, tuple[tir.For, ...]], bool]


def loop_variants(program: Program) -> Iterator[Variant]:
    """Variants of `program`, each of which has loops of another kind."""
    kinds: tuple[tuple[str, Step, Chosen], ...] = (
        ("serial", schedule.serial, lambda loop, _around: loop.kind is not ForKind.SERIAL),
        ("unrolled", schedule.unroll, lambda loop, _around: innermost(loop) and _short(loop)),
        ("vectorised", schedule.vectorize, lambda loop, _around: innermost(loop)),
        ("parallel", schedule.parallel, lambda _loop, around: not around),
    )
    for label, step, applies in kinds:
        module = _with_step(program.module, step, applies)
        if module is not None:
            yield Variant(program, module, label, calls=program.calls)


def _with_step(module: IRModule, step: Step, applies: Chosen) -> IRModule | None:
    """`module` with the step taken wherever it may be; None: nowhere."""
    functions = dict(module.functions)
    for name, func in module.functions.items():
        if isinstance(func, tir.PrimFunc):
            functions[name] = _stepped(func, step, applies)
    is_changed = any(functions[name] is not func for name, func in module.functions.items())
    return replace(module, functions=functions) if is_changed else None


def _stepped(func: tir.PrimFunc, step: Step, applies: Chosen) -> tir.PrimFunc:
    for loop, around in loops(func.body, ()):
        if loop.kind is not ForKind.THREAD_BINDING and applies(loop, around):
            try:
                func = step(func, loop.loop_var)
            except RefmlcError:  # it may not be, here
                continue
    return func


def loops(stmt: tir.Stmt, around: tuple[tir.For, ...]) -> Iterator[tuple[tir.For, tuple[tir.For, ...]]]:
    """Every loop with those around it."""
    match stmt:
        case tir.For():
            yield stmt, around
            yield from loops(stmt.body, (*around, stmt))
        case tir.While(body=body) | tir.AttrStmt(body=body):
            yield from loops(body, around)
        case tir.SeqStmt(seq):
            for part in seq:
                yield from loops(part, around)
        case tir.IfThenElse(_, then_case, else_case):
            yield from loops(then_case, around)
            if else_case is not None:
                yield from loops(else_case, around)
        case tir.SBlockRealize(block=block):
            yield from loops(block.body, around)
        case _:
            return


def innermost(loop: tir.For) -> bool:
    """Whether no loop stands in it."""
    return not any(isinstance(node, tir.For | tir.While) for node in walk(loop.body))


def _short(loop: tir.For) -> bool:
    return isinstance(loop.extent, tir.IntImm) and loop.extent.value <= MOST_UNROLLED


def operand_variants(program: Program) -> Iterator[Variant]:
    """Variants of `program` with its operands elsewhere."""
    func = program.module.functions.get(program.func)
    if not isinstance(func, tir.PrimFunc) or is_packed_entry(func):
        return
    constants = Constants({node.name for node in walk(func) if isinstance(node, tir.Var | tir.Buffer)})
    loaded = constants.taken_from(func)
    if loaded is not None:
        yield Variant(
            program, _with(program, loaded), "constants loaded from a buffer", constants.tensors, program.calls
        )
    if len(program.calls):
        written = _written_in(func, program.arguments(0))
        if written is not None:
            yield Variant(program, _with(program, written), "numbers written as literals", calls=(None,))


def _with(program: Program, func: tir.PrimFunc) -> IRModule:
    return replace(program.module, functions={**program.module.functions, program.func: func})


@dataclass
class Constants:
    """Constants that were taken out of a function, by dtype, each once."""

    names: set[str]
    values: dict[DType, list[int | float]] = field(default_factory=dict)
    buffers: dict[DType, tir.Buffer] = field(default_factory=dict)

    def taken_from(self, func: tir.PrimFunc) -> tir.PrimFunc | None:
        """`func` with constants loaded; None: it has none."""
        body = rewrite(func.body, self._store)
        if not self.values:
            return None
        full = {kind: replace(self.buffers[kind], shape=(_int(len(numbers)),)) for kind, numbers in self.values.items()}
        table: Mapping[Node, Node] = {self.buffers[kind]: buffer for kind, buffer in full.items()}
        body = rewrite(substitute(body, table), lambda node: _reading(node, list(full.values())))
        params = {tir.Var(f"{buffer.name}_handle", HANDLE): buffer for buffer in full.values()}
        return replace(func, params=(*func.params, *params), buffer_map={**func.buffer_map, **params}, body=body)

    def tensors(self) -> Sequence[object]:
        """The arguments for the parameters that were added, fresh ones."""
        return [
            Tensor.from_numpy(np.array(numbers, object).astype(storage_dtype(kind)), kind)
            for kind, numbers in self.values.items()
        ]

    def _store(self, node: Node) -> Node:
        return replace(node, value=self._operand(node.value, top=True)) if isinstance(node, tir.BufferStore) else node

    def _operand(self, expr: tir.Expr, *, top: bool = False) -> tir.Expr:
        match expr:
            case tir.FloatImm(dtype=kind, value=value) if not top and kind.lanes == 1:
                return self._load(kind, value)
            case tir.IntImm(dtype=kind, value=value) if not top and kind.kind in ("int", "uint"):
                return self._load(kind, value)
            case tir.Apply():
                return _replaced(expr, args=tuple(self._operand(arg) for arg in expr.args))
            case tir.Cast():
                return _replaced(expr, value=self._operand(expr.value))
            case tir.Select() | tir.IfThenElseExpr():
                arms = {"true_value": self._operand(expr.true_value), "false_value": self._operand(expr.false_value)}
                return _replaced(expr, **arms)
            case _:
                return expr

    def _load(self, kind: DType, value: int | float) -> tir.Expr:
        numbers = self.values.setdefault(kind, [])
        if kind not in self.buffers:
            self.buffers[kind] = tir.Buffer(self._name(f"constants_{kind}"), kind, (_int(1),))
        numbers.append(value)
        return tir.BufferLoad(self.buffers[kind], (_int(len(numbers) - 1),))

    def _name(self, base: str) -> str:
        name = next(each for each in _names(base) if each not in self.names)
        self.names.add(name)
        return name


def _names(base: str) -> Iterator[str]:
    yield base
    number = 0
    while True:
        number += 1
        yield f"{base}_{number}"


def _replaced(expr: tir.Expr, **fields: object) -> tir.Expr:
    changed = any(getattr(expr, name) != value for name, value in fields.items())
    make: Callable[..., tir.Expr] = replace
    return make(expr, **fields) if changed else expr


def _reading(node: Node, buffers: Sequence[tir.Buffer]) -> Node:
    """A block that declares what it reads, with those of `buffers` that it reads."""
    if not isinstance(node, tir.SBlock) or node.reads is None:
        return node
    here = {load.buffer for load in walk(node) if isinstance(load, tir.BufferLoad)}
    more = [
        tir.BufferRegion(buffer, tuple(tir.Range(_int(0), extent) for extent in buffer.shape))
        for buffer in buffers
        if buffer in here
    ]
    return replace(node, reads=(*node.reads, *more)) if more else node


def _int(value: int) -> tir.IntImm:
    return tir.IntImm(INT32, value)


def _written_in(func: tir.PrimFunc, args: Sequence[object]) -> tir.PrimFunc | None:
    """`func` with the numbers among `args` in its text; None: there are none, or shapes depend on them all."""
    shaping = {
        var for node in walk(func) if isinstance(node, tir.Buffer) for part in _sizes(node) for var in walk(part)
    }
    table: dict[Node, Node] = {}
    for param, arg in zip(func.params, args, strict=False):
        if param in func.buffer_map or param in shaping or isinstance(arg, Tensor):
            continue
        if param.dtype.is_float and isinstance(arg, int | float):
            table[param] = tir.FloatImm(param.dtype, float(arg))
        elif param.dtype.kind in ("int", "uint", "bool") and isinstance(arg, int):
            table[param] = tir.IntImm(param.dtype, int(arg))
    body = substitute(func.body, table)
    return None if body is func.body else replace(func, body=body)


def _sizes(buffer: tir.Buffer) -> tuple[tir.Expr, ...]:
    offset = () if buffer.elem_offset is None else (buffer.elem_offset,)
    return (*buffer.shape, *buffer.strides, *offset)
