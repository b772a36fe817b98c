"""What real TVM makes of the definitions in a file that people wrote, compared with what refmlc read of them.

Run inside TVM's environment: `python written_files.py FILE UNITS.json`. The file is executed with TVM; functions that
hold definitions and need no argument are called, up to their last definition. `UNITS.json` is a list of `{"name",
"line", "text"}`: `line` is that of the `def` or `class`, `text` what refmlc shows of it. Prints a list of `{"name",
"line", "verdict", "reason"}`.

| verdict   | meaning                                                                    |
|-----------|----------------------------------------------------------------------------|
| `equal`   | TVM reads the definition and refmlc's text of it, and they are the same     |
| `wrong`   | TVM reads both, and they are not                                            |
| `unshown` | TVM reads the definition, and not the text that refmlc prints of it         |
| `missing` | TVM did not reach the definition, or does not read it                       |
"""

import ast
import inspect
import json
import signal
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import tvm
import tvm.relax.script.parser.entry as relax_entry
import tvm.script.parser.ir.entry as ir_entry
import tvm.tirx.script.parser.entry as tir_entry
from compare_texts import module_of, reason

SECONDS = 20
DECORATORS = {"prim_func", "ir_module", "function", "jit"}
RECORDS = {}


def last_name(node):
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")


def is_definition(node):
    return any(last_name(part) in DECORATORS for part in getattr(node, "decorator_list", ()))


def recording(entry):
    """Keep every object that this entry of TVM's parser makes, by the line of its definition."""
    parse = entry.parse

    def kept(program, *args, **options):
        first = program.__code__.co_firstlineno if inspect.isfunction(program) else inspect.getsourcelines(program)[1]
        result = parse(program, *args, **options)
        RECORDS.setdefault((program.__name__, first), []).append(result)
        return result

    entry.parse = kept


def cut(node):
    """Leave out the statements of a function behind its last definition."""
    last = max(
        (at for at, stmt in enumerate(node.body) if any(is_definition(part) for part in ast.walk(stmt))), default=-1
    )
    kept = node.body[: last + 1]
    returns = [stmt for stmt in node.body[last + 1 :] if isinstance(stmt, ast.Return)]
    node.body = [*kept, *returns] or [
        ast.Pass(lineno=node.lineno, col_offset=0, end_lineno=node.lineno, end_col_offset=0)
    ]


def uncalled(tree):
    """The functions that hold definitions and that the file does not call, each with the name of its class."""
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not is_definition(node)]
    for owner in (tree, *classes):
        for node in owner.body:
            plain = isinstance(node, ast.FunctionDef) and not is_definition(node) and node.name not in calls
            if plain and any(map(is_definition, ast.walk(node))):
                yield getattr(owner, "name", ""), node


def stop(*_):
    raise TimeoutError


def attempt(action):
    signal.alarm(SECONDS)
    try:
        return action()
    except BaseException:
        return None
    finally:
        signal.alarm(0)


def main():
    file, units = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))
    signal.signal(signal.SIGALRM, stop)
    for entry in (relax_entry, ir_entry, tir_entry):
        recording(entry)
    tree = ast.parse(file.read_text("utf-8"))
    lines = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and is_definition(node):
            lines[node.name, node.lineno] = min(part.lineno for part in node.decorator_list)
    functions = list(uncalled(tree))
    for _, node in functions:
        cut(node)
        node.decorator_list = []
    module = ModuleType("written")
    module.__file__ = str(file)
    sys.modules["written"] = module
    sys.path.insert(0, str(file.parent))
    code = compile(tree, str(file), "exec")
    attempt(lambda: exec(code, module.__dict__))  # noqa: S102 - TVM executes what it reads
    for owner, node in functions:
        needed = len(node.args.args) - len(node.args.defaults)
        function = getattr(getattr(module, owner, None) if owner else module, node.name, None)
        if inspect.isfunction(function) and needed <= bool(owner):
            attempt(partial(function, *[None] * needed))
    sys.stdout.write(f"\n{json.dumps([judged(unit, lines) for unit in units])}\n")


def judged(unit, lines):
    name, line = unit["name"], unit["line"]
    record = RECORDS.get((name, lines.get((name, line))))
    row = {"name": name, "line": line, "verdict": "missing", "reason": ""}
    if not record:
        return row
    try:
        shown = module_of(unit["text"])
    except Exception as problem:
        return {**row, "verdict": "unshown", "reason": reason(problem)}
    problems = []
    for own in record:
        expected = own if isinstance(own, tvm.IRModule) else tvm.IRModule({name: own})
        problem = difference(expected, shown)
        if not problem:
            return {**row, "verdict": "equal"}
        problems.append(problem)
    return {**row, "verdict": "wrong", "reason": problems[0]}


def difference(expected, shown):
    """Where TVM finds the modules different; empty where they are the same, or print the same."""
    try:
        tvm.ir.assert_structural_equal(expected, shown)
    except ValueError as failure:
        text = expected.script(show_meta=True)
        if text == shown.script(show_meta=True):  # what is ill-formed differs from itself
            return ""
        again = attempt(lambda: module_of(text))  # its text has the digits that TVM prints
        return "" if again is not None and same_when_folded(again, shown) else reason(failure)
    return ""


def same_when_folded(expected, shown):
    """Whether modules are the same after TVM has folded constants, which it does to some when it reads them."""
    fold = tvm.tirx.transform.StmtSimplify()
    return attempt(lambda: tvm.ir.assert_structural_equal(fold(expected), fold(shown)) or True) is True


if __name__ == "__main__":
    main()
