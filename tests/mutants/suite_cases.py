"""The cases of the suite as a judge asks them: of the interpreter, one after the other, until one does not hold.

Cases that only a checker of whole programs can decide (`detectors`) are asked of the interpreter under its sanitizer.
Arguments and what is wanted are read by the refmlc that is judged, as `refmlc conform` does.
"""

import signal
import tomllib
from collections import defaultdict
from itertools import chain, zip_longest

from judged_tree import digest

SECONDS = 3.0  # of processor time that a case may take beyond what it usually takes
TIMES = 20  # so many times what it usually takes


def tables(folder):
    """The files of the suite, parsed: by text, so that processes that are forked need not do it."""
    paths = [*(folder / "cases").glob("*/*.toml"), *(folder / "frozen").glob("*.toml")]
    texts = [path.read_text("utf-8") for path in paths]
    return {text: tomllib.loads(text) for text in texts}


def digests(parsed):
    """What each case is, by its id."""
    found = {}
    for table in parsed.values():
        for case in table.get("case", ()):
            text = table["modules"][case["uses"]] if "uses" in case else ""
            found[case["id"]] = digest(repr(sorted(case.items(), key=str)), text)
    return found


def asked_ids(parsed):
    """The ids that are asked: one of each operator, then another one of each, and so on."""
    groups = defaultdict(list)
    withdrawn = {row["id"] for table in parsed.values() for row in table.get("withdrawn", ())}
    for table in parsed.values():
        for case in table.get("case", ()):
            if case["id"] not in withdrawn:
                groups[".".join(case["id"].split(".")[:2])].append(case["id"])
    turns = zip_longest(*(sorted(groups[name]) for name in sorted(groups)))
    return [one for one in chain.from_iterable(turns) if one is not None]


def load(parsed, folder):
    """All cases by id."""
    real, tomllib.loads = tomllib.loads, lambda text: parsed[text] if text in parsed else real(text)
    from refmlc.oracle.suite.suite import load_suite  # noqa: PLC0415 - a mutant may be loaded here

    cases = load_suite(folder).cases
    tomllib.loads = real
    return {case.id: case for case in cases}


def first_broken(cases, at=None, usual=None, reached=None):
    """The id of the first case that does not hold, and why; two empty texts. `at` is told the number of each.

    A case that takes much more processor time than it usually does ends the process.
    """
    from refmlc.oracle.implementations.implementation import Limits  # noqa: PLC0415 - a mutant may be loaded here
    from refmlc.oracle.implementations.interp import Interp, SanitizedInterp  # noqa: PLC0415 - the same

    limits = Limits(steps=2_000_000)
    plain, sanitized = Interp(limits), SanitizedInterp(limits)
    for number, case in enumerate(cases):
        if at:
            at(number)
        if usual is not None:
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS + TIMES * usual.get(case.id, 0.1))
        if reached:
            reached(case.id)
        wrong = broken(sanitized if "detectors" in case.features else plain, case)
        if wrong:
            return case.id, wrong
    return "", ""


def broken(implementation, case):
    """Why a case does not hold; empty: it does."""
    from refmlc.oracle.evidence.replay import holds  # noqa: PLC0415 - the same
    from refmlc.oracle.implementations.implementation import Stopped  # noqa: PLC0415 - a mutant may be loaded here
    from refmlc.oracle.implementations.local_calls import answered  # noqa: PLC0415 - the same

    read = answered(lambda: case.module)
    made = read if isinstance(read, Stopped) else implementation.prepare(read)
    for number in range(len(case.calls)):
        answer = made if isinstance(made, Stopped) else made.run(case.func, case.arguments(number))
        wrong = holds(case, number, answer)
        if wrong:
            return wrong
    return ""
