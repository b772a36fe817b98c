"""What counts faults that were put in proves first that it can fail: none is without such a proof."""

import ast
import re
from pathlib import Path

import pytest
from biting import again, prove, raising, raising_at_loading

TESTS = Path(__file__).parents[1]
# Programs that judge by faults put in: each with the function that proves it, and who calls that before it counts.
CHECKS = {
    "e2e/c_terms_table.py": ("prove_itself", "main"),
    "e2e/certified_reductions.py": ("prove_itself", "main"),
    "e2e/check_power.py": ("prove_itself", "main"),
    "e2e/device_kernels.py": ("prove_itself", "main"),
    "e2e/equality_table.py": ("prove_itself", "main"),
    "e2e/mutated_adapters.py": ("prove_itself", "main"),
    "e2e/passes_real.py": ("prove_itself", "planted_faults"),
    "e2e/planted.py": ("prove_itself", "main"),
    "e2e/planted_faults.py": ("prove_itself", "main"),
    "e2e/proof_table.py": ("prove_itself", "main"),
    "e2e/ptx_table.py": ("prove_itself", "main"),
    "e2e/witnesses.py": ("prove_itself", "main"),
    "mutants/generator_mutants.py": ("prove_itself", "run.generator"),
    "mutants/kernel_mutants.py": ("prove_itself", "run.headers"),
    "mutants/matrix.py": ("prove", "judge"),
    "mutants/suite_alone.py": ("prove_itself", "judge_all"),
    "mutants/suite_native.py": ("prove_headers", "judge_all"),
}
FAULTS = re.compile(
    r"\b(mutants?|planted|mutated|witness(es)?|faults?|wrong (headers|generator|variants))\b", re.IGNORECASE
)
# They speak of faults and judge none: what the programs above are made of, and what starts or lists faults for them.
PARTS = {
    "mutants/asked_programs.py",  # asks `kernel_mutants.py` and `generator_mutants.py`
    "mutants/asked_tests.py",  # asks the tests for `matrix.py`
    "mutants/reasons.py",  # reads why mutants survive, and judges none
    "mutants/run.py",  # starts the first four
}


def programs():
    """The scripts that speak of faults in their docstring."""
    for path in sorted((*TESTS.glob("e2e/*.py"), *TESTS.glob("mutants/*.py"), *TESTS.glob("property/*.py"))):
        text = path.read_text(encoding="utf-8")
        is_program = "if __name__ ==" in text or path.relative_to(TESTS).as_posix() in CHECKS
        if is_program and FAULTS.search(ast.get_docstring(ast.parse(text)) or ""):
            yield path.relative_to(TESTS).as_posix()


def called(path, function):
    """The names that a function calls."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    calls = [call for node in nodes for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {ast.unparse(call.func).split(".")[-1] for call in calls}


def test_every_program_that_judges_by_faults_is_listed():
    assert set(programs()) == set(CHECKS) | PARTS


@pytest.mark.parametrize("path", CHECKS)
def test_it_proves_that_it_can_fail_before_it_counts(path):
    proof, before = CHECKS[path]
    where, _, function = before.rpartition(".")
    assert "prove" in called(path, proof)
    assert proof in called(f"mutants/{where}.py" if where else path, function)


def test_a_judge_that_cannot_fail_or_cannot_pass_ends_the_program():
    prove("the judge", notices=True, passes=True)
    with pytest.raises(SystemExit, match=r"cannot fail: what is certainly wrong passes\. 0 of 3"):
        prove("the judge", notices=False, passes=True, why="0 of 3")
    with pytest.raises(SystemExit, match="cannot pass"):
        prove("the judge", notices=True, passes=False)


def test_what_is_certainly_wrong():
    text = "def f(a):\n    '''Doc.'''\n    return a\n"
    names = {"__name__": "here"}
    exec(again(text), names)  # noqa: S102 - the text above
    assert names["f"](3) == 3
    exec(raising(text), names)  # noqa: S102 - the same
    with pytest.raises(RuntimeError, match="planted"):
        names["f"](3)
    with pytest.raises(RuntimeError, match="planted"):
        exec(raising_at_loading(text), names)  # noqa: S102 - the same
