"""A plugin of pytest: TVM's own tests for a GPU judge what refmlc makes of their kernels, inside TVM's environment.

`python -m pytest -p judge_kernels --rootdir TESTS --verdicts FILE FILE…`, for files of TVM's tests; no GPU is needed.
A test that compiles a kernel gets real TVM's executable, whose source it may look at; where it calls that, refmlc
executes the kernel, and the test goes on with what refmlc has left in its arguments. So the test's own assertion is
the judge. `tvm.cuda()` is the CPU, and a probe says that there is a device.

A test is run several times, each time with the same random numbers: with the kernel as it is built (`tiles`), with a
fault planted in what refmlc leaves, which the assertion has to see, and with the kernel after LowerTIRx (`lowered`).
Where an assertion fails, detectors watch the kernel once more: one with a race leaves nothing that can be asserted.
A kernel that this version of TVM does not compile is executed all the same, unless the test looks at its source.
A line of JSON for each test and way goes to FILE; the tests that have one are left out the next time. `--texts` is a
folder for the texts of the kernels that are not right.

`--server`: the words, as JSON, of the command that executes kernels (`kernel_server.py`). Files of other versions of
TVM are read too: `MOVED` has the modules that have moved, `GONE` names that this one has not.
"""

import importlib
import importlib.abc
import importlib.util
import json
import random
import re
import signal
import subprocess
import sys
import time
from math import inf
from pathlib import Path

import ml_dtypes  # noqa: F401 - NumPy has its dtypes by name then
import numpy as np
import pytest
import source_frames
import tvm
from shared_scalars import with_scopes
from tvm.testing import env

MOVED = {"tvm.arith": "tvm.sym", "tvm.tirx.cuda": "tvm.backend.cuda"}
GONE = {"tvm.tirx.stmt_functor": ("StmtExprVisitor",)}  # what only other tests of a file use
PROBES = ("has_cuda", "has_gpu", "has_cuda_compute", "has_nvcc_version")
DEFAULT_ARCH, TILES, LOWERED, SEED = "sm_90a", "tiles", "lowered", 1
ONE, ALL = "one", "all"
HELD = ("right", "coarse", "blind")
GONE_AWAY = '{"verdict": "traceback", "reason": "refmlc is gone"}'
SAYS_COMPUTE = re.compile(r"compute >= (\d+)")
MULTIPLIES = re.compile("gemm|mma|blackwell|hopper|tcgen05")
"""Tests of products: a matrix unit leaves the order of its sums open."""


class Ended(BaseException):
    """A kernel is not executed: no `except Exception` of a test may take it for something else."""

    def __init__(self, verdict, reason):
        super().__init__(reason)
        self.verdict, self.reason = verdict, reason


class Server:
    """The process that executes kernels; it is started again when it is gone."""

    def __init__(self, command):
        self.command, self.process = command, None

    def send(self, head, arrays):
        """The answer to a call. Fails: Ended, if the process is gone."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(json.dumps(head).encode() + b"\n")
            for array in arrays:
                self.process.stdin.write(array.tobytes())
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline() or GONE_AWAY)
            results = []
            for array in arrays if answer["verdict"] == "executed" else ():
                data = self.process.stdout.read(array.nbytes)
                results.append(np.frombuffer(data, array.dtype).reshape(array.shape))
        except BaseException:
            self.process.kill()
            self.process.wait()
            self.process = None
            raise
        return answer["verdict"], answer["reason"], results


class Run:
    """One run of a test: how kernels are executed, and what was called."""

    def __init__(self, server, way, plant="", known=(), *, watched=False, lenient=False):
        self.server, self.way, self.plant, self.known, self.watched = server, way, plant, list(known), watched
        self.lenient, self.uncompiled = lenient, None
        self.calls, self.text, self.planted = [], "", 0

    def call(self, built, name, values):
        """Execute a kernel, and leave its results in the arguments."""
        arrays = [np.ascontiguousarray(value.numpy()) for value in values if isinstance(value, tvm.runtime.Tensor)]
        results = self.executed(built, name, values, arrays)
        self.calls.append((arrays, results))
        targets = [value for value in values if isinstance(value, tvm.runtime.Tensor)]
        for target, before, after in zip(targets, arrays, results, strict=True):
            wrong = self.spoilt(before, after) if self.plant else after
            target.copyfrom(np.ascontiguousarray(wrong))

    def executed(self, built, name, values, arrays):
        """What a kernel leaves: known from a run before, with the same arguments, or asked for."""
        if len(self.calls) < len(self.known):
            before, results = self.known[len(self.calls)]
            if [array.tobytes() for array in before] == [array.tobytes() for array in arrays]:
                return results
        described = []
        for value in values:
            if isinstance(value, tvm.runtime.Tensor):
                described.append({"dtype": str(value.numpy().dtype), "shape": list(value.shape)})
            elif isinstance(value, int | float):
                described.append({"number": value})
            else:
                raise Ended("unjudged", f"an argument is of type {type(value).__name__}")
        self.text = built.text_of(self.way)
        head = {"text": self.text, "name": name, "watched": self.watched, "arguments": described}
        verdict, reason, results = self.server.send(head, arrays)
        if verdict != "executed":
            raise Ended(verdict, reason)
        return results

    def spoilt(self, before, after):
        """The array with a fault: in one element that the kernel wrote, or in all."""
        flat, old = after.copy().reshape(-1), before.reshape(-1)
        size = flat.dtype.itemsize
        bytes_of = [each.view(np.uint8).reshape(-1, size) for each in (flat, old)]
        places = np.flatnonzero((bytes_of[0] != bytes_of[1]).any(axis=1))
        places = places[len(places) // 2 :][:1] if self.plant == ONE else np.arange(len(flat))
        for place in places.tolist():
            flat[place] = other(flat[place])
        self.planted += len(places)
        return flat.reshape(after.shape)


def other(value):
    """A value of the same dtype that no tolerance takes for the same."""
    number = float(value)
    for wrong in (number + max(1.0, abs(number)), -number, 0.0, 1.0):
        try:
            with np.errstate(all="ignore"):
                candidate = np.array([wrong]).astype(value.dtype)[0]
        except (OverflowError, ValueError):
            continue
        if abs(float(candidate) - number) >= max(0.5, abs(number) / 2):
            return candidate
    return np.array([0.0 if number else 1.0]).astype(value.dtype)[0]


class Executable(tvm.runtime.Executable):
    """Real TVM's executable, but for calls."""

    built = None
    run = None

    def __getitem__(self, name):
        return lambda *values: self.run.call(self.built, name, values)

    def __call__(self, *values):
        self.run.call(self.built, "main", values)

    def jit(self, **_named):
        """There is nothing to link."""
        return self


class Uncompiled(Executable):
    """A kernel that this TVM does not compile: it can be called, and has no source."""

    def __init__(self, failure):
        self.failure = failure

    @property
    def mod(self):
        """Fails: as TVM does."""
        raise self.failure


class Built:
    """A module as a test has it compiled."""

    def __init__(self, module, target):
        self.module, self.target, self.texts = module, target, {}

    def text_of(self, way):
        """The text of the module. Fails: Ended, if TVM does not print or lower it."""
        if way not in self.texts:
            try:
                module = self.module if way == TILES else self.lowered()
                self.texts[way] = with_scopes(module, module.script(show_meta=True))
            except Exception as failure:
                raise Ended("unlowered", last_line(failure)) from failure
        return self.texts[way]

    def lowered(self):
        """The module after LowerTIRx."""
        passes = tvm.tirx.transform
        with self.target:
            return passes.LowerTIRx()(passes.BindTarget(self.target.with_host("llvm"))(self.module))


def small(*shape):
    """In place of normal numbers: small integers, so that every order of a sum gives the same."""
    return np.random.randint(-2, 3, shape).astype("float64")  # noqa: NPY002 - as the tests draw


def last_line(failure):
    """The last line of a message that says something, and is not of a table or a source."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip(" ^-~")]
    lines = [line for line in lines if not line.startswith(("+", "|"))]
    return f"{type(failure).__name__}: {lines[-1][:300] if lines else ''}"


def told_by(failure):
    """What an assertion says, without its arrays."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return " ".join(lines[:6])[:300] or "an assertion without a message"


class Judge:
    """Runs tests, and writes their verdicts."""

    def __init__(self, config):
        self.out = config.getoption("--verdicts")
        self.server = Server(json.loads(config.getoption("--server")))
        self.present, self.arch = Run(None, TILES), DEFAULT_ARCH
        self.seconds = config.getoption("--judge-seconds")
        self.until = config.getoption("--until")
        self.texts = config.getoption("--texts")
        self.compile, self.randn = tvm.compile, np.random.randn

    def install(self):
        """Replace what asks for a device, and the compiler."""
        for name in PROBES:
            setattr(env, name, lambda *_, **__: True)
        tvm.cuda = lambda *_: tvm.cpu(0)
        replace_everywhere(self.compile, self.compiled)
        construct = tvm.target.Target.__init__

        def constructed(target, name="cuda", *rest, **named):
            construct(target, {"kind": "cuda", "arch": self.arch} if name == "cuda" else name, *rest, **named)

        tvm.target.Target.__init__ = constructed

    def compiled(self, module, target=None, *rest, **named):
        """What `tvm.compile` gives, with refmlc in the place of a device."""
        target = target or tvm.target.Target.current(allow_none=True)
        target = tvm.target.Target(target) if isinstance(target, str) else target
        try:
            result = self.compile(module, target, *rest, **named)
            result.__class__ = Executable
        except Exception as failure:
            self.present.uncompiled = failure
            if not self.present.lenient:
                raise
            result = Uncompiled(failure)
        if isinstance(module, tvm.tirx.PrimFunc):
            module = tvm.IRModule({"main": module})
        result.built, result.run = Built(module, target), self.present
        return result

    def judge(self, item):
        """All verdicts on a test."""
        reasons = [str(mark.kwargs.get("reason", "")) for mark in item.iter_markers("skipif")]
        needed = [int(found[1]) for reason in reasons if (found := SAYS_COMPUTE.search(reason))]
        self.arch = f"sm_{max(needed)}0a" if needed and max(needed) > 9 else DEFAULT_ARCH
        seen = ""
        for way in (TILES, LOWERED):
            begin = time.monotonic()
            verdict, reason, run = self.once(item, Run(self.server, way))
            lenient = verdict == "elsewhere" and run.uncompiled is not None
            if lenient:
                verdict, reason, run = self.once(item, Run(self.server, way, lenient=True))
            if verdict == "wrong":  # a kernel with a race has no meaning that a test could assert on
                watched = self.once(item, Run(self.server, way, watched=True, lenient=lenient))
                verdict, reason = watched[:2] if watched[0] == "undefined" else (verdict, reason)
            if verdict == "holds":
                seen = seen or self.sees(item, run)
                verdict = {ONE: "right", ALL: "coarse"}.get(seen, "blind")
            self.write(item, way, verdict, reason, time.monotonic() - begin)
            self.keep(item, way, verdict, run.text)
            if verdict in ("uncalled", "elsewhere", "skipped"):
                break  # nothing of it is executed, in no way

    def sees(self, item, run):
        """What fault the test sees: in `one` element that a kernel wrote, in `all`, or none."""
        for plant in (ONE, ALL):
            spoilt = Run(self.server, run.way, plant, run.calls, lenient=run.lenient)
            if self.once(item, spoilt)[0] == "wrong" and spoilt.planted:
                return plant
        return "none"

    def once(self, item, run):
        """Run a test: a verdict, the reason, and the run."""
        self.present = run
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002 - what the tests draw from
        np.random.randn = small if MULTIPLIES.search(item.nodeid) else self.randn
        signal.signal(signal.SIGALRM, late)
        signal.alarm(self.seconds)
        arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        try:
            item.obj(**arguments)
        except Ended as end:
            return end.verdict, end.reason, run
        except pytest.skip.Exception as failure:
            return "skipped", str(failure), run
        except AssertionError as failure:
            return ("wrong" if run.calls else "elsewhere"), told_by(failure), run
        except Exception as failure:
            return "elsewhere", last_line(failure), run
        except BaseException as failure:
            if isinstance(failure, KeyboardInterrupt):
                raise
            return "elsewhere", last_line(failure), run
        finally:
            signal.alarm(0)
        return ("holds" if run.calls else "uncalled"), "", run

    def keep(self, item, way, verdict, text):
        """Keep the text of a kernel that has no test to say that it is right."""
        if self.texts and text and verdict not in (*HELD, "unlowered"):
            name = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.nodeid.removesuffix("]"))[-150:]
            (self.texts / f"{name}__{way}.py").write_text(f"# {verdict}\n{text}", "utf-8")

    def write(self, item, way, verdict, reason, seconds):
        """Note a verdict."""
        row = {"test": item.nodeid, "way": way, "verdict": verdict, "reason": reason, "seconds": round(seconds, 1)}
        with self.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")


def late(*_):
    """The time of a test is over."""
    raise Ended("late", "the test takes too long")


def replace_everywhere(old, new):
    """Let each module of TVM that has `old` under some name have `new`."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tvm"):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)


class Moved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module that has moved under its new name."""

    def find_spec(self, name, path=None, target=None):
        """A module whose name begins with an old one."""
        del path, target
        if name in GONE:
            return importlib.util.spec_from_loader(name, self)
        for old, new in MOVED.items():
            if name == old or name.startswith(old + "."):
                return importlib.util.spec_from_loader(name, self, origin=new + name[len(old) :])
        return None

    def create_module(self, spec):
        """The module itself."""
        return importlib.import_module(spec.origin) if spec.origin else None

    def exec_module(self, module):
        """It is executed already, or has classes without anything."""
        for name in GONE.get(module.__name__, ()):
            setattr(module, name, type(name, (), {}))


JUDGE = pytest.StashKey[Judge]()


def pytest_addoption(parser):
    """Where verdicts go, and who executes kernels."""
    parser.addoption("--verdicts", type=Path)
    parser.addoption("--server")
    parser.addoption("--texts", type=Path)
    parser.addoption("--judge-seconds", type=int, default=120)
    parser.addoption("--until", type=float, default=inf)
    parser.addoption("--one-in", type=int, default=1)
    parser.addoption("--only", default="")


def pytest_configure(config):
    """Install the hooks before a test file is imported."""
    source_frames.remember_modules()
    config.addinivalue_line("markers", "gpu: a test for a GPU")
    sys.meta_path.append(Moved())
    if not hasattr(tvm.tirx, "StringImm"):
        tvm.tirx.StringImm = tvm.ir.StringImm
    config.stash[JUDGE] = Judge(config)
    config.stash[JUDGE].install()


def pytest_collection_modifyitems(config, items):
    """Leave out what has a verdict, and what is not asked for."""
    out, only, every = config.getoption("--verdicts"), config.getoption("--only"), config.getoption("--one-in")
    lines = out.read_text("utf-8").splitlines() if out.exists() else ()
    done = {json.loads(line)["test"] for line in lines}
    asked = [item for item in items if item.nodeid not in done and re.search(only, item.nodeid)]
    items[:] = [item for item in asked if chosen(item.nodeid, every)]


def chosen(name, every):
    """Whether a test is of the sample, which is the same each time."""
    return sum(name.encode()) % every == 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """A test that is never begun has a verdict too."""
    report = yield
    if report.when == "setup" and not report.passed:
        verdict = "skipped" if report.skipped else "elsewhere"
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr).splitlines()[-1]
        item.config.stash[JUDGE].write(item, TILES, verdict, text.removeprefix("Skipped: "), 0)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Judge the test in the place of running it."""
    judge = pyfuncitem.config.stash[JUDGE]
    if time.time() > judge.until:
        pyfuncitem.session.shouldstop = "the time is over"
        return True
    judge.write(pyfuncitem, TILES, "fault", "TVM ends by a fault", 0)
    judge.judge(pyfuncitem)
    return True
