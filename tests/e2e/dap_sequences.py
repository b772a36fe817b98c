"""Sequences of requests, right and wrong ones, against the server: `python tests/e2e/dap_sequences.py`.

`--count` of each (10,000 unless it is said), on `--jobs` processes. Right ones move a program by requests and the same
session directly: both must agree on every stop, line and value. Wrong ones must each be refused, once. Exit status 1
where a sequence shows otherwise; it is printed, as small as it can be made.

| transport                                   | of the sequences             | the server is                     |
|---------------------------------------------|------------------------------|-----------------------------------|
| a pair of sockets                           | all but                      | a thread of the same process      |
| TCP on this machine, without a token        | one part in twenty (`SHARE`) | a process of its own              |

That process must end with 0, also where the client vanishes.

They are done in parts of a hundred, each from a seed of its own. `--record FILE` keeps what was done, a line of JSON
for each part; parts that stand there without a failure are not done again, so that a run may be broken off.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "property"), str(ROOT / "tests" / "unit" / "debug")]
EACH = 100
SHARE = 20


def bounds(count, steps=30):
    """What Hypothesis is to do."""
    from hypothesis import HealthCheck, settings  # noqa: PLC0415 - in the process that does it

    return settings(
        max_examples=count, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip


@cache
def forks():
    """What starts servers; it ends with this process."""
    from dap_forks import Forks  # noqa: PLC0415 - as above

    return Forks()


def connecting(apart):
    """What makes a client and its server."""
    from dap_client import joined  # noqa: PLC0415 - as above
    from dap_programs import launcher  # noqa: PLC0415

    return forks().connect if apart else lambda: joined(launcher)


def right(count, part, apart):
    """Sequences of right requests; how many there were, and how many stops were compared."""
    from dap_machine import Machine  # noqa: PLC0415
    from hypothesis import seed  # noqa: PLC0415
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    Machine.moves = Machine.sequences = 0
    Machine.connect, Machine.vanishes = staticmethod(connecting(apart)), apart
    run_state_machine_as_test(seed(part)(Machine), settings=bounds(count))
    return Machine.sequences, Machine.moves


def wrong(count, part, apart):
    """Sequences with wrong requests; how many there were, and how many requests were answered."""
    from dap_malformed import check, sequences  # noqa: PLC0415
    from hypothesis import given, seed, strategies as st  # noqa: PLC0415

    connect, done, answered = connecting(apart), 0, 0

    @seed(part)
    @bounds(count)
    @given(sequence=sequences, launches=st.sampled_from(["", "graph", "sums", "fault"]))
    def run(sequence, launches):
        nonlocal done, answered
        answered += check(sequence, launches=launches, connect=connect)
        done += 1

    run()
    return done, answered


KINDS = {"right": (right, "stops compared"), "wrong": (wrong, "requests answered")}


def part_of(kind, number, count):
    """Do a part: what is recorded of it."""
    apart, begin = number % SHARE == 0, time.monotonic()
    found = {"kind": kind, "part": number, "count": count, "apart": apart}
    try:
        sequences, looks = KINDS[kind][0](count, number, apart)
    except BaseException as problem:  # noqa: BLE001 - whatever it is, it is what is looked for
        text = "\n".join([f"{type(problem).__name__}: {problem}", *getattr(problem, "__notes__", ())])
        return {**found, "failure": text}
    return {**found, "sequences": sequences, "looks": looks, "seconds": round(time.monotonic() - begin, 1)}


def recorded(file):
    """The parts that need not be done again."""
    if file is None or not file.exists():
        return {}
    found = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {(one["kind"], one["part"], one["count"]): one for one in found if "failure" not in one}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=[*KINDS])
    parser.add_argument("--record", type=Path)
    given = parser.parse_args()
    begin, each = time.monotonic(), min(EACH, given.count)
    known = recorded(given.record)
    parts = [(kind, part, each) for part in range(given.count // each) for kind in KINDS if given.only in (None, kind)]
    done = [known[key] for key in parts if key in known]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for task in as_completed([pool.submit(part_of, *key) for key in parts if key not in known]):
            found = task.result()
            done.append(found)
            if given.record is not None:
                with given.record.open("a", encoding="utf-8") as record:
                    record.write(f"{json.dumps(found)}\n")
            if "failure" in found:
                print(f"{found['kind']}, part {found['part']}: {found['failure']}", flush=True)  # noqa: T201
    return told(done, time.monotonic() - begin)


def told(done, seconds):
    """Print what was done; the exit status."""
    failed = [one for one in done if "failure" in one]
    for kind, (_, what) in KINDS.items():
        mine = [one for one in done if one["kind"] == kind and one not in failed]
        counts = [sum(one["sequences"] for one in mine if one["apart"] >= apart) for apart in (False, True)]
        looks = sum(one["looks"] for one in mine)
        print(f"{kind}: {counts[0]} sequences ({counts[1]} over TCP), {looks} {what}")  # noqa: T201
    print(f"{len(failed)} parts failed, {seconds:.0f} s")  # noqa: T201
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
