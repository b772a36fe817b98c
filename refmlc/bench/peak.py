"""What this machine can do at most: float32 multiplications and additions per second, not contracted, on one core.

A loop over independent vectors: some are multiplied, as many are added to, none waits for another. Matrix products
that round every step need one addition per multiplication, so this is their limit, whatever is done about memory.
As many vectors as registers hold: two constants and the rest in halves, each of its own value, lest they be merged.
"""

from dataclasses import dataclass
from time import thread_time_ns

from refmlc.codegen.build import CFunction, Library, build
from refmlc.codegen.options import Isa

STEPS = 1 << 20
UNROLLED = 8
C_TYPE = "float (*)(int64_t, float, float)"


@dataclass(frozen=True, slots=True)
class Peak:
    """The loop as a candidate. `operations` are done per call."""

    operations: int
    function: CFunction
    library: Library
    name: str = "peak"

    def take(self, calls: int) -> int:
        """Run it. The operands change nothing, so no number leaves the ordinary range."""
        start = thread_time_ns()
        for _ in range(calls):
            self.function(STEPS, 1.0, 0.0)
        return thread_time_ns() - start


def compile_peak(isa: Isa) -> Peak:
    """The loop for an instruction set. Raises BuildFailed."""
    lanes = max(isa.vector_bytes // 4, 1)
    registers = 32 if isa.name in ("avx512", "neon") else 16
    pairs = (registers - 2) // 2
    library = build(peak_text(lanes, pairs), isa, cache=None)
    return Peak(STEPS * UNROLLED * 2 * pairs * lanes, library.function("rm_peak", C_TYPE), library)


def peak_text(lanes: int, pairs: int) -> str:
    """The loop in C."""
    kind = "float" if lanes == 1 else f"float __attribute__((vector_size({4 * lanes})))"
    names = [f"{letter}{n}" for n in range(pairs) for letter in "ms"]
    step = " ".join(f"m{n} = m{n} * x; s{n} = s{n} + y;" for n in range(pairs))
    used = " + ".join(f"{name}[0]" if lanes > 1 else name for name in names)
    return f"""#include <stdint.h>
typedef {kind} lanes;
float rm_peak(int64_t steps, float factor, float term) {{
  lanes x = {{0}}, y = {{0}};
  x = x + factor, y = y + term;
  lanes {", ".join(f"{name} = x + {number}" for number, name in enumerate(names))};
  for (int64_t i = 0; i < steps; i++) {{
    {"    ".join([f"{step}{chr(10)}"] * UNROLLED)}  }}
  return {used};
}}
"""
