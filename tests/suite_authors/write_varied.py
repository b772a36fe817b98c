"""Areas `op` and `reject`: one-operator programs of the suite with one thing changed.

`python write_varied.py values` changes an attribute (a number is one more or less, a truth the other one, a word one
that another case has there) and asks PyTorch (`refmlc.oracle.implementations.pytorch`, which knows nothing of the
interpreter). `python write_varied.py types ROWS` writes programs whose arguments have another dtype or another extent,
where refmlc refuses them for just that: another dtype must be RM201, another extent RM202; `attributes ROWS` those with
an attribute that cannot be, which must be RM105; `python write_varied.py refused ROWS REFUSED STEM` makes cases of
those that TVM refuses too (`refused_by_tvm`).
"""

import ast
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import book as writing
from book import Asked, Book, Judged

from refmlc.lang.wellformed.reading import read
from refmlc.oracle.evidence import read_case
from refmlc.oracle.evidence.case_file import Call, CaseFile
from refmlc.oracle.implementations.implementation import Ended, Stopped
from refmlc.oracle.implementations.inside import answered
from refmlc.oracle.implementations.interp import Interp
from refmlc.oracle.implementations.pytorch.adapter import Torch
from refmlc.oracle.suite.suite import load_suite

CALL = re.compile(r"^(?P<before>.*?\bR\.)(?P<call>[a-z_0-9.]+\(.*\))$", re.MULTILINE)
PARAMETER = re.compile(r"\b(\w+): R\.Tensor\((\([0-9, ]*\)), (dtype=)?\"(\w+)\"\)")
MOST, TRIED, EACH, LONGEST = 6, 18, 3, 1500
OTHERS = {"float32": "int32", "int32": "float32", "int64": "float32", "bool": "float32", "float16": "float32"}


def one_operator(root):
    """The cases of one call of an operator, by operator."""
    found = defaultdict(list)
    for case in load_suite(root).cases:
        if case.id.startswith("op.") and case.calls[0].assertion["kind"] == "return" and len(case.text) < LONGEST:
            calls = [each for each in CALL.finditer(case.text) if "Tensor" not in each["call"].split("(")[0]]
            if len(calls) == 1 and "symbolic" not in case.features:
                found[case.id.split(".")[1]].append((case, calls[0]))
    return found


def varied(call, words):
    """The texts of a call with one attribute changed."""
    try:
        tree = ast.parse(call, mode="eval")
    except SyntaxError:
        return
    for node in ast.walk(tree):
        for field in ast.walk(node) if isinstance(node, ast.keyword) else ():
            if isinstance(field, ast.Constant):
                for new in changes(field.value, words[node.arg]):
                    old, field.value = field.value, new
                    yield ast.unparse(tree)
                    field.value = old
    keywords = tree.body.keywords if isinstance(tree.body, ast.Call) else []
    for number in range(len(keywords)):
        tree.body.keywords = [each for at, each in enumerate(keywords) if at != number]
        yield ast.unparse(tree)
        tree.body.keywords = keywords


def changes(value, words):
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1]
        case float():
            return [value * 2 + 0.25]
        case str():
            return sorted(words - {value})
        case _:
            return []


def values(root, first="", last="~"):
    book, taken = Book("op", "torch", strict=False), {case.id for case in load_suite(root).cases}
    torch, interp, kept, tried = Torch(), Interp(), Counter(), Counter()
    for operator, rows in sorted(one_operator(root).items()):
        if not first <= operator < last:
            continue
        words = defaultdict(set)
        for _, call in rows:
            for name, word in re.findall(r"(\w+)=['\"](\w+)['\"]", call["call"]):
                words[name].add(word)
        seen = {call["call"] for _, call in rows}
        for case, call in rows:
            for new in varied(call["call"], words) if kept[operator] < MOST else ():
                if new in seen or kept[operator] >= MOST or tried[operator] >= TRIED:
                    continue
                seen.add(new)
                tried[operator] += 1
                made = made_of(case, RESULT.sub(r"\1:", case.text.replace(call["call"], new)))
                told = asked(torch, made)
                if not isinstance(told, Ended) or not isinstance(asked(interp, made), Ended):
                    continue
                name = free(f"op.{operator}.varied", taken)
                count = len(book.cases)
                book.judged(name, case.clauses, made.text, [Told(made.calls[0].args, told)], func=made.func)
                kept[operator] += len(book.cases) - count
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
    sys.stdout.write(f"{book.write(f'varied-{first or 0}', 'Operators with other attributes.')}\n")


RESULT = re.compile(r"^(\s*def \w+\(.*\)) -> .*:$", re.MULTILINE)


class Told(Judged):
    """A call whose witness has answered."""

    def __init__(self, args, told):
        super().__init__(args)
        object.__setattr__(self, "told", told)

    def witnessed(self, case, number, answer):
        return self.told


def made_of(case, text):
    call = Call(case.calls[0].args, {"kind": "open"})
    return read_case(CaseFile("op.a.b", case.clauses, (), "0.27", "", "", text, case.func, (call,)).toml(), "x")


def asked(implementation, case):
    module = answered(lambda: case.module)
    made = module if isinstance(module, Stopped) else answered(lambda: implementation.prepare(module))
    return made if isinstance(made, Stopped) else made.run(case.func, case.arguments(0))


def free(stem, taken):
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    taken.add(f"{stem}-{number}")
    return f"{stem}-{number}"


def types(root, into):
    """Programs that refmlc refuses for what was changed."""
    rows = []
    for operator, cases in sorted(one_operator(root).items()):
        seen = Counter()
        for case, _ in cases:
            for parameter in PARAMETER.finditer(case.text):
                for code, new in others(parameter):
                    key = (code, parameter[1])
                    text = case.text[: parameter.start()] + new + case.text[parameter.end() :]
                    if seen[key] < EACH and code == code_of(RESULT.sub(r"\1:", text)):
                        seen[key] += 1
                        rows.append([RESULT.sub(r"\1:", text), code, operator])
    Path(into).write_text(json.dumps(rows), encoding="utf-8")
    sys.stdout.write(f"{len(rows)} texts\n")


def attributes(root, into):
    """Programs that refmlc refuses for an attribute that cannot be."""
    rows = []
    for operator, cases in sorted(one_operator(root).items()):
        seen = set()
        for case, call in cases:
            for name, new in impossible(call["call"]):
                text = RESULT.sub(r"\1:", case.text.replace(call["call"], new))
                if name not in seen and len(seen) < EACH and code_of(text) == "RM105":
                    seen.add(name)
                    rows.append([text, "RM105", operator])
    Path(into).write_text(json.dumps(rows), encoding="utf-8")
    sys.stdout.write(f"{len(rows)} texts\n")


def impossible(call):
    """The name of an attribute, and the call with one that cannot be."""
    for found in re.finditer(r"(\w+)=('[^']*'|\"[^\"]*\"|-?\d+|\[-?\d+(?:, -?\d+)*\])(?=[,)])", call):
        for new in ('"nonsense"',) if found[2][0] in "'\"" else ("-77", "[0, 0, 0, 0, 0, 0, 0]"):
            yield found[1], call[: found.start(2)] + new + call[found.end(2) :]


def others(parameter):
    name, shape, _, dtype = parameter.groups()
    yield "RM201", f'{name}: R.Tensor({shape}, "{OTHERS.get(dtype, "int8")}")'
    extents = ast.literal_eval(shape)
    for axis in range(len(extents)):
        changed = tuple(extent + (at == axis) for at, extent in enumerate(extents))
        yield "RM202", f'{name}: R.Tensor({changed}, "{dtype}")'
    yield "RM202", f'{name}: R.Tensor({(1, *extents)}, "{dtype}")'
    if extents:
        yield "RM202", f'{name}: R.Tensor({extents[1:]}, "{dtype}")'


def code_of(text):
    made = answered(lambda: read(text, "varied.py"))
    if isinstance(made, Stopped) and made.diagnostic is not None:
        return made.diagnostic.code.id
    return ""


def refused(stem, rows, told):
    """Cases of the programs that TVM refuses too."""
    book, taken = Book("reject", "hand; TVM 0.27 refuses it as well", strict=False), set()
    for (text, code, operator), is_refused in zip(rows, told, strict=True):
        if is_refused:
            name = free(f"reject.{code.lower()}.{operator}", taken)
            book.case(name, [], text, "main", [Asked([], {"kind": "reject", "code": code})])
    sys.stdout.write("".join(f"{line}\n" for line in book.disagreements))
    sys.stdout.write(f"{book.write(stem, 'Operators that do not take such arguments.')}\n")


def main(root, kind, *files):
    match kind:
        case "values":
            values(root, *files)
        case "types":
            types(root, files[0])
        case "attributes":
            attributes(root, files[0])
        case "refused":
            refused(files[2], *(json.loads(Path(each).read_text(encoding="utf-8")) for each in files[:2]))


if __name__ == "__main__":
    main(writing.ROOT, *sys.argv[1:])
