"""The page of a campaign and its coverage: what they show, and that text from outside stays text."""

import re

import pytest
from in_browser import Seen
from needs import need

from refmlc.oracle.fuzz.coverage_report import coverage_of
from refmlc.oracle.fuzz.page import PIECES, campaign_page, curve, write_campaign_page
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord, Progress
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.primitives.staged import PRIMITIVES

EVIL = "</pre><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"


def finding(number, signature, message="it is 3", count=1, text="a program"):
    return FindingRecord(
        signature,
        "RM708",
        EVIL,
        "compiler error",
        f"it fails\n{message}",
        number,
        7,
        "functions",
        {"text": text},
        count,
    )


@pytest.fixture
def progress():
    """A campaign of 40 batches, in the first half of which four causes are found."""
    made = Progress(CampaignSettings(size=10, kinds=("functions", "primitives"), exclude=("exp",)))
    made.versions = {EVIL: EVIL}
    made.ledger = {"b": "earlier", "c": f"judged {EVIL}"}
    for number in range(40):
        findings = {0: ("a", EVIL), 5: ("b", "x"), 10: ("c", "y"), 15: ("d", "as the known row r-1")}
        found = [finding(number, *findings[number], text=f"# {EVIL}")] if number in findings else []
        bases = {EVIL: ("one", "two", "two")} if number == 0 else {}
        coverage = {"operators": ("exp2",), "primitives": ("split",), EVIL: (EVIL,)}
        reasons = {EVIL: {f"unsupported: {EVIL}": 3}}
        verdicts = {EVIL: {"equal": 9, EVIL: 1}, "interp": {"defined": 9}}
        made.add(
            BatchResult(number, 10, verdicts, coverage, tuple(found), {EVIL: 1}, 0.5, reasons=reasons, bases=bases)
        )
    return made


def test_what_a_campaign_did_not_cover_is_named(progress):
    families = coverage_of(progress)
    assert families["primitives"].covered == ("split",)
    assert set(families["primitives"].missing) == {*PRIMITIVES} - {"split"}
    assert families["operators"].covered == ("exp2",)
    assert "exp" not in families["operators"].missing
    assert families["operators"].excluded == ("exp",)
    assert families["operators"].count == len(families["operators"].missing) + 2
    assert families["verdicts"].covered == ("equal",)
    assert {"wrong", "refused"} <= set(families["verdicts"].missing)
    assert families["outcomes"].covered == ()


def test_a_campaign_without_a_subject_has_no_family_of_it():
    assert "primitives" not in coverage_of(Progress(CampaignSettings()))


def test_the_curve_has_the_causes_where_they_were_found(progress):
    shown = curve(progress)
    assert shown is not None
    assert (len(shown.bars), shown.programs) == (PIECES, 400)
    rates = [float(re.search(r"([\d,.]+) new causes", bar.title)[1].replace(",", "")) for bar in shown.bars]
    # a piece has 20 programs: one cause in it is 500 per 10,000
    assert [at for at, rate in enumerate(rates) if rate] == [0, 2, 5, 7]
    assert set(rates) == {0.0, 500.0}
    assert sum(rates) * 20 / 10_000 == 4
    assert [bar.height for bar in shown.bars if bar.height] == [156.0] * 4
    assert curve(Progress(CampaignSettings())) is None


def test_nothing_on_the_page_is_markup_of_the_campaign(progress):
    text = campaign_page(progress)
    assert "<script" not in text
    assert "<img" not in text
    assert text.count("&lt;script&gt;") > 10
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


def test_a_campaign_without_findings_has_a_page():
    assert "There are none." in campaign_page(Progress(CampaignSettings()))


@pytest.fixture
def page(browser, progress, tmp_path):
    need("chromium")
    write_campaign_page(progress, tmp_path / "page.html")
    context = browser.new_context()
    seen = Seen(context, tmp_path / "page.html")
    yield seen.page
    assert seen.requests == [(tmp_path / "page.html").as_uri()]
    assert seen.said == []
    context.close()


def test_the_page_in_a_browser(page):
    assert page.title() == "campaign of 400 programs, 4 findings"
    assert page.locator("#curve rect").count() == PIECES
    assert page.locator("#curve rect").first.bounding_box()["height"] > 100
    states = page.locator(".finding .state").all_inner_texts()
    assert states[0] == "new"  # new ones stand first
    assert set(states) == {"new", "earlier", f"judged {EVIL}", "known r-1"}
    page.locator(".finding summary").first.click()
    assert page.locator(".finding .program").first.inner_text() == f"# {EVIL}"
    assert page.locator("#verdicts tr").nth(1).locator("td").all_inner_texts()[0] == EVIL
    assert page.locator("text=2 of 3 counted").count() == 1
