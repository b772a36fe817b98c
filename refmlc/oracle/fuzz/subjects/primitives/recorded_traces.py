"""Recorded deviations that are traces: how their steps are spelled, and which cause looks like which.

| a finding is like a row: both are wrong by  | and the traits (`step_pattern`)                                        |
|---------------------------------------------|------------------------------------------------------------------------|
| the same code, or another result            | of the row are some of the finding's                                   |
| the same code                               | of the row are none, and nothing guards a part of the finding's block, |
|                                             | and the step does not take several blocks                              |
| the same code, of what is not declared      | of the row are none, and the step does not take several blocks         |
| the same code                               | of the row begin with one that the finding has: others may say nothing |
| the same code, of a step that copies        | of the row, and one of the finding, are of one sort (`ALIKE`)          |
| the same code, of two steps of one family   | are so, and both copy what a block reads, or both what it writes       |
| …                                           | … or a guard, or an axis that begins elsewhere, is one of them         |
| other ways in which wrong data show         | are the same ones                                                      |
| any other code                              | of the row begin with one that tells alone what is wrong (`TELLING`)   |
| any code                                    | of both have `plain`: what is outside of all blocks got the copy; of   |
|                                             | two steps of one family both give a program, or neither does           |

A block that is executed too often shows it in one of two ways (`TOO_OFTEN`), which count as one code. All traits of the
finding count, of a row the first ones, as in its pattern.

What is ill-formed has a code that says what: the block does not matter, nor whether a copy is of what it reads or of
what it writes, but where a variable is that nothing defines (`step_pattern.place_of`). A message counts as far as its
condition. Primitives that TVM implements together are a family (`FAMILIES`): what one of them does not look at, the
others do not look at either.
"""

from collections.abc import Mapping, Sequence

from refmlc.oracle.fuzz.subjects.primitives.step_pattern import PLACES

Cause = tuple[str, str, str, str]
"""The guilty primitive, how it is wrong, the code of what is undefined or ill-formed after it, the pattern."""

EXECUTED = ("wrong", "undefined")  # of a stage
ILL_FORMED = "ill-formed"
LEFT_BEHIND = "RM203 variable"  # of a loop or a block: where it is used tells what was moved out of it
OUTSIDE, UNWRITTEN, UNDECLARED = "RM304", "RM305", "RM318"
LEFT = frozenset((OUTSIDE, "RM312"))  # a copy that leaves its buffer, or its domain
DATA = frozenset(("", OUTSIDE, UNWRITTEN, "RM307"))  # another value; an access outside, of what nothing wrote
TOO_OFTEN = frozenset(("RM312", "RM319"))  # an axis leaves its domain, or is bound to a value twice
GUARDS = frozenset(("guarded", "condition", "branch", "triangle"))  # a part of the domain, or of what is read
PARTS_OF_DOMAIN = frozenset(("guarded", "branch", "triangle"))
TELLING = frozenset(("return", "repeated", "begin", *(f"by {operator}" for operator in ("max", "min", "mul"))))
"""Traits that tell alone what is wrong, however it shows."""
OPERATORS = frozenset(trait for trait in TELLING if trait.startswith("by "))
ADDED_TO = frozenset(("in place", "updating"))
PLAIN, LIST, SHIFTED = "plain", "a list", "shifted"
SIDES = frozenset(("a read", "a write"))
COPIES = ("read_at", "write_at", "cache_read", "cache_write")
REINDEXED = ("reindex_cache_read", "reindex_cache_write", "reindex")
FAMILIES = (
    frozenset(("cache_read", "cache_write", "reindex_cache_read", "reindex_cache_write")),
    frozenset(("read_at", "write_at")),
    frozenset(REINDEXED),
    frozenset(("parallel", "vectorize", "bind")),
)
"""Primitives that share what they ask of a block, and how they change it or put a copy in its place."""
ALIKE: Mapping[tuple[str, str], tuple[frozenset[str], ...]] = {
    **{(step, OUTSIDE): (GUARDS,) for step in COPIES},
    **{(step, UNWRITTEN): (ADDED_TO, PARTS_OF_DOMAIN) for step in (*COPIES, *REINDEXED)},
    ("pad_einsum", UNWRITTEN): (PARTS_OF_DOMAIN,),
    ("pad_einsum", ""): (OPERATORS,),
}
"""Of copies: all of what is guarded in part is copied, and nothing of what a block adds to or leaves as it was."""


def is_like(recorded: Cause, cause: Cause) -> bool:
    """Whether a recorded cause looks like another one: of the same primitive, or of one of its family, wrong alike."""
    is_own = recorded[0] == cause[0]
    if cause[0] not in family_of(recorded[0]):
        return False
    if PLAIN in traits_of(recorded) & traits_of(cause) and (is_own or _is_seen_alike(recorded, cause)):
        return True
    if recorded[1] in EXECUTED and cause[1] in EXECUTED:
        return _is_executed_alike(recorded, cause) and (is_own or _is_of_one_side(recorded, cause))
    if recorded[1:3] != cause[1:3]:
        return False
    if recorded[1] == ILL_FORMED:
        return recorded[2] != LEFT_BEHIND or place_in(recorded) == place_in(cause)
    if recorded[3] and is_within(recorded, cause):
        return True
    condition = recorded[3].partition(" : ")[0]
    return is_own and "Check failed" in condition and condition == cause[3].partition(" : ")[0]


def _is_seen_alike(recorded: Cause, cause: Cause) -> bool:
    """Whether both steps give a program, or both are wrong in the same way."""
    programs = (*EXECUTED, ILL_FORMED)
    return recorded[1] == cause[1] or (recorded[1] in programs and cause[1] in programs)


def _is_executed_alike(recorded: Cause, cause: Cause) -> bool:
    """Whether the programs after two steps are wrong alike, at blocks that are alike as far as the row knows."""
    traits, others = traits_of(recorded), traits_of(cause)
    is_own, code = recorded[0] == cause[0], recorded[2]
    if not _is_one_code(code, cause[2]):
        is_same = bool(traits) and traits == others and {code, cause[2]} <= DATA
        return is_own and (is_same or first_trait(recorded) in others & TELLING)
    if not traits:
        kept = frozenset((LIST,)) if code == UNDECLARED else GUARDS | {LIST}
        return is_own and bool(code) and others.isdisjoint(kept)
    return shared_traits(recorded, cause) >= (OF_FIRST if is_own else OF_SORT)


ALL_TRAITS, OF_SORT, OF_FIRST = 3, 2, 1


def shared_traits(recorded: Cause, cause: Cause) -> int:
    """How much of the traits of a recorded cause another one has: all, some of one sort, the first one, or nothing.

    The first one of another result must be one that tells alone what is wrong.
    """
    traits, others = traits_of(recorded), traits_of(cause)
    needed = traits - {"affine"} if "guarded" in traits else traits  # a split that leaves a rest gives both
    if needed <= others:
        return ALL_TRAITS
    sorts = ALIKE.get((recorded[0], recorded[2]), ())
    if any(traits - SIDES <= sort and not others.isdisjoint(sort) for sort in sorts):
        return OF_SORT
    telling = others - SIDES if recorded[2] else others & TELLING
    return OF_FIRST if first_trait(recorded) in telling else 0


def first_trait(cause: Cause) -> str:
    """The trait that says most of a cause."""
    return cause[3].partition(", ")[0]


def _is_one_code(code: str, other: str) -> bool:
    return code == other or {code, other} <= TOO_OFTEN or {code, other} <= LEFT


def _is_of_one_side(recorded: Cause, cause: Cause) -> bool:
    """Whether two primitives of a family copy the same side of a block, or what leaves the domain, whichever it is.

    Where nothing is unusual in the block of the row, another primitive says nothing.
    """
    traits = traits_of(recorded)
    leaves = recorded[2] in LEFT and not traits.isdisjoint(GUARDS | {SHIFTED})
    return bool(traits) and (leaves or is_of_written(recorded[0]) == is_of_written(cause[0]))


def family_of(primitive: str) -> frozenset[str]:
    """The primitives that are implemented together with this one, itself included."""
    return frozenset((primitive,)).union(*(family for family in FAMILIES if primitive in family))


def is_of_written(primitive: str) -> bool:
    """Whether a primitive copies what a block writes, not what it reads."""
    return "write" in primitive


def traits_of(cause: Cause) -> frozenset[str]:
    """The traits of a cause that was executed, without the place where the program after the step fails."""
    return frozenset(cause[3].split(", ")) - {""} - PLACES


def place_in(cause: Cause) -> str:
    """The place where the program after the step fails; empty: a block of both programs, or it gives another result."""
    return next((trait for trait in cause[3].split(", ") if trait in PLACES), "")


def is_within(cause: Cause, other: Cause) -> bool:
    """Whether a cause is another one, perhaps without traits that it does not need.

    Which side of the block is copied does not matter where another trait tells more. The place is the same one.
    """
    needed = traits_of(cause) - SIDES or traits_of(cause)
    return (*cause[:3], place_in(cause)) == (*other[:3], place_in(other)) and needed <= traits_of(other)


DEFAULTS: Mapping[str, tuple[object, ...]] = {
    "compute_at": (None, None, False, -1),
    "reverse_compute_at": (None, None, False, -1),
    "reindex_cache_read": (None, None, "same"),
    "reindex_cache_write": (None, None, "same"),
    "cache_read": (None, "global"),
}
PARTS = {2: "halves", 3: "thirds"}


def step_of_row(step: Sequence[object]) -> str:
    """A step of a recorded deviation, as `tvm_side/run_primitives` spells it."""
    name, block, *rest = (_tuples(part) for part in step)
    if name == "cache_write":
        rest = [0, *(rest or ["global"])]
    elif name == "transform_block_layout":
        rest = [PARTS.get(part, part) if isinstance(part, int) else part for part in rest]
    rest += DEFAULTS.get(str(name), ())[len(rest) :]
    return f"{name}({', '.join(map(repr, (block, *rest)))})"


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
