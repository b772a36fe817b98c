"""A public class name means one thing: the names that several modules define are listed, and the list only shrinks."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2] / "refmlc"

APART = (
    "oracle/implementations/loops/",  # the NumPy witness has its own meaning of everything on purpose
    "oracle/implementations/tvm_side/",  # scripts for TVM's Python, which import nothing of refmlc
    "oracle/passes/instrument.py",  # protocols of TVM's objects, with TVM's names
    "oracle/passes/tvm_texts.py",  # the same
    "tools/course/stand_ins/",  # modules of other projects
    "tools/demo/models/",  # TVMScript, not Python
    "tvm/",  # TVM's own names, for programs of the course
    "oracle/suite/data/",  # cases and templates, no modules of refmlc
)

# `lang/ir/tir` and `lang/ir/relax` mirror TVM, which has these names in both of its dialects.
TVM = {"Call": 2, "StringImm": 2, "Var": 2}

# How many modules define a name, in the state that the test allows: after a rename lower or delete the number.
COLLISIONS = {
    "Access": 2,
    "Accesses": 2,
    "Activation": 2,
    "Axis": 4,
    "Block": 2,
    "BlockReport": 2,
    "Bounds": 2,
    "Box": 2,
    "Budget": 2,
    "Call": 5,
    "Cast": 2,
    "Choices": 2,
    "Difference": 2,
    "Dim": 2,
    "Ended": 2,
    "Entry": 4,
    "Facts": 2,
    "Finding": 2,
    "Graph": 3,
    "Graphs": 2,
    "Grid": 2,
    "Inputs": 3,
    "Instance": 2,
    "Interval": 2,
    "Kind": 2,
    "Layout": 4,
    "Line": 2,
    "Load": 2,
    "Loop": 2,
    "Names": 2,
    "Need": 2,
    "Needs": 2,
    "Nest": 2,
    "Node": 2,
    "Numbers": 2,
    "Operand": 2,
    "Operator": 2,
    "Origin": 2,
    "Output": 3,
    "Page": 2,
    "Parameter": 2,
    "Piece": 2,
    "Place": 3,
    "Plan": 2,
    "Prepared": 2,
    "Program": 3,
    "Range": 2,
    "Reductions": 2,
    "Region": 2,
    "Report": 2,
    "Result": 2,
    "Run": 2,
    "Scope": 5,
    "Search": 2,
    "Session": 2,
    "Setting": 2,
    "Settings": 2,
    "Shape": 2,
    "Shapes": 2,
    "Site": 2,
    "Slice": 3,
    "Source": 4,
    "Span": 2,
    "State": 2,
    "Statements": 2,
    "Step": 3,
    "Stop": 2,
    "Target": 4,
    "Tensor": 2,
    "TierSwitch": 2,
    "Trace": 2,
    "Unit": 2,
    "Value": 2,
    "Values": 4,
    "View": 2,
    "Write": 2,
}


def definitions(root):
    """How many modules define each public class name, those apart left out."""
    counts = Counter()
    for path in root.rglob("*.py"):
        if not path.relative_to(root).as_posix().startswith(APART):
            body = ast.parse(path.read_text(encoding="utf-8")).body
            counts.update(
                node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
            )
    return counts


def new_collisions(counts):
    return {name: count for name, count in counts.items() if count > max(TVM.get(name, 1), COLLISIONS.get(name, 1))}


def test_no_class_takes_a_name_that_another_module_has(record_property):
    counts = definitions(ROOT)
    record_property("names of several classes", sum(count > 1 for count in counts.values()))
    assert new_collisions(counts) == {}


def test_a_second_class_of_a_name_is_reported(tmp_path):
    for room in ("oracle", "tools", "tvm"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "one.py").write_text("class Examination: ...\nclass _Private: ...\n", encoding="utf-8")
    assert new_collisions(definitions(tmp_path)) == {"Examination": 2}
