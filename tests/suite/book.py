"""Writing cases of the suite: what a witness says, agreed with the interpreter, as files of at most 200 lines.

    book = Book("scalar", "exact arithmetic")
    book.case("scalar.add.int8.wraps", ["NUM-101"], text, "f", [Asked([given(a), empty([4], "int8")], [KEPT, want(c)])])
    book.write("add")

Nothing here computes an expected value: the caller's witness does. Where the interpreter does not agree, `case` raises
`Disagreement` with what it says, and the author finds out who is right.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import ml_dtypes  # noqa: F401 - dtypes by name
import numpy as np

from refmlc.oracle.evidence import CaseFile, holds, read_case
from refmlc.oracle.evidence.case_file import CaseCall
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.evidence.record import assertion, features
from refmlc.oracle.implementations.implementation import Ended, Stopped
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.local_calls import answered
from refmlc.oracle.parts import bits, parts
from refmlc.oracle.reference import references
from refmlc.oracle.toml_text import toml_value

ROOT = Path(__file__).resolve().parents[2] / "conformance"
LINES = 200
SHORT = re.compile(r"\.?0*p")
KEPT = {"rule": "kept"}
Data = dict[str, object]
"""An argument, or a part of what comes back."""


class Disagreement(Exception):
    """The witness and the interpreter do not agree: one of them is wrong."""


@dataclass(frozen=True)
class Asked:
    """A call: its arguments, and what must come of it: the parts that come back, or a table that says `kind`."""

    args: Sequence[Data]
    wanted: Sequence[Data] | Data


@dataclass(frozen=True)
class Judged:
    """A call, and the arrays that a witness has for what comes back: the result (a list: a tuple), or what is written.

    `written`: for functions without a result, arrays by the number of the argument.
    """

    args: Sequence[Data]
    value: object = None
    written: Mapping[int, np.ndarray] = field(default_factory=dict)

    def witnessed(self, case: CaseFile, number: int, answer: Ended) -> Ended:
        """The answer of the witness."""
        args = case.arguments(number)
        for at, array in self.written.items():
            args[at] = tensor_of(given(array))
        return Ended(None if answer.value is None else _value(self.value), tuple(args))


@dataclass
class Book:
    """Cases of one area. `witness` is the provenance unless a case has another."""

    area: str
    witness: str
    cases: list[CaseFile] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    strict: bool = True

    def case(
        self,
        name: str,
        clauses: Sequence[str],
        text: str,
        func: str,
        calls: Sequence[Asked],
        *,
        witness: str = "",
        needs: Iterable[str] = (),
        dialect: str = "0.27",
    ) -> None:
        """One case, if the interpreter agrees."""
        made = tuple(CaseCall(tuple(asked.args), _assertion(asked.wanted)) for asked in calls)
        case = CaseFile(name, tuple(clauses), (), dialect, witness or self.witness, "", text, func, made)
        case = read_case(case.toml(), name)
        wrong, detectors = disagreement(case)
        if wrong:
            self.disagreements.append(f"{name}: {wrong}")
            if self.strict:
                raise Disagreement(f"{name}: {wrong}\n{text}")
            return
        self.cases.append(_with_features(case, {*needs, *(["detectors"] if detectors else [])}))

    def judged(
        self,
        name: str,
        clauses: Sequence[str],
        text: str,
        calls: Sequence["Judged"],
        *,
        func: str = "main",
        witness: str = "",
    ) -> None:
        """A case whose parts may be any of what the order of terms and the bounds of operators leave.

        The rule of each part follows from the contracts (`refmlc.oracle.evidence.record`); what the witness computed
        must be permitted by it, to the bit where the rule is exact.
        """
        given_args = tuple(CaseCall(tuple(call.args), {"kind": "open"}) for call in calls)
        draft = read_case(CaseFile(name, tuple(clauses), (), "0.27", "", "", text, func, given_args).toml(), name)
        made = []
        for number, (call, found) in enumerate(zip(calls, references(draft, Interp(), sanitize=True), strict=True)):
            if not isinstance(found.answer, Ended):
                return self._against(name, f"it does not return: {found.answer.message}", text)
            asserted = _kept_where_given(draft, number, found.answer, assertion(draft, number, found.answer))
            wrong = holds(_asserting(draft, number, asserted), number, call.witnessed(draft, number, found.answer))
            if wrong:
                return self._against(name, f"the witness: {wrong}", text)
            made.append(Asked(call.args, asserted))
        return self.case(name, clauses, text, func, made, witness=witness)

    def _against(self, name: str, wrong: str, text: str) -> None:
        self.disagreements.append(f"{name}: {wrong}")
        if self.strict:
            raise Disagreement(f"{name}: {wrong}\n{text}")

    def write(self, stem: str, title: str) -> int:
        """The cases as files `stem.toml`, or `stem-01.toml` and so on; the book is empty afterwards."""
        folder = ROOT / "cases" / self.area
        folder.mkdir(parents=True, exist_ok=True)
        for old in [folder / f"{stem}.toml", *folder.glob(f"{stem}-[0-9]*.toml")]:
            old.unlink(missing_ok=True)
        count = len(self.cases)
        texts = list(_files(self.cases, title))
        for number, text in enumerate(texts, 1):
            name = stem if len(texts) == 1 else f"{stem}-{number:02}"
            (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        self.cases.clear()
        return count


def disagreement(case: CaseFile) -> tuple[str, bool]:
    """Why the interpreter does not hold what the case asserts (empty: it does); whether it needs its detectors to."""
    prepared = answered(lambda: Interp().prepare(case.module))
    if isinstance(prepared, Stopped):
        found = (holds(case, number, prepared) for number in range(len(case.calls)))
        return next((why for why in found if why), ""), False
    detectors = False
    for number, found in enumerate(references(case, Interp(), sanitize=True)):
        wrong = holds(case, number, found.answer)
        if wrong:
            return f"call {number + 1}: {wrong}", False
        detectors |= holds(case, number, found.plain) != ""
    return "", detectors


def _value(value: object) -> object:
    match value:
        case list() | tuple():
            return tuple(_value(item) for item in value)
        case np.ndarray() | np.generic():
            return tensor_of(given(np.asarray(value)))
        case _:
            return value


def _kept_where_given(case: CaseFile, number: int, answer: Ended, asserted: Data) -> Data:
    """The assertion with `kept` for tensors that are as they were given."""
    before = {
        (part.argument, part.label): bits(part.value)
        for part in parts(case.module, case.func, Ended(None, tuple(case.arguments(number))))
    }
    told = []
    for part, data in zip(parts(case.module, case.func, answer), asserted["parts"], strict=True):
        same = part.argument is not None and before[part.argument, part.label] == bits(part.value)
        told.append(dict(KEPT) if same else {key: value for key, value in data.items() if key != "label"})
    return {"kind": "return", "parts": told}


def _asserting(case: CaseFile, number: int, asserted: Data) -> CaseFile:
    calls = list(case.calls)
    calls[number] = CaseCall(calls[number].args, asserted)
    return replace(case, calls=tuple(calls))


def _assertion(wanted: Sequence[Data] | Data) -> Data:
    return dict(wanted) if isinstance(wanted, Mapping) else {"kind": "return", "parts": [dict(part) for part in wanted]}


def _with_features(case: CaseFile, needs: Iterable[str]) -> CaseFile:
    found = answered(lambda: features(case.module))
    names = set(() if isinstance(found, Stopped) else found) | set(needs)
    return CaseFile(
        case.id, case.clauses, tuple(sorted(names)), case.dialect, case.provenance, "", case.text, case.func, case.calls
    )


# ------------------------------------------------------------------------------------------------- files


def _files(cases: Sequence[CaseFile], title: str) -> Iterable[str]:
    """Files of at most `LINES` lines; cases of one module stay together where they can."""
    rows: list[str] = []
    modules: dict[str, str] = {}
    for case in chain.from_iterable(map(_parts, cases)):
        shared = modules.get(case.text) or f"m{len(modules) + 1}"
        block = case.toml(table="case", uses=shared)
        more = {**modules, case.text: shared}
        if rows and _size(rows, more, block) > LINES:
            yield _file(rows, modules, title)
            rows, more = [], {case.text: "m1"}
            block = case.toml(table="case", uses="m1")
        rows.append(block)
        modules = more
    if rows:
        yield _file(rows, modules, title)


def _parts(case: CaseFile) -> Iterable[CaseFile]:
    """The case; where it alone is longer than a file, its first calls, then the others under the next number."""
    if len(case.calls) > 1 and _size([], {case.text: "m1"}, case.toml(table="case", uses="m1")) > LINES:
        half = len(case.calls) // 2
        yield from _parts(replace(case, calls=case.calls[:half]))
        stem, _, number = case.id.rpartition("-part")
        name = f"{stem}-part{int(number) + 1}" if stem else f"{case.id}-part2"
        yield from _parts(replace(case, id=name, calls=case.calls[half:]))
    else:
        yield case


def _size(rows: Sequence[str], modules: Mapping[str, str], block: str) -> int:
    return _file([*rows, block], modules, "title").count("\n")


def _file(rows: Sequence[str], modules: Mapping[str, str], title: str) -> str:
    """Modules of one case stand in it; the others first, by name."""
    body = "\n".join(rows)
    shared = []
    for text, name in modules.items():
        if body.count(f'\nuses = "{name}"\n') == 1:
            body = body.replace(f'\nuses = "{name}"\n', f"\nmodule = {toml_value(text)}\n")
        else:
            shared.append(f"{name} = {toml_value(text)}\n")
    head = "[modules]\n" + "".join(shared) + "\n" if shared else ""
    return f"# {title}\n\n{head}{body}"


# ------------------------------------------------------------------------------------------------ values


def given(array: np.ndarray) -> Data:
    """A tensor with the elements of `array`."""
    flat = np.ascontiguousarray(array).reshape(-1)
    found: Data = {"dtype": name_of(flat.dtype), "shape": list(array.shape)}
    found["values"] = [written(item) for item in flat]
    if is_small_float(flat.dtype):
        codes = flat.view(f"u{flat.dtype.itemsize}").tolist()
        found["bits"] = [nan_code(flat.dtype) if math.isnan(float(v)) else c for v, c in zip(flat, codes, strict=True)]
    return found


def empty(shape: Sequence[int], dtype: str) -> Data:
    """A tensor that nothing was written to."""
    return {"dtype": dtype, "shape": list(shape), "generator": "unwritten"}


def want(array: np.ndarray, **rule: object) -> Data:
    """A part: the tensor, exactly, unless `rule` says otherwise."""
    return {"rule": "exact", **given(array), **rule}


def number(value: float | bool, dtype: str) -> Data:
    """A number as an argument."""
    return {"number": dtype, "value": written(np.dtype(dtype).type(value))}


def written(item: object) -> object:
    """An element as the files have it."""
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, (int, np.integer)) or "int" in type(item).__name__:
        value = int(item)  # type: ignore[call-overload]
        return value if -(1 << 63) <= value < 1 << 63 else str(value)
    value = float(item)  # type: ignore[arg-type]
    return "nan" if math.isnan(value) else SHORT.sub("p", value.hex()) if math.isfinite(value) else str(value)


def name_of(dtype: np.dtype) -> str:
    """TVM's name of a dtype of NumPy or ml_dtypes."""
    return str(dtype)


def is_small_float(dtype: np.dtype) -> bool:
    """Whether elements are written with their bits."""
    return str(dtype).startswith(("float", "bfloat")) and str(dtype) not in ("float32", "float64")


def nan_code(dtype: np.dtype) -> int:
    """The code by which NaN is written: positive and quiet."""
    code = int(np.array([np.nan], np.float32).astype(dtype).view(f"u{dtype.itemsize}")[0])
    sign = 1 << (8 * dtype.itemsize - 1)
    return code if "fnuz" in str(dtype) or "e8m0" in str(dtype) else code & ~sign


def stop(kind: str, code: str, place: str = "") -> Data:
    """An assertion that there is no result."""
    return {"kind": kind, "code": code, **({"place": place} if place else {})}
