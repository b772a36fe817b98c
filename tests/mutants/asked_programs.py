"""Mutants that programs or points judge, by name: `python asked_programs.py ROOT points|programs` answers JSON lines.

`{"list": true}` gives the names; `{"name": …}` gives `{"state", "why"}`, in the words of `kernel_mutants` and of
`generator_mutants`. `{"prove": true}` gives `{"wrong"}`: why the judge cannot judge; empty: it can.
"""

import json
import os
import sys


def proved(judging):
    """Why the judge cannot judge."""
    try:
        judging.prove_itself()
    except SystemExit as wrong:
        return str(wrong)
    return ""


def main() -> None:
    """Answer until nobody asks."""
    root, kind = sys.argv[1:]
    os.chdir(root)
    sys.path[:0] = [root, f"{root}/tests/mutants", f"{root}/tests"]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    if kind == "points":
        import kernel_mutants as judging  # noqa: PLC0415 - the other kind must not load what this one does

        judge = judging.judge
    else:
        import generator_mutants as judging  # noqa: PLC0415 - the same

        judge = judging.verdict
    known = {mutant.name: mutant for mutant in judging.mutants()}
    for line in sys.stdin:
        question = json.loads(line)
        if "list" in question:
            said = list(known)
        elif "prove" in question:
            said = {"wrong": proved(judging)}
        else:
            end = judge(known[question["name"]])
            said = {"state": end.state, "why": end.why}
        answers.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
