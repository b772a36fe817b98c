"""`refmlc conform`: exit statuses, files, expectations; the three lines of a test in a fresh directory."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hand_made import hand_folder
from mutations import LINE_ADAPTER

from refmlc.cli import conform_run, main
from refmlc.cli.conform_install import installed_tvm, step
from refmlc.diag import RefmlcError

RIGHT = f"cmd:{sys.executable} {LINE_ADAPTER} right"
KNOWN = """
[[deviation]]
id = "sum"
why = "it adds in another order"
cases = ["hand.add"]
verdict = "fail"
"""
THREE_LINES = """
from my_adapter import MyAdapter
from refmlc.oracle.suite import run_conformance_test

def test_conformance():
    run_conformance_test(MyAdapter(), suite={suite!r}, cases=["hand.*"])
"""
ADAPTER = """
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.implementations.interp import Interp

class MyAdapter:
    name = "mine"
    promises_verdicts = False

    def prepare(self, module):
        return Interp().prepare(module)

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return hand_folder(tmp_path_factory.mktemp("conform") / "suite")


def ran(*words):
    return CliRunner().invoke(main, ["conform", *map(str, words)], catch_exceptions=False)


def test_everything_is_written_and_the_status_is_0(folder, tmp_path):
    files = [tmp_path / "junit.xml", tmp_path / "page.html"]
    done = ran(
        "--suite", folder, "--impl", RIGHT, "--case", "hand.a*", "--junit", files[0], "--report", files[1], "--json"
    )
    assert done.exit_code == 0, done.output
    (report,) = json.loads(done.stdout)["reports"]
    assert report["counts"] == {"permitted": 1, "pass": 5}
    assert 'tests="6"' in files[0].read_text()
    assert "hand.any-order" in files[1].read_text()


def test_an_unexpected_pass_is_told_and_the_status_is_1(folder, tmp_path):
    (tmp_path / "known.toml").write_text(KNOWN)
    done = ran("--suite", folder, "--impl", RIGHT, "--case", "hand.add", "--known", tmp_path / "known.toml")
    assert done.exit_code == 1
    assert "`sum` expects fail; the verdict is pass" in done.output
    assert "1 not as expected" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--impl", "nobody"], "no implementation is named `nobody`"),
        (["--case", "hand.nothing"], "no case of the suite is called `hand.nothing`"),
        (["--known", "/nowhere.toml"], "/nowhere.toml"),
        (["--junit", "one.out", "--report", "one.out"], "`one.out` cannot be both"),
        (["--junit", "/"], "`/` is a folder"),
        (["--suite", "/nowhere"], "the folder `/nowhere` does not exist"),
        (["--jobs", "0"], "--jobs"),
        (["--install-tvm", "latest"], "`latest` is not a version of TVM"),
    ],
)
def test_bad_usage_is_told_and_the_status_is_2(folder, words, said):
    done = ran("--suite", folder, *words)
    assert done.exit_code == 2
    assert said in done.output


def test_options_before_a_subcommand_are_not_ignored(folder, tmp_path):
    """`conform --suite S export` would write another suite than S."""
    done = CliRunner().invoke(main, ["conform", "--suite", str(folder), "export", "-o", str(tmp_path / "out")])
    assert (done.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert "after `export`" in done.stderr


def test_a_report_that_cannot_be_written_is_told_before_anything_is_asked(folder, tmp_path):
    words = ["conform", "--suite", str(folder), "--impl", "cmd:nothing-that-starts"]
    done = CliRunner().invoke(main, [*words, "--junit", str(tmp_path / "gone" / "junit.xml")])
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr


def test_a_page_that_finds_no_room_loses_nothing_else(folder, tmp_path):
    words = ["--suite", folder, "--impl", RIGHT, "--case", "hand.add", "--junit", tmp_path / "junit.xml"]
    done = ran(*words, "--report", "/dev/full")
    assert done.exit_code == 2
    assert "`/dev/full`: No space left on device" in done.stderr
    assert "1 pass: as expected" in done.stdout
    assert 'tests="1"' in (tmp_path / "junit.xml").read_text()


def test_who_does_not_start_takes_nothing_from_the_others(folder, tmp_path):
    words = ["--suite", folder, "--case", "hand.add", "--json", "--junit", tmp_path / "junit.xml"]
    done = ran(*words, "--impl", RIGHT, "--impl", "cmd:false", "--impl", "interp")
    assert done.exit_code == 2
    assert "`false` does not start" in done.stderr
    assert [report["counts"] for report in json.loads(done.stdout)["reports"]] == [{"pass": 1}] * 2
    assert (tmp_path / "junit.xml").read_text().count("<testsuite ") == 2


def test_an_interrupt_while_the_next_one_starts_leaves_the_reports_before(folder, tmp_path, monkeypatch):
    def asked(suite, spec, *rest):
        if spec == "interp":
            raise KeyboardInterrupt
        return before(suite, spec, *rest)

    before = conform_run._run
    monkeypatch.setattr(conform_run, "_run", asked)
    done = ran("--suite", folder, "--case", "hand.add", "--impl", RIGHT, "--impl", "interp", "--impl", "native")
    assert done.exit_code == 1
    assert "1 pass: as expected" in done.stdout
    assert done.stderr.count(": not run: the run was interrupted") == 2


def test_a_suite_without_cases_is_bad_usage(tmp_path):
    (tmp_path / "frozen").mkdir()
    for name, text in (("VERSION", "1\n"), ("frozen/MANIFEST", ""), ("frozen/withdrawn.toml", "")):
        (tmp_path / name).write_text(text)
    done = ran("--suite", tmp_path)
    assert done.exit_code == 2
    assert "the suite has no case" in done.output


def test_three_lines_in_a_fresh_directory(folder, tmp_path):
    (tmp_path / "my_adapter.py").write_text(ADAPTER)
    (tmp_path / "test_mine.py").write_text(THREE_LINES.format(suite=str(folder)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = ADAPTER.replace("return Interp().prepare(module)", "return 3")
    (tmp_path / "my_adapter.py").write_text(wrong)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "crash: hand.add: AttributeError: 'int' object has no attribute 'run'" in done.stdout
    assert "runner_assertion.py" not in done.stdout.split("short test summary")[0]


def test_a_step_of_an_installation_that_fails_is_told():
    says = "import sys; sys.exit('ERROR: No matching distribution found for apache-tvm')"
    with pytest.raises(RefmlcError) as caught:
        step([sys.executable, "-c", says], "apache-tvm 0.27")
    assert caught.value.code.id == "RM112"
    told = caught.value.diagnostic
    assert told.message == ("apache-tvm 0.27 is not available: ERROR: No matching distribution found for apache-tvm")
    assert "offline" in told.notes[0]


def test_tvm_that_is_installed_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "tvm-0.27").mkdir(parents=True, mode=0o700)
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / "cache" / "tvm-0.27" / "refmlc-complete").touch()
    assert installed_tvm("0.27") == str(tmp_path / "cache" / "tvm-0.27" / "bin" / "python")


def test_what_the_page_needs_is_told_before_tvm_is_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("REFMLC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "refmlc.oracle.suite.report.page", raising=False)
    found = CliRunner().invoke(main, ["conform", "--install-tvm", "0.0", "--report", str(tmp_path / "page.html")])
    assert found.exit_code == 2
    assert "refmlc[report]" in found.output
    assert not (tmp_path / "cache").exists()
