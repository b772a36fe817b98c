"""The C function of a run: the calls in order, each with its memory; the first that does not end well ends all.

The high half of `run->site` says which call that was, the low half which of its checks.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from refmlc.lang.ir import relax, tir
from refmlc.native.fuse.memory import Need, lay_out
from refmlc.native.fuse.runs import Run
from refmlc.native.fuse.sizes import count, key_of, nbytes, total
from refmlc.native.fuse.step import Piece, Step
from refmlc.native.text import Line, Names, Text
from refmlc.native.unit import BufferParam, Param


@dataclass(slots=True)
class Numbers:
    """The numbers that the C function takes, each once; constants stand in the text."""

    names: Names
    by_key: dict[Hashable, tuple[str, tir.Expr]] = field(default_factory=dict)

    def code(self, expr: tir.Expr, meaning: str = "n") -> str:
        """`expr` in C: a number, or a name, which says what it means."""
        if isinstance(expr, tir.IntImm):
            return _constant(expr.value)
        key = key_of(expr)
        if key not in self.by_key:
            self.by_key[key] = (self.names.new(expr.name if isinstance(expr, tir.Var) else meaning), expr)
        return self.by_key[key][0]


@dataclass(frozen=True, slots=True)
class Entry:
    """The C function of a run. `workspace` and `allocated` in bytes."""

    text: str
    inputs: tuple[Piece, ...]
    numbers: tuple[tir.Expr, ...]
    workspace: tir.Expr
    allocated: tir.Expr


class Writer:
    """Writes the C function of one run."""

    def __init__(self, run: Run, outputs: dict[Piece, relax.Var]) -> None:
        """Plan the memory; name the tensors."""
        self._run = run
        self._outputs = outputs
        self._text = Text()
        self._names = Names(("workspace",))
        self._numbers = Numbers(self._names)
        self._filled = {piece.memory for piece in outputs}
        pieces = dict.fromkeys(piece.memory for piece in run.pieces)
        self._cells = {piece: self._names.new(piece.name) for piece in pieces}
        self._layout = lay_out(list(needs_of(run.steps, outputs)))

    def write(self, symbol: str) -> Entry:
        """The function, called `symbol`."""
        self._text.comment(
            f"{self._run.entries[0].var.name} to {self._run.entries[-1].var.name}", self._run.steps[0].span
        )
        body = self._body()
        numbers = list(self._numbers.by_key.values())
        params = [f"const void *const {self._cells[piece]}" for piece in self._run.inputs]
        params += [f"void *const {self._cells[piece.memory]}" for piece in self._outputs]
        params += ["void *const workspace", *(f"const int64_t {name}" for name, _ in numbers)]
        with self._text.block(f"int64_t {symbol}(rm_run *const run, {', '.join(params)})"):
            self._text.line("int64_t status = RM_DONE;")
            self._text.line("(void)workspace;")
            self._text.add(body)
            self._text.line("return status;")
        self._text.line("")
        allocated = total(nbytes(piece.dtype, piece.shape) for step in self._run.steps for piece in step.made)
        expressions = tuple(expr for _, expr in numbers)
        text = "\n".join(self._text.lines)
        return Entry(text, tuple(self._run.inputs), expressions, self._layout.size, allocated)

    def _body(self) -> list[Line]:
        """The calls, which find out what numbers the function takes."""
        with self._text.apart() as lines:
            for number, step in enumerate(self._run.steps, 1):
                self._step(number, step)
        return lines

    def _step(self, number: int, step: Step) -> None:
        """Append call `number`: its memory, its arguments, the checks before and after it."""
        text = self._text
        text.comment(f"call {number}: {step.unit.name}", step.span)
        for piece in step.made:
            if piece not in self._filled:
                text.line(f"void *const {self._cells[piece]} = {self._at(piece, f'{piece.name}_at')};")
            size = self._numbers.code(nbytes(piece.dtype, piece.shape), f"{piece.name}_bytes")
            text.line(f"run->memory -= {size};")
        if step.made:
            text.line(f"if (RM_UNLIKELY(run->memory < 0)) {self._leave(number, 'RM_NO_MEMORY')}")
        args, checks_before, checks_after = ["run"], [], []
        for param, actual in zip(step.unit.params, step.actuals, strict=True):
            if not isinstance(actual, Piece):
                args.append(self._scalar(actual))
                checks_before += self._fits(number, param, actual)
                continue
            args.append(self._cells[actual.memory])
            if isinstance(param, BufferParam) and param.tracked:
                shadow = self._at((number, param.var), f"{actual.name}_written_at")
                elements = self._numbers.code(count(actual.shape), f"{actual.name}_count")
                checks_before.append(f"memset({shadow}, {int(actual not in step.made)}, (size_t){elements});")
                args.append(shadow)
                if actual in step.made and not param.covered:
                    checks_after.append(
                        f"if (memchr({shadow}, 0, (size_t){elements})) {self._leave(number, 'RM_CHECK_FAILED')}"
                    )
        args += [self._numbers.code(dim) for dim in step.dims]
        for line in checks_before:
            text.line(line)
        text.line(f"status = {step.unit.symbol}({', '.join(args)});")
        text.line(f"if (RM_UNLIKELY(status != RM_DONE)) {self._leave(number, 'status')}")
        for line in checks_after:
            text.line(line)

    def _leave(self, number: int, status: str) -> str:
        return f"{{ run->site += INT64_C({number}) << 32; return {status}; }}"

    def _at(self, name: Hashable, meaning: str) -> str:
        """The pointer to what the layout calls `name`."""
        return f"(uint8_t *)workspace + {self._numbers.code(self._layout.offsets[name], meaning)}"

    def _scalar(self, actual: tir.Expr) -> str:
        if not isinstance(actual, tir.FloatImm):
            return self._numbers.code(actual)
        value = actual.value
        if math.isfinite(value):
            return value.hex()
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"

    def _fits(self, number: int, param: Param, actual: tir.Expr) -> list[str]:
        """A check that a number is one of the parameter's dtype; none is negative."""
        limit = param.var.dtype.maximum if param.var.dtype.is_integer else 0
        if isinstance(actual, tir.IntImm | tir.FloatImm) or limit >= (1 << 63) - 1:
            return []
        failed = self._leave(number, "RM_CHECK_FAILED")
        return [f"if (RM_UNLIKELY({self._numbers.code(actual)} > INT64_C({limit}))) {failed}"]


def _constant(value: int) -> str:
    """An int64 in C; beyond are numbers of uint64, by their bits."""
    signed = value - (1 << 64) if value >= 1 << 63 else value
    if abs(signed) < 1 << 31:
        return str(signed)
    return f"INT64_C({signed})" if signed > -(1 << 63) else "INT64_MIN"


def needs_of(steps: Sequence[Step], outputs: dict[Piece, relax.Var]) -> Iterator[Need]:
    """What lies in the workspace: tensors that do not leave the run while they are used, shadows during one call."""
    filled = {piece.memory for piece in outputs}
    last = {
        actual.memory: number
        for number, step in enumerate(steps, 1)
        for actual in step.actuals
        if isinstance(actual, Piece)
    }
    for number, step in enumerate(steps, 1):
        for piece in step.made:
            if piece not in filled:
                yield Need(piece, nbytes(piece.dtype, piece.shape), number, last[piece])
        for param, actual in zip(step.unit.params, step.actuals, strict=True):
            if isinstance(param, BufferParam) and param.tracked and isinstance(actual, Piece):
                yield Need((number, param.var), count(actual.shape), number, number)
