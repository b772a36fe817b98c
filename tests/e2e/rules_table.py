"""The rules of TVM's simplifier, decided: `rules_table.py [--tvm PYTHON] [--only Add,Sub] [--docs]`.

With `--tvm` real TVM is asked for each alternative of each rule, with constants for which the condition holds, whether
it makes the same of the left side as of the right; and for each example what it makes of the left side there. `--docs`
writes docs/reference/simplifier-rules.md, for which `--tvm` is needed.
"""

# ruff: noqa: T201 - a command

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import dtype as dtype_of
from refmlc.lang.ir import tir
from refmlc.lang.ir.visit import walk
from refmlc.prove.rules import rules
from refmlc.prove.rules.instance import RuleInstance, reduced, same
from refmlc.prove.rules.verdict import EFFORT, RuleKind, conjuncts, decide

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reference" / "simplifier-rules.md"
SMALL = (3, 2, 6, 5, 12, 4, -3, -2, -6, 8, 1, -1, 0)
MOST_CONSTANTS = 3
ORDER = list(RuleKind)


@dataclass
class Decided:
    """A rule with its verdicts by dtype, what TVM says of its alternatives, and of the examples, by dtype."""

    rule: object
    verdicts: dict
    taken: dict
    shown: dict

    @property
    def worst(self):
        return max((verdict.kind for verdict in self.verdicts.values()), key=ORDER.index)


def decided(rule, effort):
    answers = {}
    names = rule.applied
    verdicts = {name: decide(rule, name, effort=effort, answers=answers) for name in names}
    if rule.of != "index" and "caller" not in rule.note:
        wide = [name for name in names if name in ("uint32", "uint64")]
        verdicts |= {f"{name} that wraps": decide(rule, name, wraps=True, effort=effort // 4) for name in wide}
    return Decided(rule, verdicts, {}, {})


# ------------------------------------------------------------------------------------------- real TVM


class Tvm:
    """What real TVM's simplifier makes of programs."""

    def __init__(self, python):
        self._process = subprocess.Popen(
            [python, str(HERE / "tvm_side" / "simplify.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def simplified(self, rule, texts):
        """For each text the value as built and simplified, or a refusal."""
        print(json.dumps([rule.file == "canonical_simplify.cc", *texts]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def conditioned(instance, program, point):
    """A program under the part of the rule's condition that is over variables."""
    constants = {name: point[name] for name in instance.rule.constants}
    if not instance.rule.when:
        return program
    condition = instance.condition_in_dtype(instance.rule.when)
    parts = [reduced(part, constants) for part in conjuncts(condition)]
    texts = [str(part) for part in parts if any(isinstance(node, tir.Var) for node in walk(part))]
    if not texts:
        return program
    head, store = program.rsplit("\n    ", 1)
    return f"{head}\n    if {' and '.join(texts)}:\n        {store}"


def constants_of(instance):
    """Constants for which the part of the condition that is over constants holds, a few."""
    rule = instance.rule
    parts = list(conjuncts(instance.when)) if rule.when else []
    parts = [
        part for part in parts if not any(n.name in instance.variables for n in walk(part) if isinstance(n, tir.Var))
    ]
    kind = instance.dtype
    values = [float(value) for value in SMALL] if kind.is_float else SMALL
    values = [value for value in values if kind.is_float or kind.minimum <= value <= kind.maximum]
    for chosen in itertools.product(values, repeat=len(rule.constants)):
        point = dict(zip(rule.constants, chosen, strict=True))
        if all(instance.holds(part, point) for part in parts):
            yield point


def taken(tvm, instance):
    """`taken` where TVM makes the same of both sides, else what it makes of the left side."""
    answer = "no constants hold the condition"
    for point in itertools.islice(constants_of(instance), MOST_CONSTANTS):
        programs = [instance.left_program(point), instance.right_program(point)]
        left, right = tvm.simplified(instance.rule, [conditioned(instance, program, point) for program in programs])
        if isinstance(left, str):
            answer = f"refused: {left}"
        elif left[1] == right[1] and left[0] != left[1]:
            return "taken"
        else:
            answer = left[1]
    return answer


def shown(tvm, instance, verdict):
    """What TVM makes of an example: its text, and the value of that, wrapped; empty where it is the right one."""
    point = verdict.example.point
    (answer,) = tvm.simplified(instance.rule, [conditioned(instance, instance.left_program(point), point)])
    if isinstance(answer, str):
        return f"refused: {answer}"
    try:
        left = instance.executed(instance.left_program(point), point, wraps=True)
        value = instance.executed(instance.storing(answer[1]), point, wraps=True)
        strict = instance.executed(instance.storing(answer[1]), point)
    except RefmlcError as failure:
        return f"`{answer[1]}` is not read: {failure}"
    if same(left, strict):
        return ""
    if same(left, value):
        return f"`{answer[1]}`, which is undefined"
    return f"`{answer[1]}`, which is {value[0] if len(value) == 1 else value}"


def ask(tvm, row):
    rule = row.rule
    for left in rule.lefts:
        row.taken[left] = taken(tvm, RuleInstance(rule, left, dtype_of(rule.applied[0])))
    for name, verdict in row.verdicts.items():
        if verdict.example is not None and name in rule.applied:
            row.shown[name] = shown(tvm, RuleInstance(rule, verdict.left, dtype_of(name)), verdict)


# ------------------------------------------------------------------------------------------- the page

HEAD = """# Rules of TVM's simplifier

`python tests/e2e/rules_table.py --tvm PYTHON --docs` writes this page: the rewriting rules of TVM's simplifier (the
{sites} sites of the macro in `rewrite_simplify.cc`, and rules that are code of their own), each decided for the dtypes
to which TVM applies it.

| verdict | wherever the left side is defined and the condition holds |
|---|---|
| proved | the right side is defined and equal, for all values of the dtype |
| proved without overflow | the same if nothing overflows on the right; where something does, or constants that \
TVM folds wrap, is an example |
| proved with precondition | the same if the precondition holds too; the example is a point where it does not |
| refuted | it is not: at the example both sides have values, and they differ |
| undecided | z3 came to its limit for a query (`rlimit` {effort}) |

Integers of 32 and 64 bits are exact, and overflow is undefined; those of 8 and 16 bits wrap (NUM-101). *uint32 that
wraps* is the reading of TVM's sources for unsigned integers. Divisions by 0 are undefined, and so is the least number
by -1. Every example is executed by the interpreter. A rule that holds for all integers holds for each width; nothing is
called proved that was decided at a smaller width only. `c1`, `c2` … are constants, `lanes` any number of lanes (that a
vector's elements fit is shown for four); a Ramp is its element at any lane.

*TVM* says whether TVM {version} makes the same of the left side as of the right (`taken`), at constants for which the
condition holds, or else what it makes of the left side: there an earlier rule comes first, the expression is folded
when it is built, or bounds are not known in so small a one. At an example *TVM has* what TVM makes of the left side
at its constants, and the value of that where integers wrap.

{counts}
"""


def counts(rows):
    """The figures, as lines."""
    sites = {}
    for row in rows:
        if row.rule.is_site:
            sites.setdefault(row.rule.place, []).append(row.worst)
    worst = Counter(max(kinds, key=ORDER.index).value for kinds in sites.values())
    pairs = Counter(verdict.kind.value for row in rows for verdict in row.verdicts.values())
    left = [answer for row in rows for answer in row.taken.values()]
    lines = [f"* sites of the macro: {len(sites)}: " + ", ".join(f"{worst[k.value]} {k.value}" for k in ORDER)]
    lines.append(f"* rules that are code of their own: {sum(not row.rule.is_site for row in rows)}")
    total = sum(pairs.values())
    lines.append(f"* rules and dtypes: {total}: " + ", ".join(f"{pairs[k.value]} {k.value}" for k in ORDER))
    lines.append(f"* decided: {100 * (1 - pairs['undecided'] / total):.1f}% of rules and dtypes")
    if left:
        lines.append(f"* alternatives that TVM takes as the row says: {left.count('taken')} of {len(left)}")
        wrong = [row.rule.place for row in rows if any(", which is" in text for text in row.shown.values())]
        lines.append(f"* examples that TVM shows: of {len(wrong)} rules")
    return "\n".join(lines)


def grouped(row):
    """The verdicts of a rule: dtypes with the same verdict together."""
    groups = {}
    for name, verdict in row.verdicts.items():
        precondition = f" `{verdict.reason}`" if verdict.kind is RuleKind.WITH_PRECONDITION else ""
        limit = f" ({verdict.reason})" if verdict.kind is RuleKind.UNDECIDED else ""
        groups.setdefault(verdict.kind.value + precondition + limit, []).append(name)
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in groups.items())


def line(row):
    rule = row.rule
    lefts = ", ".join(f"`{left}`" for left in rule.lefts)
    examples = [(name, verdict) for name, verdict in row.verdicts.items() if verdict.example is not None]
    example = ""
    if examples:
        name, verdict = min(examples, key=lambda each: (not row.shown.get(each[0]), each[0] != "int32"))
        example = f"{name}: {verdict.example}"
        if row.shown.get(name):
            example += f"; TVM has {row.shown[name]}"
    answers = sorted(set(row.taken.values()))
    says = "taken" if answers == ["taken"] else "; ".join(a if a == "taken" else f"`{a}`" for a in answers)
    when = f"`{rule.when}`" if rule.when else ""
    if rule.note:
        when += f" ({rule.note})"
    return f"| {rule.place} | {lefts} | `{rule.right}` | {when} | {grouped(row)} | {example} | {says} |"


def page(rows, effort, version):
    sites = len({row.rule.place for row in rows if row.rule.is_site})
    text = HEAD.format(sites=sites, effort=effort, counts=counts(rows), version=version)
    for file in dict.fromkeys(row.rule.file for row in rows):
        text += f"\n## {file}\n\n| place | left | right | condition | verdict | example | TVM |\n"
        text += "|---|---|---|---|---|---|---|\n"
        text += "".join(f"{line(row)}\n" for row in rows if row.rule.file == file)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tvm", metavar="PYTHON")
    parser.add_argument("--only", default="", help="operators, with commas")
    parser.add_argument("--effort", type=int, default=EFFORT)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else []
    chosen = [rule for rule in rules() if not only or rule.place.split()[0] in only]
    started, rows = time.monotonic(), []
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(decided, chosen, itertools.repeat(options.effort)):
            rows.append(row)
            print(f"{row.rule.place}: {grouped(row)}", flush=True)
    if options.tvm:
        tvm = Tvm(options.tvm)
        for row in rows:
            ask(tvm, row)
        tvm.close()
    print(counts(rows))
    print(f"{time.monotonic() - started:.0f} s")
    if options.docs and options.tvm:
        version = subprocess.run(
            [options.tvm, "-c", "import tvm; print(tvm.__version__)"], check=True, capture_output=True, text=True
        ).stdout.strip()
        PAGE.write_text(page(rows, options.effort, version), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
