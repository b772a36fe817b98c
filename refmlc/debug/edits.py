"""Edits: the user gives a variable or an element another value, and the program continues with it.

An edit belongs to its moment and is repeated whenever the program executes that moment again. Later edits and all
knowledge of later moments are dropped: another run begins here.
"""

import sys
from math import inf, isfinite

from refmlc.debug.engine import Engine
from refmlc.debug.frames import live_frames, names_in
from refmlc.debug.inspection import Inspection
from refmlc.debug.session_data import Edit, FrameKind, Variable
from refmlc.debug.tensors import put
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.dtypes import DType
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.frame import Slot
from refmlc.run.interp.tensorir.views import View
from refmlc.run.memory.tensor import Tensor

NUMBERS = ("nan", "inf", "-inf")


class EditLog:
    """The edits of a session, in the order of their moments."""

    def __init__(self, engine: Engine, inspection: Inspection) -> None:
        self._engine = engine
        self._inspection = inspection
        self.edits: list[Edit] = []

    def forget(self) -> None:
        """Remove all edits, and what is known of the edited run."""
        if self.edits:
            self.edits.clear()
            self._inspection.edited.clear()
            self._engine.forget()

    def __call__(self, edit: Edit) -> None:
        """Repeat an edit at the current moment."""
        frames = live_frames(self._engine)
        index = next(number for number, live in enumerate(frames) if live.frame.level == edit.level)
        node, value = names_in(frames, index)[edit.name]
        if edit.index is not None:
            tensor = value.tensor() if isinstance(value, View) else value
            assert isinstance(tensor, Tensor)  # noqa: S101 - `set` has looked
            put(tensor, edit.index, edit.value)
            return
        live = frames[index]
        if live.level.reentry is not None and live.slots is not None and isinstance(node, tir.Var):
            slot: Slot[object] = live.level.reentry.scope.layout.slot(node)
            live.slots[slot] = edit.value
        elif live.level.env is not None:
            for var in live.level.env.values:
                if var.name == edit.name:
                    live.level.env.values[var] = edit.value

    def set(self, target: str, text: str, frame: int) -> Variable:
        """Give `target` a value. Fails: RM112 where the target cannot have it."""
        element = self._inspection.element(target, frame)
        plain = text.strip() in NUMBERS and text.strip().lstrip("-") not in self._inspection.names(frame)
        value = float(text) if plain else self._inspection.evaluate(text, frame)
        if not isinstance(value, bool | int | float):
            raise fail(BAD_USAGE, f"`{text}` is not a number")
        live = self._inspection.live_frame(frame)
        names = self._inspection.names(frame)
        if element.name not in names:
            raise fail(BAD_USAGE, f"no variable is named `{element.name}` here")
        node, present = names[element.name]
        index = element.single if element.axes else None
        if isinstance(node, tir.Buffer) and index is None:
            raise fail(BAD_USAGE, f"`{target}` is not a single element")
        if isinstance(node, tir.Var) and element.axes:
            raise fail(BAD_USAGE, f"`{element.name}` has no elements")
        if present is None:
            raise fail(BAD_USAGE, f"`{element.name}` does not exist yet")
        if live.frame.kind is FrameKind.GRAPH and index is None and not isinstance(present, bool | int | float):
            raise fail(BAD_USAGE, f"`{element.name}` is not a number")
        edit = Edit(self._engine.position.moment, live.frame.level, element.name, index, as_dtype(value, node.dtype))
        self(edit)
        self.edits = [earlier for earlier in self.edits if earlier.moment <= edit.moment] + [edit]
        self._engine.diverge()
        self._inspection.edited.add((live.frame.level, element.name))
        self._inspection.invalidate()
        return next(variable for variable in self._inspection.visible(frame) if variable.name == element.name)


def as_dtype(value: float, dtype: DType) -> bool | int | float:
    """A number as a value of `dtype`, rounded for floats. Fails: RM112 where it does not fit."""
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
    raise fail(BAD_USAGE, f"{value} is not a value of {element}")
