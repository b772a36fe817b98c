"""Initialisation, proved: whether every element of a buffer is read after it was written, and whether all are written.

| buffer                                              | `tracked` | `covered` | it must be initialised at the call |
|-----------------------------------------------------|-----------|-----------|------------------------------------|
| parameter, only read                                | no        | no        | yes                                |
| parameter, each read proved, all written in the end | no        | yes       | no                                 |
| parameter, any other                                | yes       | no        | no                                 |
| allocation, each read proved                        | no        | no        | –                                  |
| allocation, any other                               | yes       | no        | –                                  |
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.flow import ALL, Flow, State
from refmlc.native.analysis.starts import Path
from refmlc.native.analysis.uses import Uses, find_uses


@dataclass(frozen=True, slots=True)
class Use:
    """What a function does with a buffer.

    `tracked`: it needs a shadow, elements not written may be read or be left over. Not tracked and not stored: it must
    be initialised at the call. `covered`: all elements are written before they are read, and all when a call is done.
    `proof` says why, or why not. `shared` are the buffers with storage in common, itself among them; else empty.
    """

    loaded: bool
    stored: bool
    tracked: bool
    covered: bool
    proof: str
    shared: frozenset[tir.Buffer] = frozenset()


UNUSED = Use(loaded=False, stored=False, tracked=False, covered=False, proof="it is not used")


@dataclass(frozen=True, slots=True)
class Initialisation:
    """The uses of the buffers of a function. `unproved` are the loads that may come before a store, with the reason.

    `nodes` are all nodes of the body, as `walk` gives them.
    """

    uses: Mapping[tir.Buffer, Use]
    unproved: Mapping[tir.BufferLoad, str]
    nodes: tuple[Node, ...] = ()

    def use_of(self, buffer: tir.Buffer) -> Use:
        """What is done with `buffer`."""
        return self.uses.get(buffer, UNUSED)

    def initialised(self, load: tir.BufferLoad) -> bool:
        """Whether what `load` reads is certainly initialised: written before, or only read and given."""
        return load not in self.unproved


@lru_cache(maxsize=512)
def find_initialisation(func: tir.PrimFunc) -> Initialisation:
    """What is certainly written when in `func`. Cached for the latest functions: grades share it."""
    uses = find_uses(func)
    flow = Flow(uses)
    end: State = {}
    if not uses.obstacle:
        end = flow.stmt(func.body, {}, Path(Facts.entry(func)))
    loads = {**flow.unproved, **_unseen(func, uses, flow)}
    table = {}
    for buffer in (*uses.params, *(uses.loaded | uses.stored)):
        group = uses.shared.get(buffer, {buffer})
        reasons = [reason for load, reason in loads.items() if load.buffer in group]
        is_all = any(end.get(each) == ALL for each in group)
        table[buffer] = _use(uses, buffer, reasons, is_given=uses.is_given(buffer), is_all=is_all)
    return Initialisation(table, loads, uses.nodes)


def _unseen(func: tir.PrimFunc, uses: Uses, flow: Flow) -> dict[tir.BufferLoad, str]:
    """Loads that `flow` did not visit (all, or those outside of statements), but of parameters only read."""
    initialised = {buffer for buffer in uses.loaded - uses.stored if uses.is_given(buffer)}
    unvisited = [load for load in uses.loads if load not in flow.visited and load.buffer not in initialised]
    if not unvisited:
        return {}
    reason = uses.obstacle or "a shape or an attribute is read from a buffer"
    evaluated = set(_evaluated(func.body))
    return {load: reason for load in unvisited if load in evaluated}


def _evaluated(body: tir.Stmt) -> Iterator[Node]:
    """The nodes of a body but those of the regions that blocks declare: nothing evaluates them."""
    stack: list[Node] = [body]
    visited: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        yield node
        if isinstance(node, tir.SBlock):
            init = () if node.init is None else (node.init,)
            stack.extend((*node.iter_vars, *node.alloc_buffers, *node.match_buffers, *init, node.body))
        else:
            stack.extend(children(node))


def _use(uses: Uses, buffer: tir.Buffer, reasons: list[str], *, is_given: bool, is_all: bool) -> Use:
    loaded, stored = buffer in uses.loaded, buffer in uses.stored
    shared = frozenset(uses.shared.get(buffer, ()))
    if is_given and not stored:
        proof = "it is only read: it is initialised at the call" if loaded else UNUSED.proof
        return Use(loaded, stored, tracked=False, covered=False, proof=proof, shared=shared)
    obstacle = uses.obstacle or uses.unproved.get(buffer, "") or next(iter(reasons), "")
    if not obstacle and is_given and not is_all:
        obstacle = f"it is not proved that all of `{buffer.name}` is written"
    proof = obstacle or ("every element is written before it is read" + (", all are written" if is_given else ""))
    return Use(loaded, stored, tracked=bool(obstacle), covered=is_given and not obstacle, proof=proof, shared=shared)
