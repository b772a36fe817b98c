"""Find the first wrong binding, root block and element of an implementation that returns only results.

The search runs prefixes of the program (`cuts`), which return everything computed so far: a prefix is wrong when any
part of it is. Bisection finds the first wrong one. All prefixes of a wrong program may be right, because the fault
needs the whole program; then the note says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.observe.copies import copies
from refmlc.observe.why import SliceLimits, Write, why
from refmlc.oracle.agreement import PartComparison, agree
from refmlc.oracle.blame import cuts
from refmlc.oracle.implementations.implementation import Ended, Implementation, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import Kind
from refmlc.oracle.program import Program
from refmlc.run.interp.hooks import Hooks
from refmlc.run.memory.tensor import Tensor
from refmlc.vm import VirtualMachine, build

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
    given: tuple[object, ...] = field(repr=False)
    name: str = ""

    @property
    def calls(self) -> tuple[object, ...]:
        """One."""
        return (self.given,)

    def arguments(self, number: int = 0) -> list[object]:
        """Fresh ones."""
        del number
        return copies(self.given)


def blame(program: Program, call: int, implementation: Implementation) -> Blame:
    """The first place where `implementation` deviates from the meaning of call `call`, which is defined."""
    piece = ProgramPrefix(program.module, program.func, tuple(program.arguments(call)), program.name)
    return _blame(piece, implementation)


def _blame(piece: ProgramPrefix, implementation: Implementation) -> Blame:
    whole = compare_piece(piece, implementation)
    if whole is None or whole.verdict.kind is not Kind.WRONG:
        return Blame(piece.func, notes=("the program is not wrong on this call",))
    match piece.module.functions[piece.func]:
        case relax.Function() as func:
            return _in_graph(piece, func, whole, implementation)
        case tir.PrimFunc() as func:
            return _in_prim_func(piece, func, whole, implementation)
        case _:
            return Blame(piece.func, compared=whole, program=piece)


def compare_piece(piece: ProgramPrefix, implementation: Implementation) -> PartComparison | None:
    """Compare the implementation's result for a piece with its meaning; None: one of them has no result."""
    answers = []
    for each in (Interp(), implementation):
        prepared = each.prepare(piece.module)
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
    last = look(count)
    if last is None or last.verdict.kind is not Kind.WRONG:
        return None
    low, high, comparison = 0, count, last
    while high - low > 1:
        middle = (low + high) // 2
        seen = look(middle)
        if seen is not None and seen.verdict.kind is Kind.WRONG:
            high, comparison = middle, seen
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
    piece: ProgramPrefix, func: relax.Function, whole: PartComparison, implementation: Implementation
) -> Blame:
    bound = BindingRecorder()
    try:
        VirtualMachine(build(piece.module, "interp"), hooks=bound)[piece.func](*piece.arguments())
    except RefmlcError as failure:
        return Blame(piece.func, compared=whole, program=piece, notes=(failure.diagnostic.message,))
    bindings = cuts.bindings(func)

    def beginning(count: int) -> ProgramPrefix:
        return ProgramPrefix(cuts.cut_graph(piece.module, piece.func, count, bound.tensors), piece.func, piece.given)

    first = first_wrong(len(bindings), lambda count: compare_piece(beginning(count), implementation))
    if first is None:
        return Blame(piece.func, compared=whole, program=piece, notes=(MASKED,))
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
    piece: ProgramPrefix, func: tir.PrimFunc, whole: PartComparison, implementation: Implementation
) -> Blame:
    root = cuts.root_of(func)
    extra = None if root is None else _root_tensors(root)
    if root is None or extra is None:
        return _at_element(piece, "", whole)

    def beginning(count: int) -> ProgramPrefix:
        module = cuts.cut_prim_func(piece.module, piece.func, count)
        cut = module.functions[piece.func]
        added = cut.params[len(func.params) :] if isinstance(cut, tir.PrimFunc) else ()
        tensors = tuple(extra[var.name.removesuffix("_root")] for var in added)
        return ProgramPrefix(module, piece.func, (*piece.given, *tensors))

    first = first_wrong(len(root.statements), lambda count: compare_piece(beginning(count), implementation))
    if first is None:
        return _at_element(piece, MASKED, whole)
    return _at_element(beginning(first[0]), "", first[1], cuts.names_in(root.statements[first[0] - 1]))


def _root_tensors(root: cuts.Root) -> dict[str, Tensor] | None:
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
        source = why(piece.module, piece.func, piece.given, name, index, limits=ONE_STEP).source()
    except RefmlcError:
        return None
    return source if isinstance(source, Write) else None
