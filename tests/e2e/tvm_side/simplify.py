"""Runs where TVM is: what its rewriting simplifier makes of expressions; JSON lines on stdin, JSON lines on stdout.

Each line is a list: whether the canonical simplifier is meant, and texts of functions with one store. The answer has,
for each, the stored value as it is built and simplified; a refusal is a string. The condition of an `if` around the
store holds meanwhile.
"""

import json
import sys

import tvm
from tvm.script import from_source

try:
    from tvm import sym as arith
except ImportError:
    from tvm import arith


def parts(text):
    """The conditions around the store, and its value."""
    node, conditions = from_source(text).body, []
    while not isinstance(node, tvm.tirx.BufferStore):
        if isinstance(node, tvm.tirx.IfThenElse):
            conditions.append(node.condition)
            node = node.then_case
        elif isinstance(node, tvm.tirx.SeqStmt):
            node = node.seq[-1]
        else:
            node = node.block if hasattr(node, "block") else node.body
    return conditions, node.value


def simplified(text, is_canonical):
    conditions, value = parts(text)
    analyzer = arith.Analyzer()
    scopes = [analyzer.constraint_scope(condition) for condition in conditions]
    for scope in scopes:
        scope.__enter__()
    result = (analyzer.canonical_simplify if is_canonical else analyzer.rewrite_simplify)(value)
    for scope in reversed(scopes):
        scope.__exit__(None, None, None)
    return value, result


def answer(is_canonical, *texts):
    answers = []
    for text in texts:
        try:
            value, result = simplified(text, is_canonical)
            answers.append([str(value), str(result)])
        except Exception as failure:
            answers.append(str(failure).strip().splitlines()[-1])
    return answers


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(*json.loads(line))) + "\n")
        sys.stdout.flush()
