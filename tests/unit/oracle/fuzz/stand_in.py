"""A batch function that stands in for programs: what it does with a number is said by the implementations.

| implementation | does                                                             |
|----------------|------------------------------------------------------------------|
| `wrong=N`      | every N-th program is a finding, one of three                    |
| `crash=N`      | program N ends the process by SIGSEGV                            |
| `leave=N`      | program N ends the process with a status                         |
| `hang=N`       | program N does not come back                                     |
| `eat=N`        | program N takes memory without end                               |
| `raise=N`      | program N raises                                                 |
| `late=N`       | with program N an implementation does not start                  |
| `flaky`        | the first batch in this file's time crashes, its programs do not |
| `slow=S`       | each batch takes S seconds                                       |
| `step=N`       | every N-th program is wrong after one of N steps of a trace,     |
|                | unless that step is excluded                                     |
"""

import os
import signal
import time

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.kept_processes import kept
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, merged, signature
from refmlc.oracle.fuzz.settings import CampaignSettings


def run_batch(settings, batch, numbers):
    """A batch."""
    known = CampaignSettings.from_json(settings)
    says = dict(each.partition("=")[::2] for each in known.implementations)
    time.sleep(float(says.get("slow", 0)))
    if "flaky" in says and len(numbers) > 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    findings = []
    for number in numbers:
        _ends(says, number)
        if "step" in says and number % int(says["step"]) == 0:
            findings += _wrong_step(known, number, int(says["step"]))
        if "wrong" in says and number % int(says["wrong"]) == 0:
            findings.append(_found(known, number))
    verdicts = {"stand-in": {"equal": len(numbers) - len(findings), "wrong": len(findings)}}
    coverage = {"parity": tuple({("even", "odd")[number % 2] for number in numbers})}
    if "step" in says:
        coverage["primitives"] = tuple({"split", "fuse"} - {*known.exclude})
        coverage["prefer"] = known.prefer
    return BatchResult(batch, len(numbers), verdicts, coverage, merged(findings)).to_json()


def _ends(says, number):
    names = ("crash", "leave", "hang", "eat", "raise", "late")
    at = {name: int(value) for name, value in says.items() if name in names}
    if at.get("crash") == number:
        os.kill(os.getpid(), signal.SIGSEGV)
    if at.get("leave") == number:
        os._exit(3)
    if at.get("hang") == number:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            time.sleep(1)
    if at.get("eat") == number:
        held = []
        while True:
            held.append(bytearray(1 << 26))
    if at.get("raise") == number:
        raise KeyError(number)
    if at.get("late") == number:
        raise fail(BAD_USAGE, "`stand-in` does not start: no answer within 15 s")


def _found(settings, number):
    message = ("it is 3, expected 4", "C[1, 2] is transposed", "nothing came")[number % 3]
    name = signature(message, "RM701", "stand-in")
    case = {"text": f"program {number}"}
    return FindingRecord(
        name, "RM701", "stand-in", "wrong", message, number, settings.seed_of(number), "functions", case
    )


def _wrong_step(settings, number, count):
    from refmlc.oracle.fuzz.subjects.primitives.staged import PRIMITIVES  # noqa: PLC0415 - it takes a second

    step = PRIMITIVES[number // count % count]
    if step in settings.exclude:
        return []
    case = {"text": f"program {number}", "steps": ["annotate('B', 0)", f"{step}('B', {number})"]}
    name = signature("another result", "RM705", "stand-in", step)
    message = f"`{step}` is wrong"
    return [
        FindingRecord(name, "RM705", "stand-in", "wrong", message, number, settings.seed_of(number), "primitives", case)
    ]


def describe(settings, number):
    """A program as data."""
    del settings
    return {"text": f"program {number}"}


class SlowStart:
    """It takes a while to start."""

    def __init__(self):
        time.sleep(1.5)

    def close(self):
        """Nothing is held."""


def start_and_hang():
    """Start something that is kept, then do not come back."""
    kept(SlowStart)
    time.sleep(600)
