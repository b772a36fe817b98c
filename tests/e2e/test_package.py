"""What the packages hold: the wheel has every file that the documents name, the sdist has the tests."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from refmlc.cli import main

ROOT = Path(__file__).parents[2]
TEXTS = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md")
PARTS = ("refmlc", "kernels_c", "conformance", "docs", "tests", *TEXTS)
SETTINGS = ("setup.cfg", "pyproject.toml", "MANIFEST.in")
IN_WHEEL = (
    "refmlc/oracle/suite/data/adapters/README.md",
    "refmlc/oracle/suite/data/adapters/PROTOCOL.md",
    "refmlc/oracle/suite/data/adapters/template.c",
    "refmlc/oracle/suite/data/adapters/template.py",
    "refmlc/oracle/suite/data/README.md",
    "refmlc/oracle/suite/data/FINDINGS.md",
    "refmlc/oracle/suite/data/VERSION",
    "refmlc/debug/dap/PROTOCOL.md",
    "refmlc/debug/vscode/extension.js",
    "refmlc/debug/vscode/package.json",
    "refmlc/debug/vscode/LICENSE",
    "refmlc/native/headers/rm_types.h",
)
IN_SDIST = (
    *TEXTS,
    "docs/how-to/use-in-pytest.md",
    "docs/tutorial/a-wrong-gemm.md",
    "tests/conftest.py",
    "tests/e2e/test_package.py",
    "conformance/spec/graph-operators.md",
    "kernels_c/rm_types.h",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sdist and the wheel, built by setuptools as pip does, without the network."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    source.mkdir()
    for part in PARTS + SETTINGS:
        (source / part).symlink_to(ROOT / part)
    for step in ("build_sdist", "build_wheel"):
        script = f"import sys; from setuptools import build_meta; build_meta.{step}(sys.argv[1])"
        command = [sys.executable, "-c", script, str(folder)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


def test_the_wheel_has_what_the_documents_name(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as found:
        names = set(found.namelist())
        (metadata,) = (found.read(name).decode() for name in names if name.endswith("METADATA"))
    assert set(IN_WHEEL) - names == set()
    assert "Project-URL:" in metadata
    assert "Author:" in metadata


def test_the_sdist_has_the_tests(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as found:
        names = {name.partition("/")[2] for name in found.getnames()}
    assert set(IN_SDIST) - names == set()


def test_the_adapter_is_written_and_what_is_there_is_kept(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "template.py").write_text("mine", encoding="utf-8")
    done = CliRunner().invoke(main, ["conform", "adapter", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    assert (folder / "template.py").read_text(encoding="utf-8") == "mine"
    assert (folder / "template.c").read_bytes() == (ROOT / "conformance/adapters/template.c").read_bytes()
    assert {path.name for path in folder.iterdir()} == {"README.md", "PROTOCOL.md", "template.c", "template.py"}


def test_findings_are_printed():
    done = CliRunner().invoke(main, ["conform", "findings"])
    assert (done.exit_code, done.output) == (0, (ROOT / "conformance/FINDINGS.md").read_text(encoding="utf-8"))


def editor(folder, body):
    """A command `code` that does what `body` says."""
    path = folder / "code"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class TestVscode:
    def test_the_editor_gets_a_package(self, tmp_path, monkeypatch):
        editor(tmp_path, f'cp "$2" {tmp_path}/got.vsix; echo "$1 $3" > {tmp_path}/options')
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
        done = CliRunner().invoke(main, ["vscode", "--install"])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "options").read_text(encoding="utf-8").split() == ["--install-extension", "--force"]
        with zipfile.ZipFile(tmp_path / "got.vsix") as package:
            assert "extension/extension.js" in package.namelist()

    def test_an_editor_that_fails_is_quoted(self, tmp_path):
        path = editor(tmp_path, "echo 'no room left' >&2; exit 7")
        done = CliRunner().invoke(main, ["vscode", "--install", "--editor", str(path)])
        assert done.exit_code == 2
        assert "exit 7" in done.output
        assert "no room left" in done.output

    def test_without_an_editor_the_way_out_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        done = CliRunner().invoke(main, ["vscode", "--install"])
        assert done.exit_code == 2
        assert "refmlc vscode -o FILE" in done.output

    def test_the_package_alone(self, tmp_path):
        target = tmp_path / "debugger.vsix"
        done = CliRunner().invoke(main, ["vscode", "-o", str(target)])
        assert done.exit_code == 0, done.output
        assert zipfile.is_zipfile(target)
