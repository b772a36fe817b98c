"""Wrong C headers and a wrong generator, judged by the suite through `native`: `python tests/mutants/suite_native.py`.

| family    | what is wrong                           | asked                                                 |
|-----------|-----------------------------------------|-------------------------------------------------------|
| `headers` | a helper of `kernels_c` (`c_mutations`) | cases whose C comes to a function that is another one |
| `codegen` | `refmlc/native/emit`, `…/analysis`      | cases whose C is another text                         |

C is as written, with checks (`native:tiny`), compiled by tcc, or by gcc where there is none.

| end         | means                                                                                               |
|-------------|-----------------------------------------------------------------------------------------------------|
| `killed`    | a case does not hold; the compiler does not take the C of the generator; the process dies or hangs  |
| `no C`      | a header that does not compile: nothing is learnt                                                   |
| `same`      | no case's C is another one                                                                          |
| `explained` | stands in `survivors.toml` or `suite_survivors/`                                                    |
| `survived`  | the C is another one, and every case holds: a fault that is missed, or C that is slower, or as good |

The share is of killed among killed and survived. A wrong generator that only checks more, or declines a function,
gives C that is slower and as good; `run.py codegen` has programs for it besides.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import c_mutations  # noqa: E402 - after the path
import suite_cases  # noqa: E402 - the same
import suite_swaps  # noqa: E402 - the same
from biting import again, prove, raising  # noqa: E402 - the same
from families import found  # noqa: E402 - the same
from judged_tree import copied  # noqa: E402 - the same
from python_mutations import is_python, mutants_of  # noqa: E402 - the same
from reasons import Reasons  # noqa: E402 - the same
from suite_alone import interval  # noqa: E402 - the same
from suite_forks import in_fork  # noqa: E402 - the same
from units import sample  # noqa: E402 - the same

AREAS = ("scalar", "cast", "undefined", "finding", "lowered", "tir", "te", "trap", "schedule")
ELSEWHERE = ("rm_vector.h", "rm_python.h", "rm_threads.h")  # of vectors, which tcc does not read; of calls; of threads
GENERATOR = ("refmlc/native/emit/*.py", "refmlc/native/analysis/*.py")
PROVED = "refmlc.native.emit.expressions"  # what is certainly wrong is shown by it
MOST = 160  # cases that are asked of one mutant
USED = re.compile(r"\brm_\w+|\bRM_\w+")


class InC:
    """The cases whose functions are in C, each with its text. Loads refmlc from the copied tree."""

    def __init__(self, tree, every):
        from refmlc.oracle.implementations.local_calls import answered  # noqa: PLC0415 - refmlc is that of the copy
        from refmlc.oracle.implementations.native import Native  # noqa: PLC0415 - the same

        self.tree, self.native, self._answered = tree, Native("tiny"), answered
        parsed = suite_cases.tables(tree / "conformance")
        cases = suite_cases.load(parsed, tree / "conformance")
        ids = [one for one in suite_cases.asked_ids(parsed) if one.split(".")[0] in AREAS]
        self.cases = {one: cases[one] for one in ids[::every] if "detectors" not in cases[one].features}
        self.texts = {}
        for name, case in self.cases.items():
            text, translation = self.translated(case)
            if translation is not None and translation.units:
                self.texts[name] = text

    def translated(self, case):
        """The C of a case's module, and what is known of it; None where there is none."""
        from refmlc.oracle.implementations.implementation import Stopped  # noqa: PLC0415 - refmlc is that of the copy
        from refmlc.oracle.implementations.native import translated, way  # noqa: PLC0415 - the same
        from refmlc.rewrite.transform import legalize_ops  # noqa: PLC0415 - the same

        def work():
            return translated([legalize_ops(case.module)], way("tiny").options, fused=False)

        made = self._answered(work)
        return (made.message, None) if isinstance(made, Stopped) else (made[0], made[1][0])

    def broken(self, name):
        """Why a case does not hold in C as it is translated and compiled now; empty: it does."""
        from refmlc.native.compile import BuildFailed, build  # noqa: PLC0415 - the same
        from refmlc.native.options import ISAS  # noqa: PLC0415 - the same
        from refmlc.native.tier.compiled_module import CompiledModule  # noqa: PLC0415 - the same
        from refmlc.oracle.evidence.replay import holds  # noqa: PLC0415 - the same
        from refmlc.oracle.implementations.implementation import Stop, Stopped  # noqa: PLC0415 - refmlc is that of the copy
        from refmlc.oracle.implementations.native import InC as Module  # noqa: PLC0415 - the same
        from refmlc.rewrite.transform import legalize_ops  # noqa: PLC0415 - the same

        case = self.cases[name]
        text, translation = self.translated(case)
        if translation is None:
            return f"it is not translated: {text}"
        try:
            library = build(text, ISAS["none"], cache=None, tiny=True) if translation.units else None
        except BuildFailed as problem:
            return f"no C: {problem}"
        made = Module(legalize_ops(case.module), CompiledModule(translation, library), self.native)
        for number in range(len(case.calls)):
            answer = made.run(case.func, case.arguments(number))
            if isinstance(answer, Stopped) and answer.why is Stop.UNSUPPORTED:
                continue
            wrong = holds(case, number, answer)
            if wrong:
                return wrong
        return ""


def first_broken(known, names, at):
    """The first case that does not hold, and why."""
    for number, name in enumerate(names):
        at(number)
        wrong = known.broken(name)
        if wrong:
            return name, wrong
    return "", ""


# ------------------------------------------------------------------------------------------------- headers


class Headers:
    """The functions of the headers as the compiler sees them, and which function calls which."""

    def __init__(self, folder):
        self.folder = folder
        self.right = self.functions(folder)
        self.calls = {name: set(USED.findall(body)) for name, body in self.right.items()}

    def functions(self, folder):
        """The text of each function after the preprocessor; None where it does not take the headers."""
        from refmlc.native.compile.compiler import find_compiler  # noqa: PLC0415 - refmlc is that of the copy
        from refmlc.native.options import ISAS  # noqa: PLC0415 - the same

        names = [path.name for path in sorted(folder.glob("rm_*.h")) if path.name not in ELSEWHERE]
        text = "#define RM_USE_ALL\n" + "".join(f'#include "{name}"\n' for name in names)
        compiler = find_compiler(tiny=True)
        flags = [flag for flag in compiler.flags(ISAS["none"]) if flag != "-shared"]
        command = [compiler.path, *flags, "-E", "-P", f"-I{folder}", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        found_, depth, start = {}, 0, 0
        for sign in re.finditer(r"[{};]", done.stdout):
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
            if depth == 0 and sign[0] in "};":
                part = done.stdout[start : sign.end()]
                named = re.search(r"\b(rm_\w+)\s*\(", part)
                if named and sign[0] == "}":
                    found_[named[1]] = " ".join(part.split())
                start = sign.end()
        return found_

    def affected(self, folder, owner):
        """The names that a wrong header changes: functions, those that call them, a macro that is used as such."""
        wrong = self.functions(folder)
        if wrong is None:
            return None
        changed = {name for name in {*self.right, *wrong} if self.right.get(name) != wrong.get(name)} | {owner}
        while True:
            more = {name for name, used in self.calls.items() if used & changed} - changed
            if not more:
                return changed
            changed |= more


def header_mutants(tree):
    """All mutants of the headers that tcc reads too."""
    paths = [path for path in sorted((tree / "kernels_c").glob("rm_*.h")) if path.name not in ELSEWHERE]
    return [one for path in paths for one in c_mutations.mutants_of(path.name, path.read_text("utf-8"))]


def judge_header(known, headers, mutant):
    """What becomes of one wrong header."""
    from refmlc.native.compile import compiler  # noqa: PLC0415 - refmlc is that of the copy

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in headers.folder.glob("*.h"):
            text = path.read_text("utf-8")
            (folder / path.name).write_text(mutant.applied(text) if path.name == mutant.header else text, "utf-8")
        affected = headers.affected(folder, mutant.owner)
        if affected is None:
            return "no C", ""
        names = [one for one, text in known.texts.items() if affected & set(USED.findall(text))][:MOST]
        if not names:
            return "same", ""

        def work(at):
            compiler.HEADERS = folder
            return first_broken(known, names, at)

        told = in_fork(work, names)
    if told.why.startswith("no C"):
        return "no C", ""
    return told.state, f"{told.case} {told.why}"


@dataclass(frozen=True)
class Planted:
    """A header with `text` at its end, which changes `owner`."""

    header: str
    owner: str
    text: str

    def applied(self, right):
        """The text of the header."""
        return f"{right}\n{self.text}\n"


def prove_headers(known, headers):
    """A helper that many cases use is killed where it is something else, and survives where it is as it was."""
    used = Counter(name for text in known.texts.values() for name in set(USED.findall(text)))
    helper = max((name for name in used if name.startswith("rm_add_")), key=used.get)
    header = "rm_arith.h"
    ends = [judge_header(known, headers, Planted(header, helper, text)) for text in (f"#define {helper}(...) 7", "")]
    why = f"{helper} that gives 7: {ends[0]}; unchanged: {ends[1]}"
    prove("the judge of headers", notices=ends[0][0] == "killed", passes=ends[1][0] == "survived", why=why)


# ----------------------------------------------------------------------------------------------- generator


def generator_mutants(tree):
    """All mutants of the generator."""
    paths = [path for path in found(tree, GENERATOR) if not path.endswith("__init__.py")]
    return [
        one
        for path in paths
        for one in mutants_of(
            ".".join(Path(path).with_suffix("").parts), (tree / path).read_text("utf-8"), all_compile=False
        )
    ]


def judge_generator(known, functions, mutant):
    """What becomes of one wrong generator: its functions take the place of the right ones."""
    path = known.tree / (mutant.module.replace(".", "/") + ".py")
    pairs = suite_swaps.swaps(path, path.read_text("utf-8"), mutant.source)
    if pairs is None or not any(right in functions for right, _ in pairs):
        return "table", ""

    def work(at):
        suite_swaps.swap(functions, pairs)
        changed = []
        for number, (name, text) in enumerate(known.texts.items()):
            at(number)
            if digest_of(known.translated(known.cases[name])[0]) != digest_of(text):
                changed.append(name)
                wrong = known.broken(name) if len(changed) <= MOST else ""
                if wrong:
                    return name, wrong
        return ("", "") if changed else ("same", "same")

    told = in_fork(work, list(known.texts))
    return ("same", "") if told.case == "same" else (told.state, f"{told.case} {told.why}")


@dataclass(frozen=True)
class Text:
    """A module with another text."""

    module: str
    source: str


def prove_generator(known, functions):
    """A generator whose functions raise is killed; one that is as it was gives the same C."""
    right = (known.tree / f"{PROVED.replace('.', '/')}.py").read_text("utf-8")
    ends = [judge_generator(known, functions, Text(PROVED, text)) for text in (raising(right), again(right))]
    why = f"{PROVED} whose functions raise: {ends[0]}; as it was: {ends[1]}"
    prove("the judge of the generator", notices=ends[0][0] == "killed", passes=ends[1][0] == "same", why=why)


def digest_of(text):
    """A name for a text of C."""
    return hashlib.sha256(text.encode()).hexdigest()


# --------------------------------------------------------------------------------------------------- report


def main():
    """Print what became of a sample of each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=("headers", "codegen"))
    parser.add_argument("--number", type=int, default=60, help="of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no mutant of a family after so long")
    parser.add_argument("--every", type=int, default=1, help="ask of the suite each n-th case only")
    parser.add_argument("--tree", type=Path, default=HERE.parents[1], help="what is judged")
    options = parser.parse_args()
    with copied(options.tree) as tree:
        judge_all(options, tree)


def judge_all(options, tree):
    """Judge, and print a line for each survivor, and the shares."""
    known, reasons = InC(tree, options.every), Reasons(tree)
    sys.stdout.write(f"{len(known.texts)} cases are in C\n")
    for family in options.family or ("headers", "codegen"):
        if family == "headers":
            headers, made = Headers(tree / "kernels_c"), header_mutants(tree)
            prove_headers(known, headers)
        else:
            functions, made = suite_swaps.functions(tree), generator_mutants(tree)
            prove_generator(known, functions)
        counts, until = Counter(), time.monotonic() + 60 * options.minutes
        for mutant in sample(made, options.number, options.seed):
            if time.monotonic() > until or (family == "codegen" and not is_python(mutant.source)):
                continue
            if family == "headers":
                state, why = judge_header(known, headers, mutant)
            else:
                state, why = judge_generator(known, functions, mutant)
            state = "explained" if state == "survived" and reasons.row_of(mutant.name) else state
            counts[state] += 1
            if state == "survived":
                sys.stdout.write(f"survived: {mutant.name} (line {mutant.line}) {why}\n")
                sys.stdout.flush()
        report(family, counts)


def report(family, counts):
    """The line of a family."""
    faults = counts["killed"] + counts["survived"]
    others = ", ".join(f"{counts[state]} {state}" for state in ("explained", "same", "no C", "table") if counts[state])
    if not faults:
        sys.stdout.write(f"{family:8} nothing to count; {others}\n")
    else:
        low, high = interval(counts["killed"], faults)
        share = f"{100 * counts['killed'] / faults:.1f} % (95 %: {low:.1f} to {high:.1f})"
        sys.stdout.write(f"{family:8} {counts['killed']} of {faults} killed: {share}; {others}\n")


if __name__ == "__main__":
    main()
