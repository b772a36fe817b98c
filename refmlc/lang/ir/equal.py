"""Structural equality: two nodes mean the same, whatever their variables are called and wherever they stood.

| what                             | compared                                                                    |
|----------------------------------|-----------------------------------------------------------------------------|
| variables and buffers            | by a one-to-one map, set up where they are defined; a free one equals itself |
| … free in a whole function       | by the map as well: they are the function's own, `n = T.int64()`             |
| shape variables                  | defined by the first type, buffer or parameter of a signature that holds them |
| names of variables, buffers, blocks, modules; spans; the source; inverses of index maps | not compared         |
| names of functions, parameters' order | compared                                                               |
| attributes, functions of a module | as mappings: their order is not compared                                     |
| plain attribute values           | `1`, `True`, `1.0` and `T.int64(1)` all differ                               |
| floats                           | by bits, all NaN one class: 0.0 and -0.0 differ                             |
| tensor constants                 | by dtype, shape and bytes                                                   |

Source: the structural equality of TVM 0.27 (its fields' flags, measured), which has the same rules for what both have.
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np

from refmlc.lang.ir import relax, tir, tirx, types
from refmlc.lang.ir.attrs import CommReducer, IndexMap
from refmlc.lang.ir.module import IRModule
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import field_names

_IGNORED = frozenset(
    {
        (tir.Var, "name"),
        (tir.Buffer, "name"),
        (relax.Var, "name"),
        (tir.SBlock, "name"),
        (IRModule, "name"),
        (IRModule, "source"),
        (IndexMap, "inverse"),
        (tir.PrimFunc, "check_well_formed"),
        (types.TensorType, "shape_var"),
    }
)

# Nodes at whose end the variables defined below them go out of scope.
_SCOPES = (
    tir.PrimFunc,
    tir.For,
    tir.SeqStmt,
    tir.Let,
    tir.SBlockRealize,
    tir.AttrStmt,
    relax.Function,
    relax.SeqExpr,
    types.FuncType,
    CommReducer,
    IndexMap,
    tirx.LambdaExpr,
)

# The order of comparison where it is not that of the fields.
_ORDER: dict[type[object], tuple[str, ...]] = {
    tir.For: ("min", "extent", "step", "kind", "loop_var", "thread", "annotations", "body"),
    tir.Bind: ("value", "var"),
    tir.Let: ("value", "var", "body"),
    tir.DeclBuffer: ("data", "buffer"),
    tir.IterVar: ("dom", "kind", "var"),
    tir.MatchBufferRegion: ("source", "buffer"),
    tir.SBlock: ("iter_vars", "alloc_buffers", "match_buffers", "reads", "writes", "init", "body", "annotations"),
    tir.SBlockRealize: ("iter_values", "predicate", "block"),
    tir.ThreadVar: ("tag", "iter_type", "dom", "var"),
    relax.MatchCast: ("value", "ty", "var"),
    tirx.ScopeIdDef: ("kind", "extents", "preferred", "ids"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two nodes differ: the path to it, the two values, what is different."""

    path: str
    left: object
    right: object
    reason: str

    def __str__(self) -> str:
        return f"{self.path or 'the whole'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Step:
    """A path, shared from the end."""

    above: "_Step | None"
    text: str

    def __str__(self) -> str:
        parts: list[str] = []
        here: _Step | None = self
        while here is not None:
            parts.append(here.text)
            here = here.above
        return "".join(reversed(parts)).removeprefix(".")


class _Mode(Enum):
    """The role of a variable: use; definition; definition unless it is already defined (as in a type)."""

    USE = "use"
    DEFINE = "define"
    PATTERN = "pattern"


# The fields that define variables or buffers.
_DEFINES: dict[tuple[type[object], str], _Mode] = {
    (tir.For, "loop_var"): _Mode.DEFINE,
    (tir.ThreadVar, "var"): _Mode.PATTERN,
    (tir.AttrStmt, "node"): _Mode.PATTERN,  # a buffer may stand in an attribute only
    (tir.Bind, "var"): _Mode.DEFINE,
    (tir.Let, "var"): _Mode.DEFINE,
    (tir.AllocBuffer, "buffer"): _Mode.DEFINE,
    (tir.DeclBuffer, "buffer"): _Mode.DEFINE,
    (tir.MatchBufferRegion, "buffer"): _Mode.DEFINE,
    (tir.IterVar, "var"): _Mode.DEFINE,
    (tir.SBlock, "alloc_buffers"): _Mode.DEFINE,
    (relax.Function, "params"): _Mode.DEFINE,
    (relax.VarBinding, "var"): _Mode.DEFINE,
    (relax.MatchCast, "var"): _Mode.DEFINE,
    (relax.MatchCast, "ty"): _Mode.PATTERN,
    (types.FuncType, "params"): _Mode.PATTERN,
    (CommReducer, "lhs"): _Mode.DEFINE,
    (CommReducer, "rhs"): _Mode.DEFINE,
    (IndexMap, "initial"): _Mode.DEFINE,
    (tirx.ScopeIdDef, "ids"): _Mode.DEFINE,
    (tirx.LambdaExpr, "params"): _Mode.DEFINE,
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two values to compare, and what their variables are."""

    left: object
    right: object
    at: _Step | None
    mode: _Mode = _Mode.USE


@dataclass(frozen=True, slots=True)
class _Leave:
    """The end of a scope: definitions made after `mark` are forgotten."""

    mark: int


@dataclass(frozen=True, slots=True)
class _Define:
    """The pair itself (its dtype, type or shape is compared before)."""

    pair: _Pair


_Task: TypeAlias = _Pair | _Leave | _Define

_VARIABLES = (tir.Var, tir.Buffer, relax.Var)
_Key = int | str


class _Comparison:
    """The one-to-one map of variables, and the work that is left."""

    def __init__(self, *, map_free: bool) -> None:
        self.map_free = map_free
        self.forward: dict[_Key, _Key] = {}
        self.backward: dict[_Key, _Key] = {}
        self.trail: list[tuple[_Key, _Key | None, _Key, _Key | None]] = []
        self.seen: set[tuple[int, int, bool]] = set()
        self.stack: list[_Task] = []

    def run(self, a: object, b: object) -> Difference | None:
        self.stack.append(_Pair(a, b, None))
        while self.stack:
            task = self.stack.pop()
            if isinstance(task, _Leave):
                self.leave(task.mark)
            elif isinstance(task, _Define):
                self.define(task.pair)
            else:
                reason = self.compare(task)
                if reason is not None:
                    return Difference(str(task.at or ""), task.left, task.right, reason)
        return None

    # ------------------------------------------------------------------------------------------- the map

    def bind(self, a: _Key, b: _Key, *, free: bool) -> None:
        """Map `a` to `b`: until the scope ends, or for good where they are free in the whole."""
        if not free:
            self.trail.append((a, self.forward.get(a), b, self.backward.get(b)))
        self.forward[a] = b
        self.backward[b] = a
        self.seen.clear()

    def leave(self, mark: int) -> None:
        if len(self.trail) == mark:
            return
        while len(self.trail) > mark:
            a, old_b, b, old_a = self.trail.pop()
            for table, key, old in ((self.forward, a, old_b), (self.backward, b, old_a)):
                if old is None:
                    table.pop(key, None)
                else:
                    table[key] = old
        self.seen.clear()

    def define(self, pair: _Pair) -> None:
        free = pair.mode is _Mode.USE
        self.bind(id(pair.left), id(pair.right), free=free)
        if isinstance(pair.left, relax.Var) and isinstance(pair.right, relax.Var):
            self.bind(pair.left.name, pair.right.name, free=free)

    def same_name(self, a: _Key, b: _Key) -> bool:
        """Whether a use of `a` and a use of `b` mean the same."""
        if a in self.forward or b in self.backward:
            return self.forward.get(a) == b and self.backward.get(b) == a
        return a == b

    # -------------------------------------------------------------------------------------------- values

    def compare(self, pair: _Pair) -> str | None:
        """The reason why the two differ at this place, or None; what is below is pushed."""
        a, b = pair.left, pair.right
        if type(a) is not type(b) and not (isinstance(a, Mapping) and isinstance(b, Mapping)):
            return f"{type(a).__name__} against {type(b).__name__}"
        if isinstance(a, _VARIABLES) and isinstance(b, _VARIABLES):
            return self.variables(a, b, pair)
        if isinstance(a, Node) and isinstance(b, Node):
            return self.nodes(a, b, pair)
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return f"{len(a)} elements against {len(b)}"
            self.push(
                [_Pair(x, y, _Step(pair.at, f"[{i}]"), pair.mode) for i, (x, y) in enumerate(zip(a, b, strict=True))]
            )
            return None
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return self.mappings(a, b, pair)
        return _plain(a, b)

    def push(self, tasks: "Sequence[_Task]") -> None:
        self.stack.extend(reversed(tasks))

    def below(self, a: Node, b: Node, pair: _Pair) -> "Iterator[_Pair]":
        """The fields to compare. Below a definition, and in types that define, variables are patterns."""
        cls = type(a)
        inherited = _Mode.USE if pair.mode is _Mode.USE else _Mode.PATTERN
        for name in _ORDER.get(cls, field_names(a)):
            if (cls, name) not in _IGNORED:
                mode = _DEFINES.get((cls, name), inherited)
                yield _Pair(getattr(a, name), getattr(b, name), _Step(pair.at, f".{name}"), mode)

    def variables(self, a: Node, b: Node, pair: _Pair) -> str | None:
        mapped = id(a) in self.forward or id(b) in self.backward
        if mapped and self.same_name(id(a), id(b)):
            return None
        if mapped and pair.mode is not _Mode.DEFINE:
            return _names(a, b, "another variable")
        if pair.mode is _Mode.USE and not self.map_free:
            return None if a is b else _names(a, b, "different free variables")
        self.push([*self.below(a, b, pair), _Define(pair)])
        return None

    def nodes(self, a: Node, b: Node, pair: _Pair) -> str | None:
        key = (id(a), id(b), pair.mode is _Mode.USE)
        if key in self.seen:
            return None
        self.seen.add(key)
        if isinstance(a, types.TensorType) and isinstance(b, types.TensorType):
            reason = self.shape_vars(a.shape_var, b.shape_var)
            if reason is not None:
                return reason
        if isinstance(a, tir.PrimFunc) and isinstance(b, tir.PrimFunc):
            return self.prim_funcs(a, b, pair)
        below: list[_Task] = list(self.below(a, b, pair))
        if isinstance(a, _SCOPES):
            below.append(_Leave(len(self.trail)))
        self.push(below)
        return None

    def shape_vars(self, a: str | None, b: str | None) -> str | None:
        if (a is None) != (b is None):
            return f"the shape {a} against {b}"
        return None if a is None or b is None or self.same_name(a, b) else f"the shape {a} against {b}"

    def prim_funcs(self, a: tir.PrimFunc, b: tir.PrimFunc, pair: _Pair) -> str | None:
        """Parameters, then the buffers they are matched against in their order, then the rest."""
        if len(a.params) != len(b.params):
            return f"{len(a.params)} parameters against {len(b.params)}"
        tasks: list[_Task] = []
        for i, (x, y) in enumerate(zip(a.params, b.params, strict=True)):
            tasks.append(_Pair(x, y, _Step(pair.at, f".params[{i}]"), _Mode.DEFINE))
        for i, (x, y) in enumerate(zip(a.params, b.params, strict=True)):
            tasks.append(
                _Pair(a.buffer_map.get(x), b.buffer_map.get(y), _Step(pair.at, f".buffer_map[{i}]"), _Mode.DEFINE)
            )
        names = ("ret_dtype", "private", "s_tir", "attrs", "body")
        tasks.extend(_Pair(getattr(a, name), getattr(b, name), _Step(pair.at, f".{name}")) for name in names)
        self.push([*tasks, _Leave(len(self.trail))])
        return None

    def mappings(self, a: Mapping[object, object], b: Mapping[object, object], pair: _Pair) -> str | None:
        if set(a) != set(b):
            return f"keys {sorted(map(_shown, set(a) ^ set(b)))} on one side only"
        self.push([_Pair(a[key], b[key], _Step(pair.at, f"[{_shown(key)}]"), pair.mode) for key in a])
        return None


def _shown(key: object) -> str:
    return type(key).__name__ if isinstance(key, Node) else repr(key)


def _names(a: Node, b: Node, reason: str) -> str:
    return f"{getattr(a, 'name', '')} against {getattr(b, 'name', '')}: {reason}"


def _float_key(value: float) -> bytes:
    return b"nan" if math.isnan(value) else struct.pack("<d", value)


def _plain(a: object, b: object) -> str | None:
    """Compare two values of the same type that are not nodes or containers."""
    if isinstance(a, float) and isinstance(b, float):
        same = _float_key(a) == _float_key(b)
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"a tensor of {a.dtype} {a.shape} against {b.dtype} {b.shape}"
        return None if a.tobytes() == b.tobytes() else "tensors of different content"
    else:
        same = a == b
    if same:
        return None
    values = (a.value, b.value) if isinstance(a, Enum) and isinstance(b, Enum) else (a, b)
    return f"{values[0]!s} against {values[1]!s}"


def first_difference(a: object, b: object, *, map_free_vars: bool = False) -> Difference | None:
    """The first place where `a` and `b` (nodes, or tuples and mappings of them) do not mean the same, or None.

    With `map_free_vars`, variables that neither side defines may stand for each other, one to one. Modules and
    functions are closed, so there they always may.
    """
    closed = isinstance(a, (IRModule, tir.PrimFunc, relax.Function))
    return _Comparison(map_free=map_free_vars or closed).run(a, b)


def structural_equal(a: object, b: object, *, map_free_vars: bool = False) -> bool:
    """Whether `a` and `b` mean the same."""
    return first_difference(a, b, map_free_vars=map_free_vars) is None
