"""Implementations with a fault, made by rules, and what conformance must say of each: the verdict, and on which cases.

| rule       | the fault                                                                        |
|------------|----------------------------------------------------------------------------------|
| `replaced` | an operator is taken for another                                                 |
| `swapped`  | its operands are                                                                 |
| `elements` | values of results are altered: rounded otherwise, NaN lost, signs, order         |
| `answers`  | the answer is altered: shapes, dtypes, values left out, yesterday's values       |
| `ends`     | traps and undefinedness: swallowed, renamed, made up                             |
| `lines`    | over JSON lines (`line_adapter`): crashes, silence, rubbish; each in batches too |

A fault names the cases that show it. Every other case keeps its verdict, unless the fault is of a kind that shows on
many: then they are wrong too, and no case but those is asked of it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hand_made import hand_suite, verdicts
from line_adapter import ANSWERS, ENDS, LINES, NUMBERS

from refmlc.diag import Diagnostic
from refmlc.diag.catalogue import CODES
from refmlc.lang.dtypes import dtype
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import rewrite
from refmlc.oracle.implementations.command import Command
from refmlc.oracle.implementations.implementation import Ended, Limits, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.suite.runner import run_suite
from refmlc.run.memory.tensor import Tensor

LINE_ADAPTER = str(Path(__file__).parent / "line_adapter.py")
LINE_CASES = ("hand.add", "hand.two", "hand.again", "hand.pair", "hand.trap", "hand.no-text")
TRIGGERED = "hand.two"
BATCH = 4


@dataclass(frozen=True)
class Fault:
    """`make` gives the implementation; `shows`: verdict by case; `many`: other cases may show it too."""

    name: str
    make: Callable[[], object]
    shows: dict[str, str]
    many: bool = False
    process: bool = False


class Mutant:
    """The interpreter with a fault. `module`: what becomes of modules; `answer`: of answers."""

    name = "mutant"
    promises_verdicts = True

    def __init__(self, module=None, answer=None, prepare=None):
        self.change, self.answer, self.instead = module, answer, prepare
        self.inner = Interp()

    def prepare(self, module):
        if self.instead is not None:
            made = self.instead(module, self.inner.prepare(module))
            if made is not None:
                return made
        made = self.inner.prepare(module if self.change is None else self.change(module))
        return made if isinstance(made, Stopped) else Called(made, self)

    def close(self):
        pass


class Called:
    """A module of a mutant."""

    def __init__(self, made, mutant):
        self.made, self.mutant, self.before = made, mutant, None

    def run(self, func, args):
        given = [arg.copy() if isinstance(arg, Tensor) else arg for arg in args]
        fresh = [number for number, arg in enumerate(args) if isinstance(arg, Tensor) and not arg.initialised]
        answer = self.made.run(func, args)
        if self.mutant.answer is not None:
            answer = self.mutant.answer(answer, given, fresh, self)
        return answer

    def close(self):
        pass


# ------------------------------------------------------------------------------------------ operators


def replaced(op, by):
    def change(node):
        return replace(node, op=by) if isinstance(node, tir.Apply) and node.op == op else node

    return lambda: Mutant(module=lambda module: each(module, change))


def swapped(op):
    def change(node):
        return replace(node, args=node.args[::-1]) if isinstance(node, tir.Apply) and node.op == op else node

    return lambda: Mutant(module=lambda module: each(module, change))


def each(module, change):
    """The module with its TensorIR functions rewritten."""
    functions = {
        name: rewrite(func, change) if isinstance(func, tir.PrimFunc) else func
        for name, func in module.functions.items()
    }
    return replace(module, functions=functions, source=None)


REPLACED = (
    ("add", "sub", "add"),
    ("add", "mul", "add"),
    ("sub", "add", "sub"),
    ("mul", "add", "mul"),
    ("mul", "div", "tiny"),
    ("div", "mul", "div"),
    ("max", "min", "max"),
    ("min", "max", "min"),
    ("floordiv", "truncdiv", "floor"),
    ("floordiv", "ceildiv", "floor"),
    ("truncdiv", "floordiv", "truncate"),
    ("floormod", "truncmod", "modulo"),
    ("truncmod", "floormod", "remainder"),
    ("lt", "le", "less"),
    ("le", "lt", "at-most"),
    ("gt", "ge", "greater"),
    ("ge", "gt", "at-least"),
    ("eq", "ne", "equal"),
    ("ne", "eq", "other"),
    ("bitwise_and", "bitwise_or", "and"),
    ("bitwise_or", "bitwise_xor", "or"),
    ("bitwise_xor", "bitwise_or", "xor"),
    ("shift_left", "shift_right", "left"),
    ("shift_right", "shift_left", "right"),
)
SWAPPED = (("sub", "sub"), ("div", "div"), ("floordiv", "floor"), ("lt", "less"), ("max", "max"), ("min", "min"))


# ------------------------------------------------------------------------------------------ elements


def elements(change, kinds):
    """Results of dtypes of `kinds`, altered as arrays."""

    def answer(found, given, fresh, call):
        if isinstance(found, Ended):
            for number in fresh:
                array = found.args[number].numpy()
                if found.args[number].dtype.kind in kinds:
                    array[...] = change(array)
        return found

    return lambda: Mutant(answer=answer)


def halves_away(array):
    """The value of the next greater code where the last bit is 0: a tie that went the other way."""
    return np.where(np.isfinite(array), np.nextafter(array, np.asarray(np.inf, array.dtype)), array)


def last_bit_lost(array):
    codes = array.copy().view(f"u{array.itemsize}")
    codes &= np.asarray(~1 & ((1 << 8 * array.itemsize) - 1), codes.dtype)
    return codes.view(array.dtype)


def flushed(array):
    return np.where(np.abs(array) < np.finfo(array.dtype).smallest_normal, np.copysign(0, array), array)


def largest(array):
    top = np.finfo(array.dtype).max
    return np.where(np.isinf(array), np.copysign(top, array), array)


FLOAT, INT, BOOL = "float", ("int", "uint"), "bool"
ELEMENTS = (
    ("one step up", halves_away, FLOAT, "add"),
    ("one step down", lambda a: np.nextafter(a, np.asarray(-np.inf, a.dtype)), FLOAT, "mul"),
    ("the last bit is lost", last_bit_lost, FLOAT, "div"),
    ("subnormal numbers are 0", flushed, FLOAT, "tiny"),
    ("NaN is 0", lambda a: np.where(np.isnan(a), 0, a), FLOAT, "add"),
    ("NaN is infinity", lambda a: np.where(np.isnan(a), np.inf, a), FLOAT, "div"),
    ("infinity is NaN", lambda a: np.where(np.isinf(a), np.nan, a), FLOAT, "div"),
    ("infinity is the greatest number", largest, FLOAT, "half"),
    ("-0 is 0", lambda a: a + 0, FLOAT, "mul"),
    ("signs are lost", np.abs, FLOAT, "sub"),
    ("signs are turned", np.negative, FLOAT, "add"),
    ("integers are one more", lambda a: a + 1, INT, "two"),
    ("8 bits saturate", lambda a: np.where(a == -56, 127, a), INT, "wrap"),
    ("bools are turned", np.logical_not, BOOL, "less"),
    ("the first element is 0", lambda a: a * (np.arange(a.size).reshape(a.shape) != 0), INT, "two"),
    ("the last element is 0", lambda a: a * (np.arange(a.size).reshape(a.shape) != a.size - 1), INT, "two"),
    ("in reverse", lambda a: a[::-1], INT, "two"),
    ("nothing is written", np.zeros_like, INT, "floor"),
)


# ------------------------------------------------------------------------------------------ answers


def answers(change):
    def answer(found, given, fresh, call):
        return change(found, given, fresh, call) if isinstance(found, Ended) else found

    return lambda: Mutant(answer=answer)


def with_last(change):
    """The last argument altered."""

    def altered(found, given, fresh, call):
        *others, last = found.args
        return Ended(found.value, (*others, change(last)))

    return answers(altered)


def shaped(shape):
    return lambda tensor: Tensor.from_numpy(np.resize(tensor.numpy(), shape(tensor.shape)))


def of_dtype(name):
    return lambda tensor: Tensor.from_numpy(np.zeros(tensor.shape, name))


def yesterday(found, given, fresh, call):
    """What the call before left behind."""
    before, call.before = call.before, found
    return found if before is None else before


def overwritten(found, given, fresh, call):
    found.args[0].numpy()[...] += 1
    return found


ALTERED = (
    ("the shape is turned", with_last(shaped(lambda shape: shape[::-1])), "product"),
    ("the shape is flat", with_last(shaped(lambda shape: (int(np.prod(shape)),))), "product"),
    ("the shape has an axis more", with_last(shaped(lambda shape: (1, *shape))), "add"),
    ("an element less", with_last(shaped(lambda shape: (shape[0] - 1, *shape[1:]))), "add"),
    ("an element more", with_last(shaped(lambda shape: (shape[0] + 1, *shape[1:]))), "add"),
    ("a number for a tensor", with_last(lambda tensor: 1.0), "add"),
    ("nothing for a tensor", with_last(lambda tensor: None), "add"),
    ("float64 for float32", with_last(of_dtype("float64")), "add"),
    ("float32 for float16", with_last(of_dtype("float32")), "half"),
    ("int64 for int32", with_last(of_dtype("int64")), "floor"),
    ("uint8 for bool", with_last(of_dtype("uint8")), "less"),
    ("uint8 for int8", with_last(of_dtype("uint8")), "wrap"),
    ("an output is left out", answers(lambda found, *_: Ended(found.value, found.args[:-1])), "two"),
    ("an output comes twice", answers(lambda found, *_: Ended(found.value, (*found.args, found.args[-1]))), "two"),
    (
        "outputs change places",
        answers(lambda found, *_: Ended(found.value, (found.args[0], *found.args[:0:-1]))),
        "two",
    ),
    ("the result is returned, not written", answers(lambda found, *_: Ended(found.args[-1], found.args[:-1])), "floor"),
    (
        "a field is left out",
        answers(lambda found, *_: Ended(found.value[:1] if found.value else None, found.args)),
        "pair",
    ),
    (
        "fields change places",
        answers(lambda found, *_: Ended(found.value[::-1] if found.value else None, found.args)),
        "pair",
    ),
    ("nothing is returned", answers(lambda found, *_: Ended(None, found.args)), "pair"),
    ("arguments come back as they went", answers(lambda found, given, *_: Ended(found.value, tuple(given))), "two"),
    ("the answer of the call before", answers(yesterday), "again"),
    ("an input is overwritten", answers(overwritten), "two"),
)


# ------------------------------------------------------------------------------------------ ends


def stops(why, code, wanted=lambda found, given: True, span=True):
    """Other ends for the answers that are `wanted`."""

    def answer(found, given, fresh, call):
        if not wanted(found, given):
            return found
        own = None if isinstance(found, Ended) else found.diagnostic
        place = own.span if own is not None and span else None
        return Stopped(why, f"{code}: so it says", Diagnostic(CODES[code], "so it says", place))

    return lambda: Mutant(answer=answer)


def goes_on(why):
    def answer(found, given, fresh, call):
        return Ended(None, tuple(given)) if isinstance(found, Stopped) and found.why is why else found

    return lambda: Mutant(answer=answer)


def moved(found, given, fresh, call):
    if isinstance(found, Ended) or found.diagnostic is None or found.diagnostic.span is None:
        return found
    span = found.diagnostic.span
    return replace(found, diagnostic=replace(found.diagnostic, span=replace(span, line=span.line + 1)))


def ended(found, given):
    return isinstance(found, Ended)


def has(why):
    return lambda found, given: isinstance(found, Stopped) and found.why is why


def has_nan(found, given):
    arrays = [arg.numpy() for arg in given if isinstance(arg, Tensor) and arg.dtype.kind == "float"]
    return any(np.isnan(array.astype("float64")).any() for array in arrays)


class Accepting:
    """A module that runs whatever happens."""

    def run(self, func, args):
        return Ended(None, tuple(args))

    def close(self):
        pass


def raising(*_):
    raise ZeroDivisionError("a bug of this implementation")


def refuses(module, made):
    """Modules with float16 are refused."""
    halves = any(
        buffer.dtype == dtype("float16")
        for func in module.functions.values()
        if isinstance(func, tir.PrimFunc)
        for buffer in func.buffer_map.values()
    )
    return Stopped(Stop.REJECTED, "no float16 here") if halves else None


def accepts(module, made):
    return Accepting() if isinstance(made, Stopped) else None


ENDINGS = (
    ("traps are swallowed", goes_on(Stop.TRAP), "trap", "missed-trap"),
    ("undefinedness is swallowed", goes_on(Stop.UNDEFINED), "outside", "missed-trap"),
    ("another code", stops(Stop.UNDEFINED, "RM304", has(Stop.UNDEFINED)), "zero", "fail"),
    ("another place", lambda: Mutant(answer=moved), "outside", "fail"),
    ("a trap for undefinedness", stops(Stop.TRAP, "RM304", has(Stop.UNDEFINED)), "outside", "fail"),
    ("undefinedness for a trap", stops(Stop.UNDEFINED, "RM304", has(Stop.TRAP)), "trap", "fail"),
    ("a refusal for a trap", stops(Stop.REJECTED, "RM401", has(Stop.TRAP)), "trap", "fail"),
    ("everything is undefined", stops(Stop.UNDEFINED, "RM304", ended), "add", "over-strict"),
    ("everything is a trap", stops(Stop.TRAP, "RM401", ended), "add", "over-strict"),
    ("NaN is a trap", stops(Stop.TRAP, "RM401", has_nan), "max", "over-strict"),
    ("float16 is refused", lambda: Mutant(prepare=refuses), "half", "over-strict"),
    ("what is ill-formed is taken", lambda: Mutant(prepare=accepts), "no-shape", "missed-trap"),
    ("an exception when a module is made ready", lambda: Mutant(prepare=raising), "add", "crash"),
    ("an exception when a function is called", lambda: Mutant(answer=raising), "add", "crash"),
    ("no answer at all", lambda: Mutant(answer=lambda *_: None), "add", "crash"),
    ("a number for an answer", lambda: Mutant(answer=lambda *_: 42), "add", "crash"),
    ("no module at all", lambda: Mutant(prepare=lambda *_: 42), "add", "crash"),
    ("it is out of time", stops(Stop.EXHAUSTED, "RM605", ended), "add", "timeout"),
)


# ------------------------------------------------------------------------------------------ lines


def over_lines(way, seconds=1.0, batch=0):
    limits = Limits(seconds=seconds, prepare=90.0)
    return lambda: Command([sys.executable, LINE_ADAPTER, way, str(batch)], limits, "lines")


SILENT = ("hang", "half a line", "spaces without end", "output closed")


def lines():
    for do in ("prepare", "run"):
        for fault in ENDS:
            if fault in SILENT and do == "prepare":
                continue
            verdict = "timeout" if fault in SILENT and fault != "output closed" else "crash"
            yield f"{do}:{fault}", {TRIGGERED: verdict}
    for fault in LINES:
        yield f"run:{fault}", {TRIGGERED: "crash"}
    for fault in ANSWERS:
        yield f"answer:{fault}", {TRIGGERED: "crash"}
    yield "run:late", {TRIGGERED: "timeout"}
    yield "twice:", {"hand.again": "crash"}


def numbers():
    """Faults that only batches have."""
    for fault in NUMBERS:
        yield f"number:{fault}", {TRIGGERED: "crash"}
    yield "left out:", {TRIGGERED: "timeout"}


# ------------------------------------------------------------------------------------------ all


def faults():
    """All of them."""
    for op, by, case in REPLACED:
        yield Fault(f"{op} is {by}", replaced(op, by), {f"hand.{case}": "fail"}, many=True)
    for op, case in SWAPPED:
        yield Fault(f"{op} has its operands swapped", swapped(op), {f"hand.{case}": "fail"}, many=True)
    for name, change, kinds, case in ELEMENTS:
        yield Fault(name, elements(change, kinds), {f"hand.{case}": "fail"}, many=True)
    for name, make, case in ALTERED:
        yield Fault(name, make, {f"hand.{case}": "fail"}, many=True)
    for name, make, case, verdict in ENDINGS:
        yield Fault(name, make, {f"hand.{case}": verdict}, many=True)
    for way, shows in lines():
        yield Fault(way, over_lines(way), shows, process=True)
        yield Fault(f"batch {way}", over_lines(way, batch=BATCH), shows, process=True)
    for way, shows in numbers():
        yield Fault(f"batch {way}", over_lines(way, batch=BATCH), shows, process=True)


def judged(fault, suite):
    """The report on the implementation with the fault, and what is wrong with the report."""
    made = fault.make()
    try:
        report = run_suite(suite, made, only=LINE_CASES if fault.process else ())
    finally:
        made.close()
    found, usual = verdicts(report), right_verdicts()
    asked = LINE_CASES if fault.process else tuple(usual)
    wrong = [
        f"{case}: {found.get(case)}, not {verdict}"
        for case, verdict in fault.shows.items()
        if found.get(case) != verdict
    ]
    wrong += [f"{case} is missing" for case in asked if case not in found]
    if not fault.many:
        wrong += [f"{case}: {found[case]}" for case in asked if case not in fault.shows and found[case] != usual[case]]
    if report.ok:
        wrong.append("the report is as expected")
    return report, wrong


def right_verdicts():
    """The verdicts on who has no fault: worked out by hand."""
    other = {"hand.any-order": "permitted", "hand.open": "not scored"}
    return {case.id: other.get(case.id, "pass") for case in hand_suite().cases}
