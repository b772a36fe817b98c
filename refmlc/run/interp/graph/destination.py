"""A call of Relax that says what it writes: `call_tir`, `call_pure_packed`, and their like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refmlc.lang.ir import relax


@dataclass(frozen=True, slots=True)
class DestinationCall:
    """`function` is called with `args`, and writes `outputs` only, which are some of them."""

    call: relax.Call
    function: Callable[[Sequence[object]], object]
    args: Sequence[object]
    outputs: Sequence[object]
