"""What is known for all arguments of the pairs of programs that a check sees: the column `proof`.

| pair                                                                        | the line           |
|-----------------------------------------------------------------------------|--------------------|
| the program and each variant of it                                          | `variants`         |
| the program and the loops that C executes in place of threads, if it has any | `threads as loops` |

An implementation whose programs refmlc does not see is tested.

| word            | means: the other program is defined where this one is, and leaves the same bits, …                |
|-----------------|---------------------------------------------------------------------------------------------------|
| `all sizes`     | for all arguments and all sizes up to a limit                                                     |
| `all arguments` | for all arguments; the function has no symbolic sizes and no scalars                              |
| `these sizes`   | for all arguments with the first call's sizes and scalars                                         |
| `over the reals`| the same values if nothing rounds, at the first call's sizes                                      |
| `tested`        | on the calls; the reason is a remark                                                              |
| `refuted`       | a call tells them apart                                                                           |

Few steps are taken for each pair, so that a check stays quick: `refmlc prove` and `refmlc passes --prove` take more. A
call that contradicts a proof is the finding RM903. Nothing is proved of a program that is defined in no call, nor where
a call continues after what is undefined (`allow`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from refmlc.diag import Diagnostic
from refmlc.lang.ir import tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.reach import reachable
from refmlc.lang.ir.unexecuted import unexecuted
from refmlc.lang.ir.visit import walk
from refmlc.oracle.examine import Examination
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Implementation, Rewriting
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.outcome import UNCOMPARED, Kind, Verdict
from refmlc.oracle.pairs import Variant, variants
from refmlc.oracle.refine.proved import ProgramPair, ProofWord, proved

VARIANTS, LOOPS = "variants", "threads as loops"
TESTED, REFUTED = ProofWord.TESTED.value, ProofWord.REFUTED.value
KERNEL = "kernels of TIRx are run on the calls, and not proved"
STEPS = 2_000
"""The steps of each program on terms: about a quarter of a second."""


@dataclass(frozen=True)
class CheckedPair:
    """A pair with what is known of it. `path`: its line of the table; `label`: what the other program is."""

    path: str
    label: str
    word: str
    reason: str = ""
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The pair, what is known of it, and why no more."""
        return f"{self.label}: {self.word}{f': {self.reason}' if self.reason else ''}"


def with_proofs(
    examination: Examination, paths: Sequence[Implementation], interp: Interp
) -> tuple[Examination, tuple[CheckedPair, ...]]:
    """The pairs of an examination with what is known of them, and the alarms among its findings."""
    rows: list[CheckedPair] = []
    alarms: list[Finding] = []
    for path, pair, other in _pairs(examination, paths):
        proof = proved(pair, interp, steps=STEPS)
        reason = KERNEL if proof.reason and _has_kernel(pair) else proof.reason
        rows.append(CheckedPair(path, other.label, proof.extent or proof.word.value, reason, proof.assumptions))
        if proof.alarm is not None:
            alarms.append(_alarm(examination, proof.alarm, other))
    return replace(examination, findings=(*examination.findings, *alarms)), tuple(rows)


def _has_kernel(pair: ProgramPair) -> bool:
    """Whether the function of a pair, or one that it calls, is a kernel of TIRx."""
    functions = reachable(pair.before, pair.func).functions.values()
    return any(isinstance(node, tir.Stmt) and unexecuted(node) for each in functions for node in walk(each))


def _pairs(examination: Examination, paths: Sequence[Implementation]) -> Iterator[tuple[str, ProgramPair, Variant]]:
    """Each pair with its line and the other program."""
    case = examination.case
    if not any(each.verdict == "defined" for each in examination.reference):
        return
    for variant in variants(case):
        if variant.label in examination.pairs and not variant.more():
            yield VARIANTS, _pair(examination, variant), variant
    path = next((path for path in paths if isinstance(path, Rewriting)), None)
    if path is not None:
        module = path.executed(case.module)
        if not structural_equal(*(reachable(each, case.func) for each in (module, case.module))):
            variant = Variant(case, module, LOOPS, calls=case.calls)
            yield LOOPS, _pair(examination, variant), variant


def _pair(examination: Examination, variant: Variant) -> ProgramPair:
    case = examination.case
    defined = [number for number, each in enumerate(examination.reference) if each.verdict == "defined"]
    calls = [case.arguments(number) for number in defined if number < len(variant.calls)][:1]
    agrees = not _is_contradicted(examination, variant.label)
    return ProgramPair(case.module, variant.module, case.func, calls, agrees if calls else None)


def _is_contradicted(examination: Examination, label: str) -> bool:
    """Whether some call tells the program and a variant apart."""
    others = (each.other for each in examination.findings)
    return any(isinstance(other, Variant) and other.label == label for other in others)


def _alarm(examination: Examination, alarm: Diagnostic, other: Variant) -> Finding:
    """The finding that a call contradicts the proof."""
    verdict = Verdict(Kind.WRONG, notes=(alarm.message,), report=alarm)
    reference = examination.reference[0]
    return Finding(alarm.code, examination.case, 0, "prove", verdict, alarm, reference, other=other)


def counted(pairs: Sequence[CheckedPair]) -> Iterator[tuple[str, int, str]]:
    """The lines of the table: each with the number of pairs, and how many have each word."""
    for path in dict.fromkeys(pair.path for pair in pairs):
        words = Counter(pair.word for pair in pairs if pair.path == path)
        yield path, words.total(), ", ".join(f"{count} {word}" for word, count in words.items())


def word_of_calls(verdicts: Sequence[Verdict]) -> str:
    """The word of an implementation: `tested` where any call was compared, `refuted` where one is wrong."""
    kinds = {each.kind for each in verdicts}
    return REFUTED if Kind.WRONG in kinds else TESTED if kinds - UNCOMPARED else ""
