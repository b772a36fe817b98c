"""Recorded deviations that are traces: how their steps are spelled, and which cause looks like which.

| a finding is like a row: both are wrong by  | and the traits (`step_pattern`)                                        |
|---------------------------------------------|------------------------------------------------------------------------|
| the same code, or another result            | of the row are some of the finding's                                   |
| the same code                               | of the row are none, and nothing guards a part of the finding's block, |
|                                             | and the step does not take several blocks                              |
| the same code, of a step that copies        | of the row, and one of the finding, are of one sort (`ALIKE`)          |
| the same code, of two steps of one family   | of the row are some of the finding's, and both copy what a block reads |
| …                                           | or both what it writes; or a guard is one of them                      |
| other ways in which wrong data show         | are the same ones                                                      |
| any code                                    | of both have `plain`: what is outside of all blocks got the copy       |

What is ill-formed has a code that says what: the block does not matter, nor whether a copy is of what it reads or of
what it writes, but where it is (`step_pattern.place_of`). A message counts as far as its condition. Primitives that TVM
implements together are a family (`FAMILIES`): what one of them does not look at, the others do not look at either.
"""

from collections.abc import Mapping, Sequence

from refmlc.oracle.fuzz.subjects.primitives.step_pattern import PLACES

Cause = tuple[str, str, str, str]
"""The guilty primitive, how it is wrong, the code of what is undefined or ill-formed after it, the pattern."""

EXECUTED = ("wrong", "undefined")  # of a stage
ILL_FORMED = "ill-formed"
OUTSIDE, UNWRITTEN = "RM304", "RM305"
LEFT = (OUTSIDE, "RM312")  # a copy that leaves its buffer, or its domain
DATA = frozenset(("", OUTSIDE, UNWRITTEN, "RM307"))  # another value; an access outside, of what nothing wrote
GUARDS = frozenset(("guarded", "condition", "branch", "triangle"))  # a part of the domain, or of what is read
PLAIN, LIST = "plain", "a list"
SIDES = frozenset(("a read", "a write"))
COPIES = ("read_at", "write_at", "cache_read", "cache_write")
FAMILIES = (
    frozenset(("cache_read", "cache_write", "reindex_cache_read", "reindex_cache_write")),
    frozenset(("read_at", "write_at")),
)
"""Primitives that share what they ask of a block and how they put a copy in its place."""
ALIKE = {(step, OUTSIDE): GUARDS for step in COPIES} | {
    (step, UNWRITTEN): frozenset(("in place", "updating")) for step in (*COPIES, "reindex")
}
"""Of copies: all of what is guarded in part is copied, and nothing of what a block adds to."""


def is_like(recorded: Cause, cause: Cause) -> bool:
    """Whether a recorded cause looks like another one: of the same primitive, wrong alike, at a step of less traits."""
    traits, others = traits_of(recorded), traits_of(cause)
    if recorded[0] != cause[0]:
        return cause[0] in family_of(recorded[0]) and _is_like_in_family(recorded, cause)
    if PLAIN in traits & others:
        return True
    if recorded[1] in EXECUTED and cause[1] in EXECUTED:
        if recorded[2] != cause[2]:
            return bool(traits) and traits == others and {recorded[2], cause[2]} <= DATA
        if traits:
            sort = ALIKE.get((recorded[0], recorded[2]), frozenset())
            needed = traits - {"affine"} if "guarded" in traits else traits  # a split that leaves a rest gives both
            return needed <= others or (traits - SIDES <= sort and not others.isdisjoint(sort))
        return bool(recorded[2]) and others.isdisjoint(GUARDS | {LIST})
    if recorded[:3] != cause[:3]:
        return False
    if recorded[1] == ILL_FORMED:
        return place_in(recorded) == place_in(cause)
    if recorded[3] and is_within(recorded, cause):
        return True
    condition = recorded[3].partition(" : ")[0]
    return "Check failed" in condition and condition == cause[3].partition(" : ")[0]


def family_of(primitive: str) -> frozenset[str]:
    """The primitives that are implemented together with this one, itself included."""
    return next((family for family in FAMILIES if primitive in family), frozenset((primitive,)))


def is_of_written(primitive: str) -> bool:
    """Whether a primitive copies what a block writes, not what it reads."""
    return "write" in primitive


def _is_like_in_family(recorded: Cause, cause: Cause) -> bool:
    """Whether the cause of a primitive looks like the recorded one of another, of its family."""
    traits, others = traits_of(recorded), traits_of(cause)
    if PLAIN in traits & others:
        return True
    if recorded[1:3] != cause[1:3]:
        return False
    if recorded[1] == ILL_FORMED:
        return place_in(recorded) == place_in(cause)
    if recorded[1] not in EXECUTED or not traits or not traits <= others:
        return False
    leaves = recorded[2] in LEFT and not traits.isdisjoint(GUARDS)
    return leaves or is_of_written(recorded[0]) == is_of_written(cause[0])


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
