"""The documentation as a site: built without warning or network; every clause, code and command has its entry.

REFMLC_DOCS_BUILT names a folder that `python -m sphinx -nW docs FOLDER` has filled: it is not built again then.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from refmlc.cli import main
from refmlc.diag.catalogue import CODES
from refmlc.lang.spec import clauses

ROOT = Path(__file__).parents[2]
PLACES_OF_A_MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/\w")
CDN = re.compile(r"<(?:script|link)\b[^>]*\s(?:src|href)=\"(?:https?:)?//")
pytestmark = [pytest.mark.needs("docs"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if built := os.environ.get("REFMLC_DOCS_BUILT"):
        return Path(built)
    folder = tmp_path_factory.mktemp("docs")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")  # no network
    command = [sys.executable, "-m", "sphinx", "-nW", "--keep-going", "-q", str(ROOT / "docs"), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **nowhere}, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


def entries(pages, folder):
    """The ids of all elements in the pages of a folder."""
    return [
        name
        for path, text in pages.items()
        if path.startswith(f"reference/{folder}/")
        for name in re.findall(r"<\w+[^>]*? id=\"([^\"]+)\"", text)
    ]


def test_every_clause_has_its_anchor(pages):
    ids = entries(pages, "specification")
    assert {name: ids.count(name.lower()) for name in clauses()} == dict.fromkeys(clauses(), 1)


def test_every_code_has_its_anchor(pages):
    ids = entries(pages, "codes")
    assert {name: ids.count(name.lower()) for name in CODES} == dict.fromkeys(CODES, 1)


def test_every_command_has_its_entry_and_its_options(pages):
    ids = set(entries(pages, "commands"))
    context = click.Context(main)
    for name in main.list_commands(context):
        assert f"command-{name}" in ids, name
        options = [option for param in main.get_command(context, name).params for option in param.opts]
        wanted = {f"cmdoption-refmlc-{name}-{option.lstrip('-')}" for option in options if option.startswith("--")}
        assert wanted - ids == set()


def test_nothing_is_loaded_from_elsewhere(pages):
    assert [path for path, text in pages.items() if CDN.search(text)] == []


def test_no_page_has_a_place_of_this_machine(pages):
    assert [(path, hit[0]) for path, text in pages.items() if (hit := PLACES_OF_A_MACHINE.search(text))] == []


def test_a_clause_links_to_the_line_that_implements_it(pages):
    text = pages["reference/specification/tir-expressions.html"]
    target = re.search(r"source/(refmlc/run/interp/tensorir/expressions)\.html#line-(\d+)", text)
    assert f'id="line-{target[2]}"' in pages[f"source/{target[1]}.html"]
