"""What this machine can do at most: float32 multiplications and additions per second, not contracted, on one core.

A loop over independent vectors: some are multiplied, as many are added to, none waits for another. Matrix products
that round every step need one addition per multiplication, so this is their limit, whatever is done about memory.
As many vectors as registers hold: two constants and the rest in halves, with distinct values to prevent merging.
"""

from dataclasses import dataclass
from time import thread_time_ns

from refmlc.native.compile import CFunction, Library, build, ffi
from refmlc.native.options import Isa
from refmlc.native.text import Text

STEPS = 1 << 14
"""So few that a sample is as short as those of kernels: what else the machine does meets all alike."""
UNROLLED = 8
C_TYPE = "int64_t (*)(int64_t, double, double, void *)"


@dataclass(frozen=True, slots=True)
class Peak:
    """The loop as a candidate. `operations` are done per call."""

    operations: int
    function: CFunction
    library: Library
    sum: object
    name: str = "peak"

    def take(self, calls: int) -> int:
        """Run it. The operands change nothing, so no number leaves the ordinary range."""
        start = thread_time_ns()
        for _ in range(calls):
            self.function(STEPS, 1.0, 0.0, self.sum)
        return thread_time_ns() - start


def compile_peak(isa: Isa) -> Peak:
    """The loop for an instruction set. Raises BuildFailed."""
    lanes = max(isa.vector_bytes // 4, 1)
    registers = 32 if isa.name in ("avx512", "neon") else 16
    pairs = (registers - 2) // 2
    library = build(peak_text(lanes, pairs), isa, cache=None)
    function = library.function("f0_peak", C_TYPE)
    return Peak(STEPS * UNROLLED * 2 * pairs * lanes, function, library, ffi().new("float *"))


def peak_text(lanes: int, pairs: int) -> str:
    """The loop in C."""
    kind = "rm_float32" if lanes == 1 else f"rm_float32x{lanes}"
    names = [f"{letter}{n}" for n in range(pairs) for letter in "ms"]
    text = Text()
    text.define("RM_USE_float32")
    for header in ("rm_guard.h", "rm_dtypes.h", *(["rm_vector.h"] if lanes > 1 else [])):
        text.include(header)
    parameters = "const int64_t steps, const double factor, const double term, rm_float32_cell *restrict const sum"
    with text.block(f"int64_t f0_peak({parameters})"):
        for name, added in (("x", "factor"), ("y", "term")):
            text.line(f"{kind} {name} = {'0' if lanes == 1 else '{0}'};")
            text.line(f"{name} = {name} + (rm_float32){added};")
        for number, name in enumerate(names):
            text.line(f"{kind} {name} = x + {number}.0f;")
        with text.block("for (int64_t i = 0; i < steps; ++i)"):
            for _ in range(UNROLLED):
                for n in range(pairs):
                    text.line(f"m{n} = m{n} * x;")
                    text.line(f"s{n} = s{n} + y;")
        text.line(f"sum[0] = {' + '.join(f'{name}[0]' if lanes > 1 else name for name in names)};")
        text.line("return RM_DONE;")
    text.line("")
    return "\n".join(text.lines)
