"""Editing: a variable or an element gets another value, and the program goes on with it.

An edit belongs to its moment: whenever the program is executed over it again, the edit is made again. What was known of
later moments is forgotten, and so are edits made there: it is another run from here on.
"""

import sys
from math import inf, isfinite

from refmlc.debug.engine import Engine
from refmlc.debug.looking import Looking
from refmlc.debug.state import named, spots
from refmlc.debug.tensors import put
from refmlc.debug.values import BEGINNING, Edit, FrameKind, Variable
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Slot
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.tensor import Tensor

NUMBERS = ("nan", "inf", "-inf")


class Editing:
    """The edits of a session."""

    def __init__(self, engine: Engine, looking: Looking) -> None:
        self._engine = engine
        self._looking = looking
        self.edits: list[Edit] = []

    def forget(self) -> None:
        """Undo all of them: the next run has none."""
        if self.edits:
            self.edits.clear()
            self._looking.edited.clear()
            self._engine.snapshots.forget_after(BEGINNING)
            self._engine.wholes.clear()
            self._engine.emitted = 0

    def __call__(self, edit: Edit) -> None:
        """Make an edit where the program stands."""
        found = spots(self._engine)
        index = next(number for number, spot in enumerate(found) if spot.shown.level == edit.level)
        node, value = named(found, index)[edit.name]
        if edit.index is not None:
            tensor = value.tensor() if isinstance(value, View) else value
            assert isinstance(tensor, Tensor)  # noqa: S101 - `set` has looked
            put(tensor, edit.index, edit.value)
            return
        spot = found[index]
        if spot.level.reentry is not None and spot.slots is not None and isinstance(node, tir.Var):
            slot: Slot[object] = spot.level.reentry.scope.layout.slot(node)
            spot.slots[slot] = edit.value
        elif spot.level.env is not None:
            for var in spot.level.env.values:
                if var.name == edit.name:
                    spot.level.env.values[var] = edit.value

    def set(self, target: str, text: str, frame: int) -> Variable:
        """Give `target` a value. Fails: RM112 where it can have none, or not this one."""
        asked = self._looking.element(target, frame)
        plain = text.strip() in NUMBERS and text.strip().lstrip("-") not in self._looking.names(frame)
        value = float(text) if plain else self._looking.evaluate(text, frame)
        if not isinstance(value, bool | int | float):
            raise fail(BAD_USAGE, f"`{text}` is no number")
        spot = self._looking.spot(frame)
        names = self._looking.names(frame)
        if asked.name not in names:
            raise fail(BAD_USAGE, f"nothing is called `{asked.name}` here")
        node, held = names[asked.name]
        index = asked.single if asked.axes else None
        if isinstance(node, tir.Buffer) and index is None:
            raise fail(BAD_USAGE, f"`{target}` is not one element")
        if isinstance(node, tir.Var) and asked.axes:
            raise fail(BAD_USAGE, f"`{asked.name}` has no elements")
        if held is None:
            raise fail(BAD_USAGE, f"`{asked.name}` is not there yet")
        if spot.shown.kind is FrameKind.GRAPH and index is None and not isinstance(held, bool | int | float):
            raise fail(BAD_USAGE, f"`{asked.name}` is no number")
        edit = Edit(self._engine.moment, spot.shown.level, asked.name, index, fitting(value, node.dtype))
        self(edit)
        self.edits = [one for one in self.edits if one.moment <= edit.moment] + [edit]
        self._engine.diverge()
        self._looking.edited.add((spot.shown.level, asked.name))
        self._looking.moved()
        return next(one for one in self._looking.visible(frame) if one.name == asked.name)


def fitting(value: float, dtype: DType) -> bool | int | float:
    """A number as one of `dtype`: rounded where that is one of floats. Fails: RM112 where it does not fit."""
    element = dtype.scalar
    if element.is_float:
        if isinstance(value, float) and not isfinite(value):
            return rounder(element)(value)
        rounded = rounder(element)(float(value)) if abs(value) <= sys.float_info.max else inf
        if isfinite(rounded):
            return rounded
    if element.kind == "bool" and value in (0, 1):
        return bool(value)
    if element.is_integer and isfinite(value) and value == int(value) and element.minimum <= value <= element.maximum:
        return int(value)
    raise fail(BAD_USAGE, f"{value} is no {element}")
