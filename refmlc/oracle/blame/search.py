"""Find the first wrong binding, root block and element of an implementation that returns only results.

The search runs prefixes of the program, which return everything computed so far: a prefix is wrong when any part of it
is. Bisection finds the first wrong one. All prefixes of a wrong program may be right, because the fault needs the whole
program; then the note says so.

| function | is cut                        | and returns                                                |
|----------|-------------------------------|------------------------------------------------------------|
| Relax    | after a binding of its body   | the tuple of the variables that were bound, the named ones |
| TensorIR | after a statement of its root | what the root allocates, as further parameters             |

Decision: a buffer that becomes a parameter is in global memory; its scope may have meant another one, so functions
whose roots allocate elsewhere are not cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import HANDLE
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.scopes import is_global
from refmlc.lang.ir.visit import substitute, walk
from refmlc.observe.copies import copies
from refmlc.observe.why import SliceLimits, Write, why
from refmlc.oracle.agreement import PartComparison, agree
from refmlc.oracle.implementations.implementation import Ended, Implementation, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.oracle.reference import Program
from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build


@dataclass(frozen=True)
class Root:
    """The root of a TensorIR function: its statements, and the buffers that it allocates for them."""

    statements: tuple[tir.Stmt, ...]
    buffers: tuple[tir.Buffer, ...]


def bindings_of(func: relax.Function) -> list[relax.Binding]:
    """The bindings of the body, in order; those of branches and local functions are inside of theirs."""
    return [binding for block in func.body.blocks for binding in block.bindings]


def cut_graph(module: IRModule, name: str, count: int, names: Sequence[str]) -> IRModule:
    """`module`, its Relax function `name` ending after `count` bindings with the tuple of the variables `names`."""
    func = module.functions[name]
    if not isinstance(func, relax.Function):
        raise TypeError(name)
    remaining = count
    blocks: list[relax.Block] = []
    for block in func.body.blocks:
        bindings = block.bindings[: max(remaining, 0)]
        remaining -= len(block.bindings)
        if bindings:
            blocks.append(relax.BindingBlock(bindings, span=block.span))
    hidden = {binding.var: replace(binding.var, dataflow=False) for block in blocks for binding in block.bindings}
    returned = [binding.var for block in blocks for binding in block.bindings if binding.var.name in names]
    body = relax.SeqExpr(tuple(blocks), relax.Tuple(tuple(returned)), span=func.body.span)
    visible = substitute(body, {old: new for old, new in hidden.items() if old.dataflow})
    return replace(module, functions={**module.functions, name: replace(func, body=visible, ret_ty=None)})


def root_of(func: tir.PrimFunc) -> Root | None:
    """The root of a function that can be cut: at least two statements, and only global memory."""
    body = func.body
    buffers: tuple[tir.Buffer, ...] = ()
    if isinstance(body, tir.SBlockRealize) and not body.block.iter_vars and body.block.init is None:
        buffers, body = body.block.alloc_buffers, body.block.body
    if not isinstance(body, tir.SeqStmt):
        return None
    buffers = (*buffers, *(part.buffer for part in body.seq if isinstance(part, tir.AllocBuffer)))
    statements = tuple(part for part in body.seq if not isinstance(part, tir.AllocBuffer))
    plain = all(isinstance(part, (tir.For, tir.SBlockRealize)) for part in statements)
    plain = plain and all(is_global(buffer.scope) for buffer in buffers)
    return Root(statements, buffers) if plain and len(statements) > 1 else None


def cut_prim_func(module: IRModule, name: str, count: int) -> IRModule:
    """`module`, its TensorIR function `name` ending after `count` statements; root buffers are its last parameters."""
    func = module.functions[name]
    root = root_of(func) if isinstance(func, tir.PrimFunc) else None
    if not isinstance(func, tir.PrimFunc) or root is None:
        raise TypeError(name)
    statements = root.statements[:count]
    used_buffers = {node for part in statements for node in walk(part) if isinstance(node, tir.Buffer)}
    extra = {tir.Var(f"{buffer.name}_root", HANDLE): buffer for buffer in root.buffers if buffer in used_buffers}
    body = statements[0] if len(statements) == 1 else tir.SeqStmt(statements)
    shortened = replace(
        func,
        params=(*func.params, *extra),
        buffer_map={**func.buffer_map, **extra},
        body=body,
    )
    return replace(module, functions={**module.functions, name: shortened})


def names_in(statement: tir.Stmt) -> tuple[str, ...]:
    """The blocks of a statement, outermost first."""
    return tuple(node.name for node in walk(statement) if isinstance(node, tir.SBlock))


MASKED = "no prefix of the program is wrong by itself: the fault needs a later statement"
ONE_STEP = SliceLimits(depth=1)


@dataclass(frozen=True)
class Blame:
    """The first wrong place, as far as it could be found.

    `binding` is the first variable of Relax that is wrong, `function` what it calls (or the function itself), `block`
    the first wrong root block, with `instance`, the axes of the block instance that writes the first wrong element, and
    their values. `compared` has the difference: element, both values, distance, bound, histogram, guess. `program` is
    the smallest prefix that shows it. `notes` say what could not be found, and why.
    """

    function: str
    binding: str = ""
    block: str = ""
    instance: tuple[tuple[str, int], ...] = ()
    place: str = ""
    compared: PartComparison | None = None
    program: Program | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"binding `{self.binding}`"] if self.binding else []
        parts.append(f"`{self.function}`")
        if self.block:
            at = ", ".join(f"{name} = {value}" for name, value in self.instance)
            parts.append(f"block `{self.block}`" + (f" at {at}" if at else ""))
        difference = "" if self.compared is None else f": {self.compared.label} {self.compared.verdict}"
        return ", ".join(parts) + difference + "".join(f"; {note}" for note in self.notes)


@dataclass(frozen=True)
class ProgramPrefix:
    """A program with one call."""

    module: IRModule
    func: str
    call_arguments: tuple[object, ...] = field(repr=False)
    name: str = ""

    @property
    def calls(self) -> tuple[object, ...]:
        return (self.call_arguments,)

    def arguments(self, number: int = 0) -> list[object]:
        del number
        return copies(self.call_arguments)


def blame(program: Program, call: int, implementation: Implementation) -> Blame:
    """The first place where `implementation` deviates from the meaning of call `call`, which is defined."""
    piece = ProgramPrefix(program.module, program.func, tuple(program.arguments(call)), program.name)
    return _blame(piece, implementation)


def _blame(piece: ProgramPrefix, implementation: Implementation) -> Blame:
    comparison = compare_piece(piece, implementation)
    if comparison is None or comparison.verdict.kind is not Kind.WRONG:
        return Blame(piece.func, notes=("the program is not wrong on this call",))
    match piece.module.functions[piece.func]:
        case relax.Function() as func:
            return _in_graph(piece, func, comparison, implementation)
        case tir.PrimFunc() as func:
            return _in_prim_func(piece, func, comparison, implementation)
        case _:
            return Blame(piece.func, compared=comparison, program=piece)


def compare_piece(piece: ProgramPrefix, implementation: Implementation) -> PartComparison | None:
    """Compare the implementation's result for a piece with its meaning; None: one of them has no result."""
    answers = []
    for executor in (Interp(), implementation):
        prepared = executor.prepare(piece.module)
        if isinstance(prepared, Stopped):
            return None
        answer = prepared.run(piece.func, piece.arguments())
        prepared.close()
        if not isinstance(answer, Ended):
            return None
        answers.append(answer)
    return agree(piece, 0, answers[0], answers[1], promised=implementation.promises_verdicts)


def first_wrong(count: int, look: Callable[[int], PartComparison | None]) -> tuple[int, PartComparison] | None:
    """The length of the shortest wrong prefix, by bisection, and its comparison; None if that of `count` is right."""
    comparison_of_all = look(count)
    if comparison_of_all is None or comparison_of_all.verdict.kind is not Kind.WRONG:
        return None
    low, high, comparison = 0, count, comparison_of_all
    while high - low > 1:
        middle = (low + high) // 2
        middle_comparison = look(middle)
        if middle_comparison is not None and middle_comparison.verdict.kind is Kind.WRONG:
            high, comparison = middle, middle_comparison
        else:
            low = middle
    return high, comparison


# ------------------------------------------------------------------------------------------------- Relax


class BindingRecorder(Hooks):
    """Records the tensor variables of the outermost call, and the arguments of the functions that they call."""

    def __init__(self) -> None:
        self.tensors: list[str] = []
        self.calls: dict[str, tuple[str, tuple[object, ...]]] = {}
        self._names: list[str] = []

    def before_binding(self, binding: relax.Binding) -> None:
        """A variable begins to be computed."""
        self._names.append(binding.var.name)

    def binding(self, binding: relax.Binding, value: object) -> None:
        """It has its value."""
        self._names.pop()
        if not self._names and _is_tensors(value):
            self.tensors.append(binding.var.name)

    def enter_function(self, name: str, args: Sequence[object]) -> None:
        """A function is called for a variable."""
        if len(self._names) == 1:
            self.calls.setdefault(self._names[0], (name, tuple(copies(args))))


def _is_tensors(value: object) -> bool:
    if isinstance(value, tuple) and type(value) is tuple:
        return bool(value) and all(_is_tensors(part) for part in value)
    return isinstance(value, Tensor)


def _in_graph(
    piece: ProgramPrefix, func: relax.Function, comparison: PartComparison, implementation: Implementation
) -> Blame:
    bound = BindingRecorder()
    try:
        VirtualMachine(build(piece.module, "interp"), hooks=bound)[piece.func](*piece.arguments())
    except RefmlcError as failure:
        return Blame(piece.func, compared=comparison, program=piece, notes=(failure.diagnostic.message,))
    bindings = bindings_of(func)

    def beginning(count: int) -> ProgramPrefix:
        return ProgramPrefix(
            cut_graph(piece.module, piece.func, count, bound.tensors), piece.func, piece.call_arguments
        )

    first = first_wrong(len(bindings), lambda count: compare_piece(beginning(count), implementation))
    if first is None:
        return Blame(piece.func, compared=comparison, program=piece, notes=(MASKED,))
    count, compared = first
    binding = bindings[count - 1]
    name = binding.var.name
    place = "" if binding.span is None else binding.span.place
    called, args = bound.calls.get(name, ("", ()))
    if isinstance(piece.module.functions.get(called), tir.PrimFunc):
        inner = _blame(ProgramPrefix(piece.module, called, args), implementation)
        if inner.compared is not None:
            return Blame(
                called,
                name,
                inner.block,
                inner.instance,
                inner.place or place,
                inner.compared,
                inner.program,
                inner.notes,
            )
        note = f"`{called}` gives the right result when it is called alone"
        return Blame(called, name, place=place, compared=compared, program=beginning(count), notes=(note,))
    return Blame(called or piece.func, name, place=place, compared=compared, program=beginning(count))


# ---------------------------------------------------------------------------------------------- TensorIR


def _in_prim_func(
    piece: ProgramPrefix, func: tir.PrimFunc, comparison: PartComparison, implementation: Implementation
) -> Blame:
    root = root_of(func)
    extra = None if root is None else _root_tensors(root)
    if root is None or extra is None:
        return _at_element(piece, "", comparison)

    def beginning(count: int) -> ProgramPrefix:
        module = cut_prim_func(piece.module, piece.func, count)
        shortened = module.functions[piece.func]
        added = shortened.params[len(func.params) :] if isinstance(shortened, tir.PrimFunc) else ()
        tensors = tuple(extra[var.name.removesuffix("_root")] for var in added)
        return ProgramPrefix(module, piece.func, (*piece.call_arguments, *tensors))

    first = first_wrong(len(root.statements), lambda count: compare_piece(beginning(count), implementation))
    if first is None:
        return _at_element(piece, MASKED, comparison)
    return _at_element(beginning(first[0]), "", first[1], names_in(root.statements[first[0] - 1]))


def _root_tensors(root: Root) -> dict[str, Tensor] | None:
    """Fresh tensors for what the root allocates; None where sizes are not constant."""
    tensors: dict[str, Tensor] = {}
    for buffer in root.buffers:
        shape = tuple(extent.value for extent in buffer.shape if isinstance(extent, tir.IntImm))
        if len(shape) != len(buffer.shape) or buffer.strides or buffer.name in tensors:
            return None
        tensors[buffer.name] = Tensor.empty(shape, buffer.dtype, origin=f"buffer `{buffer.name}`")
    return tensors


def _at_element(piece: ProgramPrefix, note: str, compared: PartComparison, blocks: tuple[str, ...] = ()) -> Blame:
    """The block instance that writes the first wrong element."""
    notes = (note,) if note else ()
    difference = compared.verdict.difference
    block, place = (blocks[-1] if blocks else ""), ""
    instance: tuple[tuple[str, int], ...] = ()
    if difference is not None:
        write = _writer(piece, compared.label.strip("`"), difference.index)
        if write is not None:
            block, instance = write.block or block, write.axes or write.loops
            place = "" if write.span is None else write.span.place
    return Blame(piece.func, "", block, instance, place, compared, piece, notes)


def _writer(piece: ProgramPrefix, name: str, index: tuple[int, ...]) -> Write | None:
    try:
        source = why(piece.module, piece.func, piece.call_arguments, name, index, limits=ONE_STEP).source()
    except RefmlcError:
        return None
    return source if isinstance(source, Write) else None
