"""Print the interpreter's time per innermost statement of `linear0`; exit 1 when the promise is not kept.

python tests/bench/interp_linear0.py [rounds]
"""

import sys

from refmlc.tools.bench.interpreter import LIMIT, bench_linear0


def main() -> int:
    """Measure and print."""
    timings = bench_linear0(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
    for timing in timings:
        print(f"{timing.candidate:17} {timing.nanoseconds:7.0f} ns  {timing.ratio:5.2f}")  # noqa: T201 - a script
    return 0 if all(timing.within for timing in timings) else f"more than {LIMIT} times the hand-written loop"


if __name__ == "__main__":
    sys.exit(main())
