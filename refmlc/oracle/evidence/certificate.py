"""A proof as a TOML file, which is derived again from the programs that it names.

| key           | holds                                                                                               |
|---------------|-----------------------------------------------------------------------------------------------------|
| `format`      | 1                                                                                                   |
| `func`        | the function                                                                                        |
| `domain`      | `terms`: two programs, for all arguments of the sizes in `dims`; `integers`: for all sizes, also    |
|               | that one program is defined                                                                         |
| `verdict`     | `proved`, `equal over the reals`, `proved under inferred contracts`                                 |
| `limit`       | the greatest size of a symbolic dimension; of `integers` only                                       |
| `dims`        | the values of `--dim`; of `terms` only                                                              |
| `assume`      | the written contracts of the function; of `integers` only                                           |
| `conditions`  | what the verdict holds for, in words: fixed sizes, the overlap of tensors, contracts                |
| `elements`    | how many elements are compared; of `terms` only                                                     |
| `program`     | a table for each program, BEFORE first: `sha256` of its text, `file`: its name beside this file     |
| `obligation`  | a table for all alike: `kind`, `text`, `place` (`line:column`), `verdict`, `count`                  |

A certificate is believed in nothing: the derivation runs anew, and all of it must come out again. Keys are not
recorded, because a chosen point of a prime field could make two values equal: terms and integers have
none, and equality over the reals draws new ones.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag import RefmlcError, fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.source import Span
from refmlc.diag.versions import FileFormat
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.script import source_of
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import applicable, assumed, known_assumptions
from refmlc.oracle.evidence.case_file import toml_tables
from refmlc.oracle.implementations.implementation import Limits
from refmlc.oracle.refine.calls import entry
from refmlc.oracle.refine.proof import prove, prove_defined
from refmlc.oracle.toml_text import toml_value
from refmlc.prove import Proof, ProofKind, proved_for_all_sizes
from refmlc.prove.sizes.result import Definedness, SizedKind
from refmlc.system.regular import read_text

FORMAT = FileFormat("certificate")
LARGEST = 16 << 20  # bytes of a file
TERMS, INTEGERS = "terms", "integers"
DISCHARGED = "discharged"
SHOWN = 3
SHA256 = re.compile(r"[0-9a-f]{64}")
OF_EACH = frozenset({"format", "func", "domain", "verdict", "conditions", "program"})
KEYS = {TERMS: OF_EACH | {"dims", "elements"}, INTEGERS: OF_EACH | {"limit", "assume"}}
VERDICTS = {
    TERMS: (ProofKind.PROVED.value, ProofKind.REALS.value),
    INTEGERS: (SizedKind.PROVED.value, SizedKind.INFERRED.value),
}


@dataclass(frozen=True)
class CertifiedProgram:
    """A program: the SHA-256 of its text, and its name beside the certificate; empty: it lies elsewhere."""

    sha256: str
    file: str = ""


@dataclass(frozen=True)
class Claim:
    """What is proved: a function, two programs or one, and the parameters of the derivation."""

    func: str
    domain: str
    programs: tuple[CertifiedProgram, ...]
    dims: tuple[tuple[str, int], ...] = ()
    limit: int = 0
    assume: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class CertifiedObligation:
    """An obligation with its verdict: its kind, what must hold, and the place `line:column`."""

    kind: str
    text: str
    place: str
    verdict: str


@dataclass(frozen=True)
class Derivation:
    """What comes out. `obligations`: each with how often it occurs; `reason`: why it is no proof."""

    verdict: str
    conditions: tuple[str, ...] = ()
    elements: int = 0
    obligations: tuple[tuple[CertifiedObligation, int], ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class ProofCertificate:
    """A claim, and what its derivation gives."""

    claim: Claim
    derivation: Derivation

    @property
    def is_proof(self) -> bool:
        """Whether the verdict is one that is certified."""
        return self.derivation.verdict in VERDICTS[self.claim.domain] and not self.derivation.reason

    def toml(self) -> str:
        """The file. Fails: RM112 where nothing is proved."""
        if not self.is_proof:
            raise fail(BAD_USAGE, f"there is no certificate: the verdict is `{self.derivation.verdict}`")
        claim, derivation = self.claim, self.derivation
        lines = [
            f"format = {FORMAT.version}",
            f"func = {toml_value(claim.func)}",
            f"domain = {toml_value(claim.domain)}",
        ]
        lines.append(f"verdict = {toml_value(derivation.verdict)}")
        if claim.domain == INTEGERS:
            lines += [f"limit = {claim.limit}", f"assume = {toml_value(list(claim.assume))}"]
        else:
            lines += [f"dims = {toml_value(dict(claim.dims))}", f"elements = {derivation.elements}"]
        lines.append(f"conditions = {toml_value(list(derivation.conditions))}")
        for program in claim.programs:
            lines += ["", "[[program]]", f"sha256 = {toml_value(program.sha256)}"]
            lines += [f"file = {toml_value(program.file)}"] if program.file else []
        for obligation, count in derivation.obligations:
            lines += ["", "[[obligation]]"]
            lines += [f"{key} = {toml_value(value)}" for key, value in vars(obligation).items()]
            lines.append(f"count = {count}")
        return "\n".join(lines) + "\n"

    def differences(self, other: "ProofCertificate") -> Iterator[str]:
        """How the derivation `other` of the same claim differs, in words."""
        first, second = self.derivation, other.derivation
        if first.verdict != second.verdict or second.reason:
            reason = f": {second.reason}" if second.reason else ""
            yield f"the derivation says `{second.verdict}`, the certificate `{first.verdict}`{reason}"
            return
        if first.elements != second.elements:
            yield f"the derivation compares {second.elements} elements, the certificate says {first.elements}"
        if first.conditions != second.conditions:
            lines = ("; ".join(each.conditions) or "no condition" for each in (second, first))
            yield "the derivation holds for {}, the certificate says {}".format(*lines)
        derived, certified = dict(second.obligations), dict(first.obligations)
        changed = [
            each for each in sorted(derived.keys() | certified.keys()) if derived.get(each) != certified.get(each)
        ]
        for each in changed[:SHOWN]:
            counts = f"{derived.get(each, 0)} times in the derivation, {certified.get(each, 0)} in the certificate"
            yield f"{each.place or 'nowhere'}: {each.text} ({each.kind}, {each.verdict}): {counts}"
        if len(changed) > SHOWN:
            yield f"{len(changed) - SHOWN} more obligations differ"


# --------------------------------------------------------------------------------------------- derivation


def claim_of_proof(func: str, programs: Sequence[CertifiedProgram], dims: Mapping[str, int], limit: int = 0) -> Claim:
    """The claim of `prove`: two programs, for all arguments of the sizes `dims`, or for all sizes up to `limit`."""
    if limit:
        return Claim(func, INTEGERS, tuple(programs), limit=limit)
    return Claim(func, TERMS, tuple(programs), tuple(sorted(dims.items())))


def claim_of_definedness(
    module: IRModule,
    func: str,
    programs: Sequence[CertifiedProgram],
    *,
    limit: int,
    contracts: Iterable[ArgumentContract],
) -> Claim:
    """The claim of `prove_defined`: one program, for all sizes up to `limit`."""
    lines = [row.text for row in applicable(module, func, contracts)] if func in module.functions else []
    return Claim(func, INTEGERS, tuple(programs), limit=limit, assume=tuple(lines))


def certified(claim: Claim, result: Proof | Definedness) -> ProofCertificate:
    """The certificate of a claim and its derivation; `ProofCertificate.is_proof` says whether it is one."""
    if isinstance(result, Definedness):
        rows = ((each.kind, each.text, each.span, each.verdict.value) for each in result.verdicts)
        reason = "" if result.kind in (SizedKind.PROVED, SizedKind.INFERRED) else _open_definedness(result)
        return ProofCertificate(claim, Derivation(result.kind.value, _contracts(result), 0, _counted(rows), reason))
    rows = ((each.kind, each.text, each.span, DISCHARGED) for each in result.discharged)
    reason = result.reason
    if result.obligations:
        reason = reason or f"not shown: {result.obligations[0].text}"
    conditions = result.assumptions
    return ProofCertificate(claim, Derivation(result.kind.value, conditions, result.elements, _counted(rows), reason))


def _contracts(definedness: Definedness) -> tuple[str, ...]:
    inferred = (f"inferred: {line}" for line in definedness.inferred)
    return (*definedness.contracts, *inferred)


def _open_definedness(definedness: Definedness) -> str:
    verdicts = (each for each in definedness.verdicts if each.verdict in (SizedKind.REFUTED, SizedKind.UNDECIDED))
    first = next(verdicts, None)
    return definedness.reason or (f"{first.text}: {first.reason}" if first is not None else "")


def _counted(
    rows: Iterable[tuple[str, str, Span | None, str]],
) -> tuple[tuple[CertifiedObligation, int], ...]:
    counts = Counter(CertifiedObligation(kind, text, _place(span), verdict) for kind, text, span, verdict in rows)
    return tuple(sorted(counts.items()))


def _place(span: Span | None) -> str:
    return "" if span is None else f"{span.line}:{span.column + 1}"


def derive(claim: Claim, modules: Sequence[IRModule], limits: Limits | None = None) -> ProofCertificate:
    """The claim derived from its programs. Fails: RM112 where a function or a contract does not fit the programs."""
    first = modules[0]
    if claim.domain == INTEGERS and len(modules) > 1:
        for module in modules:
            entry(module, claim.func)
        return certified(claim, proved_for_all_sizes(first, modules[1], claim.func, claim.limit))
    if claim.domain == INTEGERS:
        contracts = assumed(claim.assume, "the certificate", claim.func)
        if isinstance(first.functions.get(claim.func), tir.PrimFunc):
            known_assumptions(first, contracts)
        return certified(claim, prove_defined(first, claim.func, assume=contracts, limit=claim.limit))
    proof = prove(first, modules[1], func=claim.func, dims=dict(claim.dims), calls=0, limits=limits)
    return certified(claim, proof)


# ------------------------------------------------------------------------------------------- the programs


def certified_program(path: Path, folder: Path | None = None) -> CertifiedProgram:
    """The program at `path`, `FILE` or `FILE::NAME`; its name is kept if it lies in `folder`. Fails: RM102, RM109."""
    file, _, part = str(path).rpartition("::")
    text_path = Path(file) if file and part.isidentifier() and not path.exists() else path
    digest = hashlib.sha256(source_of(text_path).text.encode()).hexdigest()
    is_beside = folder is not None and path.parent.resolve() == folder.resolve()
    return CertifiedProgram(digest, path.name if is_beside else "")


def program_paths(claim: Claim, file: Path, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Where the programs of a claim lie: `paths`, or the files that the certificate `file` names beside it.

    Fails: RM109 for a text of another digest; RM112 for too many or too few paths.
    """
    programs = claim.programs
    if paths and len(paths) != len(programs):
        raise fail(BAD_USAGE, f"the certificate is of {len(programs)} programs, and {len(paths)} are named")
    if not paths and not all(program.file for program in programs):
        raise fail(BAD_USAGE, f"`{file}` does not say where its programs are: name them before `--replay`")
    places = tuple(paths) or tuple(file.parent / program.file for program in programs)
    for path, program in zip(places, programs, strict=True):
        digest = certified_program(path).sha256
        if digest != program.sha256:
            notes = f"its SHA-256 is {digest}, the certificate's {program.sha256}"
            raise fail(BAD_FILE, f"`{path}` is another text than that of the certificate `{file}`", None, notes)
    return places


# ---------------------------------------------------------------------------------------------- the file


def load_certificate(path: Path) -> ProofCertificate:
    """The certificate in the file at `path`. Fails: RM109."""
    try:
        text = read_text(path, LARGEST)
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{path}`: {why}") from None
    return read_certificate(text, str(path))


def read_certificate(text: str, name: str = "<certificate>") -> ProofCertificate:
    """The certificate that `text` holds. Fails: RM109 where it is none."""
    return _Table(toml_tables(text, name), f"`{name}`").certificate()


class _Table:
    """A table of the file. Each method fails: RM109 for a value of another type."""

    def __init__(self, data: Mapping[str, object], place: str) -> None:
        self._data = data
        self._place = place

    def certificate(self) -> ProofCertificate:
        """The certificate that the whole file is."""
        FORMAT.require(self._data, self._place.strip("`"))
        domain = self._word("domain")
        if domain not in KEYS:
            raise self._problem(f"`domain` is none of {', '.join(KEYS)}")
        self._keys(KEYS[domain] | {"obligation"}, KEYS[domain])
        verdict = self._word("verdict")
        if verdict not in VERDICTS[domain]:
            raise self._problem(f"`verdict` is none of {', '.join(VERDICTS[domain])}")
        programs = tuple(table.program() for table in self._tables("program"))
        if len(programs) not in ((1, 2) if domain == INTEGERS else (2,)):
            raise self._problem(f"a certificate of `{domain}` has no {len(programs)} programs")
        if len(programs) > 1 and self._words("assume"):
            raise self._problem("a proof of two programs assumes no contracts")
        limit = self._number("limit", 1) if domain == INTEGERS else 0
        claim = Claim(self._word("func"), domain, programs, self._sizes(), limit, self._words("assume"))
        obligations = tuple(sorted(table.obligation() for table in self._tables("obligation")))
        if len(dict(obligations)) != len(obligations):
            raise self._problem("an obligation stands twice")
        elements = self._number("elements") if domain == TERMS else 0
        return ProofCertificate(claim, Derivation(verdict, self._words("conditions"), elements, obligations))

    def program(self) -> CertifiedProgram:
        """A table of `program`: a name in it stays in the folder of the certificate."""
        self._keys({"sha256", "file"}, {"sha256"})
        file = self._word("file") if "file" in self._data else ""
        if not SHA256.fullmatch(self._word("sha256")):
            raise self._problem("`sha256` is no digest of 64 hexadecimal digits")
        if "/" in file or "\\" in file or "\0" in file or file in {".", ".."}:
            raise self._problem("`file` does not name a file in the same folder")
        return CertifiedProgram(self._word("sha256"), file)

    def obligation(self) -> tuple[CertifiedObligation, int]:
        """A table of `obligation`."""
        names = ("kind", "text", "place", "verdict")
        self._keys({*names, "count"}, {*names, "count"})
        return CertifiedObligation(*map(self._word, names)), self._number("count", 1)

    def _keys(self, allowed: Iterable[str], required: Iterable[str]) -> None:
        unknown = sorted(self._data.keys() - set(allowed))
        if unknown:
            raise self._problem(f"unknown key `{unknown[0]}`; the keys are {', '.join(sorted(allowed))}")
        missing = sorted(set(required) - self._data.keys())
        if missing:
            raise self._problem(f"the key `{missing[0]}` is missing")

    def _word(self, key: str) -> str:
        value = self._data.get(key)
        if not isinstance(value, str):
            raise self._problem(f"`{key}` is not a string")
        return value

    def _words(self, key: str) -> tuple[str, ...]:
        values = self._data.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self._problem(f"`{key}` is not a list of strings")
        return tuple(values)

    def _number(self, key: str, least: int = 0) -> int:
        value = self._data.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._problem(f"`{key}` is not an integer of at least {least}")
        return value

    def _sizes(self) -> tuple[tuple[str, int], ...]:
        dims = self._data.get("dims", {})
        if not isinstance(dims, dict):
            raise self._problem("`dims` is not a table")
        table = _Table(dims, self._place)
        return tuple(sorted((name, table._number(name)) for name in dims))

    def _tables(self, key: str) -> list["_Table"]:
        tables = self._data.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self._problem(f"`{key}` is not an array of tables")
        return [_Table(table, f"{self._place}, `[[{key}]]` {number}") for number, table in enumerate(tables, 1)]

    def _problem(self, message: str) -> RefmlcError:
        return fail(BAD_FILE, f"{self._place}: {message}")
