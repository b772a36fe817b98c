"""Processes that judge a mutant by cases of the suite.

| process | knows                                       | is for                                                   |
|---------|---------------------------------------------|----------------------------------------------------------|
| bare    | the files of the suite as tables; no refmlc | mutants that change what is done when a module is loaded |
| loaded  | refmlc, and the cases                       | all others: their code takes the place of the right one  |
| forked  | from one of both, for one mutant            | asks the cases until one does not hold                   |

`Worker` is a bare process that has a loaded one, and answers questions over a pipe.
"""

import gc
import mmap
import multiprocessing
import os
import resource
import select
import signal
import struct
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import suite_cases
import suite_swaps
from judged_tree import Wrong

FORK = multiprocessing.get_context("fork")
SECONDS, PROCESSOR, MEMORY = 900, 150, 8 << 30  # of one mutant: on the clock, of work; bytes


@dataclass(frozen=True)
class Told:
    """What became of a mutant: `killed` or `survived`; by which case; why."""

    state: str
    case: str = ""
    why: str = ""


@dataclass(frozen=True)
class Setting:
    """What all processes share. `times`: what cases usually take."""

    tree: Path
    parsed: dict
    times: dict

    @cached_property
    def cases(self):
        """The cases that are asked: loads refmlc."""
        return suite_cases.load(self.parsed, self.tree / "conformance")


def in_fork(work, ids=()):
    """What `work(at)` tells, a case and why, in a process of its own without output; `at` notes which case is asked."""
    reading, writing = os.pipe()
    place = mmap.mmap(-1, 8)
    child = os.fork()
    if not child:
        os.close(reading)
        _silence()
        try:
            case, why = work(lambda number: place.__setitem__(slice(8), struct.pack("q", number)))
        except BaseException as problem:  # noqa: BLE001 - a mutant may raise anything
            case, why = "?", f"{type(problem).__name__}: {problem}"
        os.write(writing, f"{case}\0{why}".encode(errors="replace")[:2000])
        os._exit(0)
    os.close(writing)
    there = select.select([reading], [], [], SECONDS)[0]
    told = os.read(reading, 2000).decode(errors="replace") if there else ""
    if not there:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(reading)
    at = struct.unpack("q", place[:8])[0]
    if not told:
        return Told("killed", ids[at] if at < len(ids) else "?", f"the process ends by signal {status & 127}")
    case, why = told.split("\0", 1)
    at_case = ids[at] if case == "?" and at < len(ids) else case
    return Told("killed", at_case, why) if case else Told("survived")


def _silence():
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def afresh(setting, module, source, ids):
    """Judged where refmlc is loaded with the wrong text: from a bare process."""

    def work(at):
        path = setting.tree / (module.replace(".", "/") + ".py")
        sys.meta_path.insert(0, Wrong(module, path, source))
        cases = setting.cases
        return suite_cases.first_broken([cases[one] for one in ids], at, setting.times)

    return in_fork(work, ids)


def loaded(setting, link):
    """The loop of a loaded process: pairs of code and ids in, ends out."""
    cases = setting.cases

    known = suite_swaps.functions(setting.tree)
    gc.collect()
    gc.freeze()
    while True:
        question = link.recv()
        if question is None:
            return
        path, right, wrong, ids = question
        pairs = suite_swaps.swaps(path, right, wrong)
        if pairs is None or not any(one in known for one, _ in pairs):
            link.send(None)
            continue

        def work(at, pairs=pairs, ids=ids):
            suite_swaps.swap(known, pairs)
            return suite_cases.first_broken([cases[one] for one in ids], at, setting.times)

        link.send(in_fork(work, ids))


class Worker:
    """A bare process with a loaded one: ask, and `take` what is told when `link` has something."""

    def __init__(self, setting):
        self.link, there = FORK.Pipe()
        self._process = FORK.Process(target=_bare, args=(setting, there), daemon=False)
        self._process.start()
        there.close()

    def ask(self, *question):
        """Judge `module`, `right`, `wrong`, `ids`, `anew`: whether a survivor is judged once more from scratch."""
        self.link.send(question)

    def close(self):
        """End both processes."""
        self.link.send(None)
        self._process.join()


def _bare(setting, link):
    mine, there = FORK.Pipe()
    other = FORK.Process(target=loaded, args=(setting, there))
    other.start()
    there.close()
    while True:
        question = link.recv()
        if question is None:
            break
        module, right, wrong, ids, anew = question
        path = setting.tree / (module.replace(".", "/") + ".py")
        mine.send((path, right, wrong, ids))
        told = mine.recv()
        if told is None or (anew and told.state == "survived"):
            told = afresh(setting, module, wrong, ids)
        link.send(told)
    mine.send(None)
    other.join()
