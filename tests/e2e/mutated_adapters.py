"""`python tests/e2e/mutated_adapters.py`: over 100 implementations with a fault each; conformance must name it.

Each is asked a slice of hand-worked cases (`tests/unit/conform/slice`). It is caught where the case that shows the
fault has the verdict that belongs to it, where every case has a result, and where faults of a process show on no other.
Exit status 1 where one is not.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "conform"))

from hand_made import hand_suite
from mutations import faults, judged


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=4)
    jobs = options.parse_args().jobs
    suite, caught, missed = hand_suite(), 0, []
    begin = time.monotonic()
    some = list(faults())
    with ThreadPoolExecutor(jobs) as pool:
        for fault, (report, wrong) in zip(some, pool.map(lambda fault: judged(fault, suite), some), strict=True):
            caught += not wrong
            missed += [f"{fault.name}: {'; '.join(wrong)}"] if wrong else []
            shown = ", ".join(f"{case}: {verdict}" for case, verdict in fault.shows.items())
            word = "caught" if not wrong else "MISSED"
            sys.stdout.write(f"{word}  {fault.name:45}  {shown:28}  {dict(report.counts)}\n")
            sys.stdout.flush()
    for line in missed:
        sys.stdout.write(f"missed: {line}\n")
    total = caught + len(missed)
    sys.stdout.write(f"{caught} of {total} faults are caught for what they are, in {time.monotonic() - begin:.0f} s\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
