"""Families of mutants: what is made wrong, and which tests are asked, the quickest that reach the line first.

| family      | what is wrong                                               | judged by                             |
|-------------|-------------------------------------------------------------|---------------------------------------|
| `interp`    | cases of the interpreter: TensorIR, graphs, the machine     | the tests that reach the line         |
| `ops`       | value functions of scalar operators, rounding, conversions  | the same                              |
| `headers`   | helpers in C                                                | points (`kernel_mutants`)             |
| `codegen`   | the generator: what is written, what is proved, tiles       | programs (`generator_mutants`), tests |
| `detectors` | the sanitizer                                               | the tests that reach the line         |
| `bounds`    | certificates, and comparison with them                      | the same                              |

Both lists are of paths and patterns below the root of the tree. A test is of a family when it could see such a fault:
more files cost time in the first run only, where it is noted which lines each test reaches.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """`modules` that are made wrong, `tests` that are asked. `by`: what judges first, where that is not a test."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    by: str = ""


FAMILIES = {
    "interp": Family(
        ("refmlc/run/interp/*.py", "refmlc/run/interp/*/*.py"),
        (
            "tests/unit/run/interp/test_*.py",
            "tests/golden/test_golden_diagnostics.py",
            "tests/golden/test_golden_sanitize.py",
            "tests/unit/observe/sanitize/test_*.py",
            "tests/unit/vm/test_vm_run.py",
            "tests/unit/vm/test_vm_arguments.py",
            "tests/unit/vm/test_vm_native_calls.py",
            "tests/property/test_property_interp_*.py",
        ),
    ),
    "ops": Family(
        ("refmlc/lang/ops/scalar/*.py", "refmlc/lang/dtypes/rounding.py", "refmlc/lang/dtypes/bits.py"),
        (
            "tests/unit/lang/ops/test_*.py",
            "tests/unit/lang/dtypes/test_*.py",
            "tests/property/test_ops_laws.py",
            "tests/property/test_property_interp_arith.py",
            "tests/unit/run/interp/test_interp_expressions.py",
            "tests/unit/run/interp/test_interp_edges.py",
            "tests/unit/kernels/test_kernels_operators.py",
        ),
    ),
    "headers": Family((), (), "points"),
    "codegen": Family(
        ("refmlc/native/emit/*.py", "refmlc/native/analysis/*.py", "refmlc/native/tile/*.py"),
        (
            "tests/unit/native/emit/test_*.py",
            "tests/unit/native/analysis/test_*.py",
            "tests/unit/native/tile/test_*.py",
            "tests/property/test_property_analysis_*.py",
        ),
        "programs",
    ),
    "detectors": Family(
        ("refmlc/observe/sanitize/*.py",),
        (
            "tests/unit/observe/sanitize/test_*.py",
            "tests/golden/test_golden_sanitize.py",
            "tests/golden/test_golden_diagnostics.py",
            "tests/property/test_property_sanitize.py",
            "tests/e2e/test_sanitized_sample.py",
        ),
    ),
    "bounds": Family(
        ("refmlc/observe/bounds/*.py", "refmlc/oracle/compare.py"),
        (
            "tests/unit/observe/bounds/test_*.py",
            "tests/unit/oracle/test_oracle_compare.py",
            "tests/e2e/test_certified_reductions.py",
            "tests/property/test_property_bounds_enclosures.py",
        ),
    ),
}


def found(root, patterns):
    """The files below `root` that fit, as paths relative to it, in order."""
    paths = {path.relative_to(root) for pattern in patterns for path in root.glob(pattern)}
    return sorted(str(path) for path in paths)
