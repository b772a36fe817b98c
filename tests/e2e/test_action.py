"""What other systems run: the action as the workflow of `use-in-ci.md` does; the hook; the container recipe."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from documents import blocks_of

from refmlc.cli import main

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "how-to" / "use-in-ci.md"
WORKFLOW = yaml.safe_load(next(block.text for block in blocks_of(PAGE) if block.file == "kernels.yml"))
INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")
WRONG = """@T.prim_func
def shift(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        B[i] = A[i + 1]
"""


@pytest.fixture
def checkout(tmp_path):
    """A repository with a wrong kernel and a hostile one in kernels/, as a job has it."""
    folder = tmp_path / "checkout"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "wrong.py").write_text(WRONG)
    (folder / "refmlc").mkdir()
    (folder / "refmlc" / "__init__.py").write_text("raise SystemExit('the package of a stranger')\n")
    return folder


def step(name, inputs, checkout):
    """Run a step of the action, with the variables and the shell of GitHub's runner."""
    (one,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
    values = {key: str(entry.get("default", "")) for key, entry in ACTION["inputs"].items()} | inputs
    given = {key: INPUT.sub(lambda match: values[match[1]], text) for key, text in one.get("env", {}).items()}
    programs = checkout.parent / "programs"
    programs.mkdir(exist_ok=True)
    installed = programs / "refmlc"  # as pip's script, it does not look for modules in the current folder
    installed.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m refmlc "$@"\n')
    installed.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    surroundings = {**os.environ, **given, "GITHUB_ACTION_PATH": str(ROOT), "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["/usr/bin/env", "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]],
        cwd=checkout, env=surroundings, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def commands_of(log):
    """The commands that GitHub's runner would obey: lines that begin with `::`, unless commands are off."""
    token, obeyed = None, []
    for line in log.splitlines():
        text = line.lstrip()
        if token is not None:
            token = None if text == f"::{token}::" else token
        elif text.startswith("::stop-commands::"):
            token = text.removeprefix("::stop-commands::")
        elif text.startswith("::"):
            obeyed.append(text)
    assert token is None, "commands are off at the end"
    return obeyed


def test_every_input_reaches_its_step_as_a_variable_and_no_script_holds_an_expression():
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps] == ["Install refmlc", "Check"]
    assert not [step for step in steps if "${{" in step["run"]]
    used = {match for step in steps for text in step.get("env", {}).values() for match in INPUT.findall(text)}
    assert used == set(ACTION["inputs"])


def test_the_workflow_of_the_page_gives_inputs_that_the_action_has(checkout):
    steps = WORKFLOW["jobs"]["check"]["steps"]
    (ours,) = [step for step in steps if step.get("uses") == "./refmlc"]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    (upload,) = [step for step in steps if "sarif_file" in step.get("with", {})]
    assert upload["with"]["sarif_file"] == ACTION["inputs"]["sarif"]["default"]
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) <= set(ACTION["inputs"])


def test_the_check_annotates_the_lines_and_writes_the_files(checkout):
    done = step("Check", {"files": "kernels/\n", "options": "--calls\n2\n--impl\ninterp"}, checkout)
    assert done.returncode == 1, done.stderr
    (command,) = commands_of(done.stdout)
    assert command.startswith("::error file=kernels/wrong.py,line=4,")
    assert "error[RM304]" in done.stdout
    assert '"RM304"' in (checkout / "refmlc.sarif").read_text()
    assert 'failures="1"' in (checkout / "refmlc.xml").read_text()


def test_a_baseline_and_what_changed(checkout):
    options = "--calls\n2\n--impl\ninterp"
    written = step("Check", {"baseline": "b.toml", "options": f"{options}\n--update-baseline"}, checkout)
    assert written.returncode == 0, written.stdout
    assert step("Check", {"baseline": "b.toml", "options": options}, checkout).returncode == 0


def test_text_of_a_strangers_module_is_no_command_of_the_log(checkout):
    name = '"""\\n  ::add-mask::oh\\n::error::evil"""'
    (checkout / "kernels" / "evil.py").write_text(f"@T.prim_func\ndef f():\n    T.evaluate(T.call_packed({name}))\n")
    (checkout / "kernels" / "::error::x.py").write_text(WRONG)
    done = step("Check", {"files": "kernels", "options": "--calls\n2\n--impl\ninterp"}, checkout)
    assert done.returncode in (1, 2, 3)
    places = [re.match(r"::(?:error|notice) file=([^,:]+),", command)[1] for command in commands_of(done.stdout)]
    assert set(places) <= {"kernels/wrong.py", "kernels/evil.py", "kernels/%3A%3Aerror%3A%3Ax.py"}
    assert "kernels/%3A%3Aerror%3A%3Ax.py" in places


def test_inputs_are_no_commands_of_the_shell(checkout):
    hostile = "$(touch pwned); `touch pwned`\nkernels/wrong.py\n--json; touch pwned"
    done = step("Check", {"files": hostile, "changed": "$(touch pwned)"}, checkout)
    assert done.returncode == 2
    assert not list(checkout.rglob("pwned*"))


def test_the_package_of_the_checkout_is_not_imported(checkout):
    done = step("Check", {"files": "kernels", "options": "--calls\n1\n--impl\ninterp"}, checkout)
    assert "stranger" not in done.stdout + done.stderr


def test_the_install_step_installs_this_tree(checkout, tmp_path):
    """Without the network: no dependency is fetched, setuptools is that of this Python."""
    (one,) = [step for step in ACTION["runs"]["steps"] if step["name"] == "Install refmlc"]
    source = tmp_path / "source"
    shutil.copytree(ROOT / "refmlc", source / "refmlc", symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    target = tmp_path / "target"
    surroundings = {
        **os.environ, "GITHUB_ACTION_PATH": str(source), "PIP_TARGET": str(target), "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }  # fmt: skip
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-eo", "pipefail", "-c", one["run"]],
        cwd=checkout, env=surroundings, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (target / "refmlc" / "cli" / "check.py").is_file()


def test_the_hook_skips_files_without_tvmscript(tmp_path, monkeypatch):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "setup.py").write_text("import os\n")
    (tmp_path / "wrong.py").write_text(WRONG)
    program, *words = hook["entry"].split()
    assert (program, hook["types"]) == ("refmlc", ["python"])
    told = CliRunner().invoke(main, [*words, "--calls", "1", "--impl", "interp", "setup.py", "wrong.py"])
    assert (told.exit_code, "1 file without TVMScript skipped" in told.stdout) == (1, True)
    assert CliRunner().invoke(main, [*words, "setup.py"]).exit_code == 0


def hook_of(folder, *names, args=()):
    """What pre-commit runs: the entry, the arguments of the user, the names of files; with the files there."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(WRONG)
    words = [*hook["entry"].split()[1:], "--calls", "1", "--impl", "interp", *args, *names]
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("name", ["-wrong.py", "--wrong.py", "-h.py", "-x/wrong.py", "--calls.py", "-", "-=.py"])
def test_the_hook_checks_files_whose_names_begin_with_a_dash(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = hook_of(tmp_path, name)
    assert (told.exit_code, "error[RM304]" in told.stdout) == (1, True), told.output


def test_the_hook_takes_no_option_from_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
    for name in ("--register=evil.py", "--strict", "--baseline=x.toml", "--", "--help"):
        told = hook_of(tmp_path, name)
        assert told.exit_code == 2, (name, told.output)
        assert f"`{name}` is an option and a file of the current folder" in told.output
        (tmp_path / name).unlink()
    assert not (tmp_path / "pwned").exists()


def test_options_of_the_hook_stay_options_and_a_baseline_may_begin_with_a_dash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert hook_of(tmp_path, "-wrong.py", args=("--baseline", "-b.toml", "--update-baseline")).exit_code == 0
    assert (tmp_path / "-b.toml").is_file()
    accepted = hook_of(tmp_path, "-wrong.py", args=("--baseline", "-b.toml"))
    assert (accepted.exit_code, "no findings" in accepted.stdout) == (0, True)
    assert hook_of(tmp_path, "-wrong.py", args=("--",)).exit_code == 1


def test_without_the_hook_a_dash_begins_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-wrong.py").write_text(WRONG)
    assert CliRunner().invoke(main, ["check", "-wrong.py"]).exit_code == 2
    assert CliRunner().invoke(main, ["check", "--calls", "1", "--impl", "interp", "--", "-wrong.py"]).exit_code == 1


def test_the_container_recipe_names_extras_that_exist_and_a_user():
    recipe = (ROOT / ".ci" / "Containerfile").read_text(encoding="utf-8")
    extras = re.search(r"/source\[([\w,]+)\]", recipe)[1].split(",")
    settings = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    assert [extra for extra in extras if f"\n{extra} =\n" not in settings] == []
    assert re.search(r"^USER refmlc$", recipe, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["refmlc"\]$', recipe, re.MULTILINE)
