"""In a process that may have a wrong generator: C of programs against outcomes that are known, and what they reach.

| way         | for mutants of        | compiled by |
|-------------|-----------------------|-------------|
| `tiny`      | all                   | tcc         |
| `unchecked` | all                   | tcc         |
| `moved`     | all                   | tcc         |
| the best    | `tile`                | gcc         |
"""

import hashlib
import sys
from collections import Counter

from tier_runs import TINY, Way, differences, usable

from refmlc.lang.ir import IRModule
from refmlc.native.emit import emit_module
from refmlc.native.options import ISAS, Grade, Options

TOGETHER = 24
PROVED = Way("unchecked", Grade.UNCHECKED, tiny=True)
MOVED = Way("moved", Grade.REORDERED, tiny=True)
WIDE = Way(usable()[0], Grade.REORDERED, ISAS[usable()[0]])


def ways_for(module):
    """The ways in which a mutant of `module` can be seen."""
    return (MOVED, WIDE) if ".tile." in module or module.endswith(".tiles") else (TINY, PROVED, MOVED)


def reached_lines(cases, prefix):
    """For each case the lines that translating it executes, as (file, line), in modules whose path holds `prefix`."""
    found = []
    for case in cases:
        lines = set()

        def local(frame, event, _arg, lines=lines):
            if event == "line":
                lines.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def whole(frame, _event, _arg, local=local):
            return local if prefix in frame.f_code.co_filename else None

        for way in (TINY, WIDE):
            sys.settrace(whole)
            emit_module(IRModule({case.name: case.prim_func}), Options(way.best, way.isa))
            sys.settrace(None)
        found.append(lines)
    return found


def digest_of(case, way):
    """Of the C of one program: what it is made of, and what is declined."""
    source = emit_module(IRModule({case.name: case.prim_func}), Options(way.best, way.isa))
    return hashlib.sha256(f"{source.text} {sorted(source.declined)}".encode()).hexdigest()[:16]


def digests(cases):
    """Of the C of each program in each way."""
    return [{way.name: digest_of(case, way) for way in (TINY, PROVED, MOVED, WIDE)} for case in cases]


def judge(cases, wanted, usual, module):
    """A sentence on the first difference; else how many texts are others than usual."""
    changed, counts = 0, Counter()
    for way in ways_for(module):
        others = [number for number, case in enumerate(cases) if digest_of(case, way) != usual[number][way.name]]
        changed += len(others)
        for start in range(0, len(others), TOGETHER):
            part = others[start : start + TOGETHER]
            found, ran = differences([cases[number] for number in part], way, [wanted[number] for number in part])
            if found:
                case, _, right, given = found[0]
                what = [
                    name for name in ("value", "verdict", "tensors") if getattr(right, name) != getattr(given, name)
                ]
                return f"{case.name} {way} {'and '.join(what)}: {right.verdict[:2]}, in C {given.verdict[:2]}"
            counts.update(ran.counts)
            counts["refused"] += len(ran.declined)
    return _rates(counts, changed) or f"others: {changed}"


def _rates(counts, number):
    """What the property of tiers asks of counts."""
    calls = counts["native"] + counts["declined"] + counts["stopped"]
    if counts["refused"] > 0.5 * max(number, 4):
        return f"{counts['refused']} of {number} functions are declined"
    if number > 8 and not counts["native"] + counts["stopped"]:
        return f"none of {number} functions is executed in C"
    if counts["alarms"] > max(3, 0.05 * calls):
        return f"{counts['alarms']} false alarms in {calls} calls"
    return ""
