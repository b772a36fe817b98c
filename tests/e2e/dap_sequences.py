"""Sequences of requests, right and wrong ones, against the server: `python tests/e2e/dap_sequences.py`.

`--count` of each (10,000 unless it is said), on `--jobs` processes. Right ones move a program by requests and the same
session directly: both must agree on every stop, line and value. Wrong ones must each be refused, once. Exit status 1
where a sequence shows otherwise; it is printed, as small as it can be made.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "property"), str(ROOT / "tests" / "unit" / "debug")]


def bounds(count, steps=30):
    """What Hypothesis is to do."""
    from hypothesis import HealthCheck, settings  # noqa: PLC0415 - in the process that does it

    return settings(
        max_examples=count, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip


def right(count, part):
    """Sequences of right requests; how many stops were compared."""
    from dap_machine import Machine  # noqa: PLC0415
    from hypothesis import seed  # noqa: PLC0415
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    Machine.moves = 0
    run_state_machine_as_test(seed(part)(Machine), settings=bounds(count))
    return Machine.moves


def wrong(count, part):
    """Sequences with wrong requests; how many."""
    from dap_malformed import check, sequences  # noqa: PLC0415
    from hypothesis import given, seed, strategies as st  # noqa: PLC0415

    done = 0

    @seed(part)
    @bounds(count)
    @given(sequence=sequences, launches=st.sampled_from(["", "graph", "sums", "fault"]))
    def run(sequence, launches):
        nonlocal done
        check(sequence, launches=launches)
        done += 1

    run()
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=["right", "wrong"])
    given = parser.parse_args()
    begin, failed = time.monotonic(), 0
    each = max(given.count // given.jobs, 1)
    kinds = [kind for kind in (right, wrong) if given.only in (None, kind.__name__)]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        tasks = [(kind.__name__, pool.submit(kind, each, part)) for kind in kinds for part in range(given.jobs)]
        for name, task in tasks:
            problem = task.exception()
            if problem is not None:
                failed += 1
                print(f"{name}: {problem}", *getattr(problem, "__notes__", ()), sep="\n")  # noqa: T201
            else:
                what = "stops compared" if name == "right" else "sequences answered"
                print(f"{name}: {each} sequences, {task.result()} {what}", flush=True)  # noqa: T201
    print(f"{failed} failures, {time.monotonic() - begin:.0f} s")  # noqa: T201
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
