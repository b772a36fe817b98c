"""The pattern of a wrong step: what is unusual in the block that it takes, and in its arguments.

Two findings of one primitive with one verdict are taken for one cause where their patterns are equal. A trait counts
only for the primitives that must look at it (`LOOKED_AT`), and at most `MOST` of them, the first in the order of the
table: a generated program has many traits, of which a cause needs one or two.

| trait        | the block, or the loops and blocks around it                                     |
|--------------|----------------------------------------------------------------------------------|
| `return`     | stands before a return of its function: what is put at the end is not executed   |
| `scalar`     | has no axes                                                                      |
| `allocated`  | uses a buffer that a statement allocates, not a block                            |
| `nested`     | has a block in it, or is in one that is not the root                             |
| `matched`    | works on a part of a buffer under another name                                   |
| `view`       | uses a buffer that is declared on the memory of another                          |
| `plain`      | uses a buffer that a statement outside of all blocks uses too                    |
| `opaque`     | has an axis that is neither spatial nor reduced                                  |
| `branch`     | stands under an `if`                                                             |
| `guarded`    | has a predicate                                                                  |
| `shifted`    | has an axis whose domain does not begin at 0                                     |
| `triangle`   | a loop around it has an extent that depends on another loop                      |
| `begin`      | a loop around it does not begin at 0                                             |
| `repeated`   | has an init, and a loop around it that no axis needs                             |
| `constant`   | has an axis that is bound to a constant                                          |
| `turned`     | stores at indices that are not its axes in their order                           |
| `fraction`   | reads at an index that is a quotient                                             |
| `in place`   | reads an element of the buffer that it writes, and is no reduction               |
| `updating`   | reduces without an init                                                          |
| `by OP`      | reduces by another operator than a sum                                           |
| `reduction`  | reduces, with an init                                                            |
| `unread`     | reduces over an axis that no index of a load needs                               |
| `condition`  | loads under a condition, which `T.Select` is not                                 |
| `rewritten`  | writes a buffer that another block writes too                                    |
| `siblings`   | shares a loop with another block                                                 |
| `several`    | writes a buffer that several other blocks read                                   |
| `shared`     | reads a buffer inside of the function that another block reads too               |
| `parts`      | reads a buffer that several other blocks write                                   |
| `partial`    | reads a buffer inside of the function at a constant                              |
| `interface`  | writes a parameter that another block reads                                      |
| `domain`     | has other extents than the block that the step names too                         |
| `outputs`    | writes several buffers                                                           |
| `diagonal`   | indexes two dimensions with one axis                                             |
| `indirect`   | has a load in the index of another                                               |
| `affine`     | has an axis that is bound to more than one loop, or to a multiple of it          |
| `symbolic`   | a loop around it has an extent that a call decides                               |

Two steps have one trait alone, and nothing else matters: `itself` is `merge` of a loop with itself, `order` is
`blockize` of a list whose blocks stand in another order in the program.

Arguments: `a read`, `a write`, `padded` (a value for the padding), `permuted` (a layout), `a scope` (of `set_scope`),
`a list` (of blocks, of `blockize`).

Where the program after the step is undefined or ill-formed tells causes apart too: `in a new block` is in one that
the program before it has not, `in no block` outside of all of them. In a block of both it is no trait.
"""

from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from refmlc.diag import RefmlcError
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.kinds import ForKind, IterKind
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import children, walk
from refmlc.lang.script import read as read_text
from refmlc.lang.wellformed.reader_checks import read

MOST = 2
MAIN, ROOT = "main", "root"


@dataclass(frozen=True)
class TakenBlock:
    """A block in a function: where it stands, and the other blocks."""

    function: tir.PrimFunc
    realize: tir.SBlockRealize
    around: tuple[Node, ...]
    others: tuple[tir.SBlock, ...]

    @property
    def block(self) -> tir.SBlock:
        return self.realize.block

    @cached_property
    def loops(self) -> tuple[tir.For, ...]:
        """The loops around the block, the outermost first."""
        return tuple(each for each in self.around if isinstance(each, tir.For))

    @cached_property
    def written(self) -> frozenset[str]:
        """The names of the buffers that the block writes."""
        return written_by(self.block)

    @cached_property
    def is_reduced(self) -> bool:
        return any(axis.kind is IterKind.REDUCE for axis in self.block.iter_vars)

    @cached_property
    def loads(self) -> tuple[tir.BufferLoad, ...]:
        """The loads in the block itself, not those of its init."""
        return tuple(each for each in walk(self.block.body) if isinstance(each, tir.BufferLoad))

    @cached_property
    def extents(self) -> tuple[object, ...]:
        """The extents of the spatial axes; None: one that is symbolic."""
        axes = (axis for axis in self.block.iter_vars if axis.kind is IterKind.SPATIAL)
        return tuple(getattr(axis.dom.extent, "value", None) for axis in axes)


def written_by(block: tir.SBlock) -> frozenset[str]:
    """The names of the buffers that a block writes."""
    parts = (block.body, *((block.init,) if block.init is not None else ()))
    return frozenset(each.buffer.name for part in parts for each in walk(part) if isinstance(each, tir.BufferStore))


def read_by(block: tir.SBlock) -> frozenset[str]:
    """The names of the buffers that a block reads."""
    return frozenset(each.buffer.name for each in walk(block.body) if isinstance(each, tir.BufferLoad))


def sites_of(function: tir.PrimFunc) -> Iterator[tuple[tir.SBlockRealize, tuple[Node, ...]]]:
    """Every block but the root, with the nodes around it, the outermost first."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(function.body, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, tir.SBlockRealize) and node.block.name != ROOT:
            yield node, around
        stack += [(each, (*around, node)) for each in reversed(list(children(node)))]


def site_of(module: IRModule, name: str) -> TakenBlock | None:
    """The block of this name; None: there is none."""
    for function in module.functions.values():
        if not isinstance(function, tir.PrimFunc):
            continue
        sites = list(sites_of(function))
        for realize, around in sites:
            if realize.block.name == name:
                return TakenBlock(
                    function, realize, around, tuple(each.block for each, _ in sites if each is not realize)
                )
    return None


def _is_number(node: Node) -> bool:
    return isinstance(node, tir.IntImm)


def _is_zero(node: Node) -> bool:
    return isinstance(node, tir.IntImm) and node.value == 0


def _has_variable(node: Node) -> bool:
    """Whether an expression depends on anything: a condition that does not is none."""
    return any(isinstance(each, tir.Var | tir.BufferLoad) for each in walk(node))


def _depends_on_loops(site: TakenBlock) -> bool:
    variables = {loop.loop_var for loop in site.loops}
    return any(each in variables for loop in site.loops for part in (loop.min, loop.extent) for each in walk(part))


def _is_repeated(site: TakenBlock) -> bool:
    """Whether an init is executed again, in a loop that no axis needs, of the block or of one around it."""
    realizes = [each for each in (*site.around, site.realize) if isinstance(each, tir.SBlockRealize)]
    bound = {each for realize in realizes for value in realize.iter_values for each in walk(value)}
    loops = (loop for loop in site.loops if getattr(loop.extent, "value", None) != 1)
    return site.block.init is not None and any(loop.loop_var not in bound for loop in loops)


def _has_other_blocks(site: TakenBlock) -> bool:
    names = {each.name for each in site.others}
    inner = {each.name for each in walk(site.block.body) if isinstance(each, tir.SBlock)}
    outside = names - inner - {each.name for each in site.around if isinstance(each, tir.SBlock)}
    return any(isinstance(each, tir.SBlock) and each.name in outside for loop in site.loops for each in walk(loop))


def _loads_under_condition(site: TakenBlock) -> bool:
    branches = (
        node
        for node in walk(site.block.body)
        if isinstance(node, tir.IfThenElseExpr | tir.IfThenElse) and _has_variable(node.condition)
    )
    return any(isinstance(each, tir.BufferLoad) for node in branches for each in walk(node))


def _has_unread_axis(site: TakenBlock) -> bool:
    used = {each for load in site.loads for index in load.indices for each in walk(index)}
    return any(axis.kind is IterKind.REDUCE and axis.var not in used for axis in site.block.iter_vars)


def _is_diagonal(site: TakenBlock) -> bool:
    for node in walk(site.block.body):
        if isinstance(node, tir.BufferLoad | tir.BufferStore):
            variables = [{each for each in walk(index) if isinstance(each, tir.Var)} for index in node.indices]
            if any(left & right for at, left in enumerate(variables) for right in variables[:at]):
                return True
    return False


def _is_turned(site: TakenBlock) -> bool:
    places = {axis.var: place for place, axis in enumerate(site.block.iter_vars)}
    stores = (each for each in walk(site.block.body) if isinstance(each, tir.BufferStore))
    orders = ([places[each] for index in store.indices for each in walk(index) if each in places] for store in stores)
    return any(order != sorted(order) for order in orders)


def _reads_at_a_quotient(site: TakenBlock) -> bool:
    parts = (each for load in site.loads for index in load.indices for each in walk(index))
    return any(isinstance(each, tir.Apply) and each.op == "floordiv" for each in parts)


def _operator(site: TakenBlock) -> str:
    """The operator of a reduction."""
    stores = [each for each in walk(site.block.body) if isinstance(each, tir.BufferStore)]
    values = [each.value.op for each in stores if isinstance(each.value, tir.Apply)]
    return values[0] if site.is_reduced and values else ""


def _allocates(site: TakenBlock) -> bool:
    own = site.written | read_by(site.block)
    return any(isinstance(each, tir.AllocBuffer) and each.buffer.name in own for each in walk(site.function.body))


def _is_view(site: TakenBlock) -> bool:
    own = site.written | read_by(site.block)
    return any(isinstance(each, tir.DeclBuffer) and each.buffer.name in own for each in walk(site.function.body))


def _is_plain(site: TakenBlock) -> bool:
    """Whether a statement that is in no block uses a buffer of the block, which a copy for the block must not touch."""
    own, stack = site.written | read_by(site.block), list[Node]([site.function.body])
    while stack:
        node = stack.pop()
        if isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer.name in own:
            return True
        stack += [] if isinstance(node, tir.SBlockRealize) and node.block.name != ROOT else children(node)
    return False


def _is_nested(site: TakenBlock) -> bool:
    around = any(isinstance(each, tir.SBlock) and each.name != ROOT for each in site.around)
    return around or any(isinstance(each, tir.SBlock) for each in walk(site.block.body))


def _is_affine(site: TakenBlock) -> bool:
    loops = {loop.loop_var for loop in site.loops}
    return any(value not in loops and not _is_number(value) for value in site.realize.iter_values)


def _is_interface(site: TakenBlock) -> bool:
    parameters = {buffer.name for buffer in site.function.buffer_map.values()}
    return any(site.written & parameters & read_by(other) for other in site.others)


def _inner_reads(site: TakenBlock) -> frozenset[str]:
    """The buffers that the block reads, and another one writes."""
    return read_by(site.block) & {name for other in site.others for name in written_by(other)}


def _writers(site: TakenBlock, buffer: str) -> int:
    return sum(buffer in written_by(other) for other in site.others)


def _reads_at_a_constant(site: TakenBlock) -> bool:
    inner = _inner_reads(site)
    return any(load.buffer.name in inner and any(map(_is_number, load.indices)) for load in site.loads)


TRAITS: Mapping[str, Callable[[TakenBlock], bool]] = {
    "return": lambda site: any(isinstance(each, tir.Return) for each in walk(site.function.body)),
    "scalar": lambda site: not site.block.iter_vars,
    "allocated": _allocates,
    "nested": _is_nested,
    "view": _is_view,
    "plain": _is_plain,
    "matched": lambda site: bool(site.block.match_buffers),
    "opaque": lambda site: any(axis.kind not in (IterKind.SPATIAL, IterKind.REDUCE) for axis in site.block.iter_vars),
    "branch": lambda site: any(
        isinstance(each, tir.IfThenElse) and _has_variable(each.condition) for each in site.around
    ),
    "guarded": lambda site: _has_variable(site.realize.predicate),
    "shifted": lambda site: any(not _is_zero(axis.dom.min) for axis in site.block.iter_vars),
    "triangle": _depends_on_loops,
    "begin": lambda site: any(not _is_zero(loop.min) for loop in site.loops),
    "repeated": _is_repeated,
    "constant": lambda site: any(map(_is_number, site.realize.iter_values)),
    "turned": _is_turned,
    "fraction": _reads_at_a_quotient,
    "in place": lambda site: not site.is_reduced and any(load.buffer.name in site.written for load in site.loads),
    "updating": lambda site: site.is_reduced and site.block.init is None,
    "by max": lambda site: _operator(site) == "max",
    "by min": lambda site: _operator(site) == "min",
    "by mul": lambda site: _operator(site) == "mul",
    "reduction": lambda site: site.is_reduced and site.block.init is not None,
    "unread": _has_unread_axis,
    "condition": _loads_under_condition,
    "rewritten": lambda site: any(site.written & written_by(other) for other in site.others),
    "siblings": _has_other_blocks,
    "several": lambda site: sum(bool(site.written & read_by(other)) for other in site.others) > 1,
    "shared": lambda site: any(_inner_reads(site) & (read_by(other) - written_by(other)) for other in site.others),
    "parts": lambda site: any(_writers(site, name) > 1 for name in read_by(site.block) - site.written),
    "partial": _reads_at_a_constant,
    "interface": _is_interface,
    "outputs": lambda site: len(site.written) > 1,
    "diagonal": _is_diagonal,
    "indirect": lambda site: any(
        isinstance(each, tir.BufferLoad) for load in site.loads for index in load.indices for each in walk(index)
    ),
    "affine": _is_affine,
    "symbolic": lambda site: any(not _is_number(loop.extent) for loop in site.loops),
}

_AROUND = ("opaque", "branch", "guarded", "triangle", "begin", "in place", "updating", "reduction", "siblings")
_ACCESSES = (
    *("scalar", "plain", "allocated", "view", "nested", "matched", "opaque", "branch", "guarded", "shifted"),
    *("triangle", "in place", "updating", "condition", "rewritten", "siblings", "parts", "outputs", "diagonal"),
    "indirect",
)
_MOVED = (
    *("plain", "view", "nested", "opaque", "branch", "guarded", "triangle", "in place", "updating", "reduction"),
    *("rewritten", "several", "shared", "partial", "parts", "interface", "domain", "diagonal", "affine"),
    "fraction",
)
_BLOCKS = (
    *("view", "nested", "opaque", "branch", "guarded", "triangle", "begin", "repeated", "constant", "in place"),
    *("updating", "by max", "by min", "by mul", "condition", "rewritten", "siblings", "interface", "affine"),
)
LOOKED_AT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("split", "loop_partition", "fuse", "reorder", "parallel", "vectorize", "unroll", "bind"), _AROUND),
    **dict.fromkeys(("add_unit_loop", "annotate", "merge"), _AROUND),
    **dict.fromkeys(("compute_at", "reverse_compute_at", "compute_inline", "reverse_compute_inline"), _MOVED),
    "fuse_reduction_epilogue": _MOVED,
    "rolling_buffer": (*_ACCESSES, "begin", "turned"),
    **dict.fromkeys(("cache_write", "reindex_cache_write"), ("return", *_ACCESSES)),
    "cache_read": ("indirect", *_ACCESSES),  # what an index loads is left behind, whatever else the block is
    **dict.fromkeys(("blockize", "decompose_reduction", "decompose_padding", "rfactor"), _BLOCKS),
    "pad_einsum": ("unread", *_BLOCKS),
    **dict.fromkeys(("transform_block_layout", "reorder_block_iter_var"), _BLOCKS),
}
"""The traits that a primitive must look at; of one that is not here `_ACCESSES`: those that work on buffers."""
PERMUTED = ("swap", "turn")
SIDES = {"read": "a read", "write": "a write"}
SCOPES = ("shared", "local")
IN_NEW_BLOCK, IN_NO_BLOCK = "in a new block", "in no block"
PLACES = frozenset((IN_NEW_BLOCK, IN_NO_BLOCK))


def pattern_of(text: str, step: str, most: int = MOST) -> str:
    """The pattern of a step on the program of `text`, which it breaks; empty where nothing is unusual, or known.

    `most`: the number of traits of the block that it has, the first ones.
    """
    primitive, arguments = parsed(step)
    try:
        module = read(text, "the program")
    except RefmlcError:
        return ""
    block, *rest = arguments or ("",)
    site = site_of(module, str(block))
    if site is None:
        return ""
    if primitive == "merge" and _is_one_loop(module, arguments):
        return "itself"
    if primitive == "blockize" and _is_reordered(module, arguments):
        return "order"
    others = [each.extents for each in (site_of(module, word) for word in rest if isinstance(word, str)) if each]
    has = {name for name, holds in TRAITS.items() if holds(site)}
    has |= {"domain"} if any(extents != site.extents for extents in others) else set()
    order = LOOKED_AT.get(primitive, _ACCESSES)
    traits = [name for name in order if name in has][:most]
    return ", ".join([*traits, *dict.fromkeys(_of_arguments(primitive, rest))])


def place_of(before: str, after: str, span: Span) -> str:
    """Where `span` of the program after a step stands; empty in a block of both programs, or where one is not read."""
    try:
        names = {each.name for each in _blocks_in(read_text(before, "the program before"))}
        around = [each for each in _blocks_in(read_text(after, "the program after")) if _covers(each.span, span)]
    except RefmlcError:
        return ""
    if not around:
        return IN_NO_BLOCK
    return IN_NEW_BLOCK if around[-1].name not in names else ""


def _blocks_in(module: IRModule) -> list[tir.SBlock]:
    """Every block but the root, the outer ones before those in them."""
    functions = module.functions.values()
    nodes = (each for function in functions if isinstance(function, tir.PrimFunc) for each in walk(function.body))
    return [each for each in nodes if isinstance(each, tir.SBlock) and each.name != ROOT]


def _covers(span: Span | None, part: Span) -> bool:
    if span is None:
        return False
    begin, end = (span.line, span.column), (span.end_line, span.end_column)
    return begin <= (part.line, part.column) and (part.end_line, part.end_column) <= end


def memory_outside_of_launches(text: str) -> frozenset[str]:
    """The memory of threads, of the scope local for example, that a program allocates outside of each thread loop."""
    found = set[str]()
    try:
        stack: list[Node] = list(read(text, "the program").functions.values())
    except RefmlcError:
        return frozenset()
    while stack:
        node = stack.pop()
        if isinstance(node, tir.For) and node.kind is ForKind.THREAD_BINDING:
            continue
        buffers = node.alloc_buffers if isinstance(node, tir.SBlock) else ()
        buffers = (node.buffer,) if isinstance(node, tir.AllocBuffer) else buffers
        found |= {buffer.name for buffer in buffers if buffer.scope != "global"}
        stack += children(node)
    return frozenset(found)


def parsed(step: str) -> tuple[str, tuple[object, ...]]:
    """The primitive and the arguments that a step spells; no arguments where they are no literals."""
    primitive, _, arguments = step.partition("(")
    try:
        return primitive, tuple(literal_eval(f"({arguments.removesuffix(')')},)"))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return primitive, ()


def _is_one_loop(module: IRModule, arguments: tuple[object, ...]) -> bool:
    """Whether the two loops of `merge` are one: then nothing else matters."""
    match arguments:
        case [str(first), int(place), str(second), int(other_place)]:
            sites = site_of(module, first), site_of(module, second)
            loops = [
                site.loops[at]
                for site, at in zip(sites, (place, other_place), strict=True)
                if site and at < len(site.loops)
            ]
            return len(loops) == len(sites) and loops[0] is loops[1]
    return False


def _is_reordered(module: IRModule, arguments: tuple[object, ...]) -> bool:
    """Whether the blocks that `blockize` names stand in another order in the program."""
    names = [part for word in arguments if isinstance(word, tuple) for part in word]
    sites = (sites_of(function) for function in module.functions.values() if isinstance(function, tir.PrimFunc))
    places = [realize.block.name for each in sites for realize, _ in each]
    found = [places.index(name) for name in names if name in places]
    return found != sorted(found)


def _of_arguments(primitive: str, arguments: list[object]) -> Iterator[str]:
    """What is unusual in the arguments after the block."""
    if primitive == "blockize" and any(isinstance(word, tuple) for word in arguments):
        yield "a list"
    for word in arguments:
        for part in word if isinstance(word, tuple) else (word,):
            if part in PERMUTED and primitive.startswith("transform"):
                yield "permuted"
            elif part in SCOPES and primitive == "set_scope":
                yield "a scope"
            elif isinstance(part, str) and part in SIDES:
                yield SIDES[part]
    if primitive == "transform_layout" and isinstance(arguments[-1], int):
        yield "padded"
