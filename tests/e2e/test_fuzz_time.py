"""`refmlc fuzz --time`: the command ends when it says, with implementations that start slowly and never answer."""

import json
import shlex
import sys
import time
from pathlib import Path

from click.testing import CliRunner

from refmlc.cli import main
from refmlc.oracle.fuzz import campaign

TIME, LEFT, SHRINK = 2.0, 1.0, 0.5
STARTS = 0.5  # seconds, each
SLOW = """import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    time.sleep({starts} if request["do"] == "hello" else 600)
    print(json.dumps({{"name": "slow {name}"}}), flush=True)
"""


def test_a_campaign_with_three_slow_implementations_keeps_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "LEFT", LEFT)
    impls = []
    for name in "abc":
        script = tmp_path / f"{name}.py"
        script.write_text(SLOW.format(name=name, starts=STARTS), "utf-8")
        impls += ["--impl", f"cmd:{shlex.join([sys.executable, str(script)])}"]
    ledger, page = tmp_path / "ledger.sqlite", tmp_path / "page.html"
    files = ("--dir", str(tmp_path / "campaign"), "--ledger", str(ledger), "--page", str(page))
    options = ("--time", f"{TIME:g}s", "--shrink", f"{SHRINK:g}", "--jobs", "2", "--json")
    begin = time.monotonic()
    result = CliRunner().invoke(main, ["fuzz", *impls, *files, *options])
    took = time.monotonic() - begin
    assert result.exit_code == 0, result.output
    assert took < TIME + SHRINK + LEFT + campaign.CLOSING
    assert "2 batches did not end in time and do not count" in result.stderr
    assert json.loads(result.stdout)["this_run"]["programs"] == 0
    assert "<html" in Path(page).read_text("utf-8")
    assert ledger.stat().st_size
