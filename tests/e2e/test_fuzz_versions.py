"""A campaign against several versions at once: findings name theirs, in the ledger and on the page."""

import json
import shlex
import sys
from io import StringIO

from click.testing import CliRunner
from rich.console import Console

from refmlc.cli import main
from refmlc.cli.fuzz_screen import findings, verdicts
from refmlc.oracle.fuzz.store import progress_in

ADAPTER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "hello":
        reply = {"name": "thing", "version": sys.argv[1], "inline": True}
    elif sys.argv[1] == "3.0":
        reply = {"stop": "unsupported", "message": "it is new"}
    elif request["do"] == "prepare":
        reply = {"ok": True}
    else:
        reply = {"value": {"kind": "null"}, "args": request["args"]}
    print(json.dumps(reply), flush=True)
"""


def test_findings_of_several_versions_are_told_apart(tmp_path):
    adapter = tmp_path / "thing.py"
    adapter.write_text(ADAPTER)
    specs = [
        f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(adapter))} {version}" for version in ("1.0", "2.0", "3.0")
    ]
    words = [
        "fuzz",
        "--dir",
        str(tmp_path / "campaign"),
        "--time",
        "3s",
        "--shrink",
        "1",
        "--jobs",
        "1",
        "--aim",
        "none",
    ]
    files = ["--ledger", str(tmp_path / "ledger.sqlite"), "--page", str(tmp_path / "page.html"), "--json"]
    done = CliRunner().invoke(main, [*words, *(word for spec in specs for word in ("--impl", spec)), *files])
    assert done.exit_code == 1, done.output
    data = json.loads(done.stdout)
    assert data["programs"] % 5 == 0
    assert list(data["versions"].values()) == ["1.0", "2.0", "3.0"]
    wrong = {data["versions"][finding["path"]] for finding in data["findings"] if finding["verdict"] == "wrong"}
    assert wrong == {"1.0", "2.0"}
    ledger = CliRunner().invoke(main, ["fuzz", "ledger", str(tmp_path / "ledger.sqlite"), "--json"])
    rows = json.loads(ledger.stdout)["rows"]
    assert {row["version"] for row in rows} == {"1.0", "2.0"}
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "thing.py 1.0 1.0" in page
    assert "thing.py 2.0 2.0" in page
    narrow = Console(width=80, record=True, file=StringIO())
    progress = progress_in(tmp_path / "campaign")
    narrow.print(verdicts(progress), findings(progress))
    shown = narrow.export_text()
    assert all(shown.count(f" {version}: ") >= count for version, count in (("1.0", 2), ("2.0", 2), ("3.0", 1)))
