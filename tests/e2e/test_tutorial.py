"""Every command of README.md, the tutorials and the how-to guides, executed; every output that a page shows."""

import re

import needs
import pytest
from documents import ROOT, Block, agrees, blocks_of, command_of, run_page

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/tutorial").glob("*.md")),
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]


def needed(path):
    return sorted({name for block in blocks_of(path) for name in block.needs})


def cases():
    """Each page without what it needs besides, and each page with all of that."""
    for path in PAGES:
        name = f"{path.parent.name}/{path.stem}" if path.parent != ROOT else path.stem
        blocks = [block for block in blocks_of(path) if block.is_run and (block.file or block.language == "console")]
        if any(not block.needs for block in blocks):
            yield pytest.param(path, (), id=name)
        if needed(path):
            yield pytest.param(path, needed(path), id=f"{name}-whole", marks=pytest.mark.needs(*needed(path)))


@pytest.mark.parametrize(("path", "available"), list(cases()))
def test_the_commands_of_a_page_do_what_it_shows(path, available, tmp_path):
    run_page(path, tmp_path, available)


def test_the_tutorials_and_guides_run_commands():
    tutorials = [path for path in PAGES if path.parent.name == "tutorial" and path.stem != "index"]
    guides = [path for path in PAGES if path.parent.name == "how-to" and path.stem.startswith(("check-", "use-"))]
    assert len(tutorials) == 2
    assert len(guides) >= 11
    for path in (*tutorials, *guides):
        assert any(block.is_run and block.commands for block in blocks_of(path) if block.language == "console"), path


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_comment_that_marks_a_block_is_read(path):
    text = path.read_text(encoding="utf-8")
    marks = re.findall(r"^<!-- (?:needs|not run):", text, re.MULTILINE)
    assert len(marks) == sum(bool(block.needs) or not block.is_run for block in blocks_of(path))


@pytest.mark.parametrize(
    ("shown", "output", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a", "a\nb\n", False),
        ("a\n…", "a\nb\nc\n", True),
        ("…\nc", "a\nb\nc\n", True),
        ("…\nb", "a\nb\nc\n", False),
        ("1 … 3", "1 2 3", True),
        ("1 … 3", "1 2\n3", False),
        ("", "", True),
        ("", "a\n", False),
        ("a.c", "abc\n", False),
        ("…", "", True),
    ],
)
def test_how_outputs_are_compared(shown, output, same):
    assert agrees(shown, output) is same


def test_how_commands_are_read():
    block = Block("console", "$ one \\\n    --two   # exit status 3\nsaid\nmore\n$ other\n", (), is_run=True)
    first, second = block.commands
    assert (first.line, first.output, first.status) == ("one \\\n    --two", "said\nmore", 3)
    assert (second.line, second.output, second.status) == ("other", "", 0)
    assert command_of("a").status == 0


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```console\n$ echo a\nb\n```\n", "the page shows"),
        ("```console\n$ false\n```\n", "exit status 1, not 0"),
        ("```console\n$ true   # exit status 1\n```\n", "exit status 0, not 1"),
        ("```python\n# f.py\nprint(1)\n```\n\n```console\n$ python f.py\n2\n```\n", "the page shows"),
    ],
)
def test_a_page_that_shows_something_else_fails(page, wrong, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page, encoding="utf-8")
    with pytest.raises(AssertionError, match=wrong):
        run_page(path, tmp_path)


def test_marked_blocks_run_only_where_they_may(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "<!-- not run: it fails -->\n```console\n$ false\n```\n<!-- needs: tvm -->\n```console\n$ touch a\n```\n",
        encoding="utf-8",
    )
    for name, available in (("bare", ()), ("rich", ("tvm",))):
        folder = tmp_path / name
        folder.mkdir()
        run_page(path, folder, available)
        assert (folder / "a").exists() is bool(available)


def test_needs_are_known():
    assert {name for path in PAGES for name in needed(path)} <= set(needs.NEEDS)
