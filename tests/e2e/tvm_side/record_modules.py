"""A plugin of pytest that writes the text of every module that TVM's own tests define, inside TVM's environment.

`python -m pytest -p record_modules --rootdir TESTS --record DIRECTORY FILE…`, for files of TVM's tests. A module is
what TVMScript is read to, what a builder or `create_prim_func` gives, and what a pass is applied to; each text once, as
`DIRECTORY/STEM__HASH.py`. `DIRECTORY/STEM.tests` has the tests of a file that were begun: they are left out the next
time, so that a run killed by a fault or by a clock goes on after it. Nothing is compiled, and no test is skipped for
want of a device: it ends where it would compile. A test has `--record-seconds` seconds.
"""

import hashlib
import signal
import sys
from pathlib import Path

import pytest
import source_frames
import tvm
from shared_scalars import with_scopes
from tvm import relax, te
from tvm.script.parser.core import entry

LONGEST = 200_000  # characters of a text


class Recorder:
    """Writes texts, each once."""

    def __init__(self, directory: Path, root: Path) -> None:
        self.directory, self.root, self.stem, self.inside = directory, root, "", False

    def enter(self, path: Path) -> None:
        """What is made from now on is of this file of tests."""
        self.stem = ".".join(path.relative_to(self.root).with_suffix("").parts)

    def add(self, value: object) -> None:
        """Write the text of a module or a function; what else comes is passed over."""
        if self.inside or not isinstance(value, tvm.IRModule | tvm.tirx.PrimFunc | relax.Function):
            return
        self.inside = True
        try:
            text = with_scopes(value, value.script(show_meta=True))
        except Exception:  # TVM does not print it: there is no text to read
            return
        finally:
            self.inside = False
        if len(text) <= LONGEST:
            name = f"{self.stem}__{hashlib.sha256(text.encode()).hexdigest()[:12]}"
            (self.directory / f"{name}.py").write_text(text, "utf-8")


RECORDER = pytest.StashKey[Recorder]()


def replace_everywhere(old: object, new: object) -> None:
    """Let each module of TVM that has `old` under some name have `new`."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tvm"):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)


def giving(recorder: Recorder, function):
    """`function`, with its result recorded."""

    def call(*arguments, **named):
        result = function(*arguments, **named)
        recorder.add(result)
        return result

    return call


def not_compiled(*_arguments, **_named):
    """In the place of a compiler."""
    pytest.skip("nothing is compiled")


def install(recorder: Recorder) -> None:
    """Hook what makes modules; unhook what compiles them."""
    replace_everywhere(entry.parse, giving(recorder, entry.parse))
    replace_everywhere(te.create_prim_func, giving(recorder, te.create_prim_func))
    for name in ("get", "finalize"):
        setattr(relax.BlockBuilder, name, giving(recorder, getattr(relax.BlockBuilder, name)))
    apply = tvm.ir.transform.Pass.__call__

    def applied(self, mod):
        recorder.add(mod)
        return apply(self, mod)

    tvm.ir.transform.Pass.__call__ = applied
    for function in (tvm.driver.build_module.compile, tvm.driver.build_module.build, tvm.tirx.build, relax.build):
        replace_everywhere(function, not_compiled)


def pytest_addoption(parser):
    """Where texts go, and how long a test may last."""
    parser.addoption("--record", type=Path)
    parser.addoption("--record-seconds", type=int, default=20)


def pytest_configure(config):
    """Install the hooks before a test file is imported."""
    source_frames.remember_modules()
    config.stash[RECORDER] = Recorder(config.getoption("--record"), config.rootpath)
    install(config.stash[RECORDER])


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector):
    """A file of tests is imported when its tests are listed."""
    if isinstance(collector, pytest.Module):
        collector.config.stash[RECORDER].enter(collector.path)


def journal(config) -> Path:
    """The list of the tests of the present file that were begun."""
    recorder = config.stash[RECORDER]
    return recorder.directory / f"{recorder.stem}.tests"


def pytest_collection_modifyitems(config, items):
    """Leave out what was begun before; no mark skips a test."""
    recorder = config.stash[RECORDER]
    begun: set[str] = set()
    for path in {item.path for item in items}:
        recorder.enter(path)
        if journal(config).exists():
            begun |= set(journal(config).read_text("utf-8").splitlines())
    items[:] = [item for item in items if item.nodeid not in begun]
    for item in items:
        for node in item.listchain():
            node.own_markers = [mark for mark in node.own_markers if mark.name not in ("skip", "skipif", "xfail")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Note that the test is begun, and let a clock end it."""
    item.config.stash[RECORDER].enter(item.path)
    with journal(item.config).open("a", encoding="utf-8") as out:
        out.write(item.nodeid + "\n")

    def late(*_):
        pytest.skip("its time is over")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(item.config.getoption("--record-seconds"))
    try:
        return (yield)
    finally:
        signal.alarm(0)
