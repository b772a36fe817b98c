"""`python tests/e2e/mutated_adapters.py`: over 100 implementations with a fault each; conformance must name it.

Each is asked a slice of hand-worked cases (`tests/unit/oracle/suite/slice`). It is caught where the case that shows the
fault has the verdict that belongs to it, where every case has a result, and where faults of a process show on no other.
Exit status 1 where one is not. `--jobs N`: so many at once, since many of them wait for a program that is silent.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "oracle" / "suite"))

from biting import prove
from hand_made import hand_suite
from mutations import faults, judged

from refmlc.diag import RefmlcError
from refmlc.oracle.implementations.interp import Interp

KNOWN = "add is sub"  # the fault that is certainly caught


def tried(fault, suite):
    """The counts of the report on the fault, and what is wrong with it; an adapter that does not start is that."""
    try:
        report, wrong = judged(fault, suite)
    except RefmlcError as failure:
        return {}, [failure.diagnostic.message]
    return dict(report.counts), wrong


def prove_itself(some, suite):
    """An implementation without a fault is caught for none of them; one that stops at every program is not right."""
    innocent = [fault.name for fault in some if not fault.process and not tried(replace(fault, make=Interp), suite)[1]]
    _, wrong = tried(next(fault for fault in some if fault.name == KNOWN), suite)
    why = f"caught without a fault: {', '.join(innocent) or 'none'}; {KNOWN}: {'; '.join(wrong) or 'caught'}"
    prove("the conformance of mutated adapters", notices=not innocent, passes=not wrong, why=why)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=4)
    jobs = options.parse_args().jobs
    suite, caught, missed = hand_suite(), 0, []
    begin = time.monotonic()
    some = list(faults())
    prove_itself(some, suite)
    with ThreadPoolExecutor(jobs) as pool:
        for fault, (counts, wrong) in zip(some, pool.map(lambda fault: tried(fault, suite), some), strict=True):
            caught += not wrong
            missed += [f"{fault.name}: {'; '.join(wrong)}"] if wrong else []
            shown = ", ".join(f"{case}: {verdict}" for case, verdict in fault.shows.items())
            word = "caught" if not wrong else "MISSED"
            sys.stdout.write(f"{word}  {fault.name:45}  {shown:28}  {counts}\n")
            sys.stdout.flush()
    for line in missed:
        sys.stdout.write(f"missed: {line}\n")
    total = caught + len(missed)
    sys.stdout.write(f"{caught} of {total} faults are caught for what they are, in {time.monotonic() - begin:.0f} s\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
