"""docs/how-to/add-a-schedule-step.md: every step of schedules has all its parts; what is missing is named."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from refmlc.lang.ir import tir
from refmlc.rewrite import schedule
from refmlc.rewrite.schedule.session import Session

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-schedule-step.md"
FOLDER = ROOT / "refmlc" / "rewrite" / "schedule"
APPLICATIONS = (ROOT / "tests" / "property" / "step_applications.py").read_text(encoding="utf-8")
PLACES = ("get_block", "get_loop", "get_loops")
QUESTIONS = ("get_child_blocks", "get_consumers", "get_output_blocks", "get_producers")
NOT_OF_TVM = {"serial": "a loop is serial as it is written", "drop_unit_loop": "TVM's passes drop such loops"}
NOT_COMPARED = {"unannotate": "tests/unit: it undoes `annotate`"}
STEPS = sorted(
    name for name in schedule.__all__ if inspect.isfunction(vars(schedule)[name]) and name not in (*PLACES, *QUESTIONS)
)
MODULES = [import_module(f"refmlc.rewrite.schedule.{path.stem}") for path in sorted(FOLDER.glob("[a-z]*.py"))]


def missing(name, step):
    """The parts of the checklist that a step lacks."""
    parts = []
    text = inspect.getmodule(inspect.unwrap(step)).__doc__ or ""
    if not re.search(r"\b[Ll]egal\b|\bmay\b", text):
        parts.append(f"when `{name}` is legal, in the docstring of its file")
    if next(iter(inspect.signature(step).parameters), None) != "func":
        parts.append(f"`func` as the first parameter of `{name}`")
    if not re.search(rf"^\|[^|]*`{name}`", schedule.__doc__, re.MULTILINE):
        parts.append(f"a row of `{name}` in the table of refmlc/rewrite/schedule/__init__.py")
    method = vars(schedule.Schedule).get(name) or next(
        (vars(kind)[name] for kind in schedule.Schedule.__mro__ if name in vars(kind)), None
    )
    if name not in NOT_OF_TVM and (method is None or not method.__doc__):
        parts.append(f"a method `{name}` with a docstring in a class among the bases of `Schedule`")
    if any(name in names for names in schedule.NOT_HERE.values()):
        parts.append(f"`{name}` is still in NOT_HERE of refmlc/rewrite/schedule/__init__.py")
    if name not in NOT_COMPARED and f'"{name}"' not in APPLICATIONS:
        parts.append(f"`{name}` in STEPS of tests/property/step_applications.py")
    return parts


def unregistered(modules):
    """The classes with methods that `Schedule` is not made of, and the steps that are not exported."""
    found = []
    for module in modules:
        own = [part for part in vars(module).values() if getattr(part, "__module__", None) == module.__name__]
        found += [
            f"{part.__name__} among the bases of Schedule"
            for part in own
            if inspect.isclass(part) and issubclass(part, Session) and part not in schedule.Schedule.__mro__
        ]
        found += [
            f"{name} of {part.__name__}: no step of this name is exported"
            for part in own
            if inspect.isclass(part) and issubclass(part, Session)
            for name in part.draws
            if name not in schedule.__all__
        ]
    return found


def test_the_steps_are_found():
    assert {"split", "reorder", "bind", "tensorize", "set_scope"} <= set(STEPS)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_every_part(name):
    assert missing(name, vars(schedule)[name]) == []


def test_every_class_of_methods_is_registered():
    assert unregistered(MODULES) == []


def test_what_a_new_step_lacks_is_named(monkeypatch):
    def merge(func: tir.PrimFunc) -> tir.PrimFunc:
        return func

    monkeypatch.setattr(inspect.getmodule(merge), "__doc__", "A step.")
    named = ["when `merge` is legal", "a row of `merge`", "a method `merge`", "`merge` is still in NOT_HERE", "STEPS"]
    assert [word for word, part in zip(named, missing("merge", merge), strict=True) if word not in part] == []


def test_a_class_that_is_not_registered_is_named():
    module = type(schedule)("refmlc.rewrite.schedule.new")
    module.NewSteps = type("NewSteps", (Session,), {"draws": {"newly": None}, "__module__": module.__name__})
    assert [part.partition(" ")[0] for part in unregistered([module])] == ["NewSteps", "newly"]


def test_the_page_names_every_place():
    text = PAGE.read_text(encoding="utf-8")
    places = ("schedule/__init__.py", "session.py", "draws.py", "NOT_HERE", "tests/property/step_applications.py")
    assert [place for place in places if place not in text] == []
