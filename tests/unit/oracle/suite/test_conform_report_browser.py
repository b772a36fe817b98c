"""The page in a real browser: what is shown, filtered, reached by keys; no request, no error, no script of the data.

Needs the extra `browser` and a Chromium: the one of Playwright, or `chromium` in PATH.

The page draws a new state when the browser tells it of the new address, which is after the click has returned: what
follows an action is therefore expected (waited for), not read once.
"""

import re
from dataclasses import replace

import pytest
from in_browser import Seen
from needs import imported
from test_conform_report import EVIL, SUITE, everything, good, one

from refmlc.oracle.suite.report.page import page as page_text
from refmlc.oracle.suite.result import CaseVerdict

sync_api = imported("playwright", "playwright.sync_api")
expect = sync_api.expect


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The page of two implementations, a case of which tries to be a script."""
    evil = replace(SUITE.cases[0], id=EVIL, text=f"# {EVIL}\n{SUITE.cases[0].text}")
    suite = replace(SUITE, cases=(*SUITE.cases, evil))
    first = everything()
    results = (*first.results, replace(one("evil", CaseVerdict.FAIL, EVIL), id=EVIL))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_text(suite, [replace(first, results=results), good()]), encoding="utf-8")
    return path


class ReportPage(Seen):
    """The page, and where its parts stand."""

    def cases(self):
        return self.page.locator("#detail .list .mono").all_inner_texts()


@pytest.fixture
def opened(browser, file):
    made = []

    def open_page(address="", **options):
        made.append(ReportPage(browser.new_context(**options), file, address))
        return made[-1]

    yield open_page
    for seen in made:
        assert seen.requests == [seen.requests[0]]
        assert seen.requests[0].startswith("file:")
        assert seen.said == []
        seen.context.close()


def test_what_is_not_as_expected_is_shown_first(opened):
    seen = opened()
    assert seen.page.title() == "Conformance · suite slice"
    assert seen.page.locator(".card .state").all_inner_texts() == ["✗ 8 not as expected", "✓ all as expected"]
    assert set(seen.cases()) == {
        EVIL,
        *(f"hand.{n}" for n in ["sub", "trap", "mul", "div", "tiny", "min"]),
    }
    assert seen.cases()[0] == "hand.div"


def test_from_the_matrix_to_the_case_and_its_difference(opened):
    seen = opened()
    detail = seen.page.locator("#detail")
    seen.page.get_by_role("button", name="NUM-101, cmd:").click()
    expect(seen.page).to_have_url(re.compile("#clause=NUM-101&impl=0$"))
    expect(detail.locator("h2")).to_contain_text("add, sub, mul")
    detail.locator(".list button", has_text="hand.sub").click()
    expect(detail.locator("h2")).to_have_text("hand.sub")
    assert detail.locator(".rows tbody td").all_inner_texts() == [
        "`C`[1]",
        "2.5 (0x1.4p+1)",
        "2.0 (0x1p+1)",
        "0x1p+0 … 0x1p+2",
    ]
    assert "C[i] = A[i] - B[i]" in detail.locator(".code").inner_text()
    assert detail.locator(".code .k").count() > 0
    assert "value 3: a tensor (3,) of float32: 0.0, -0.5, 1.0" in detail.inner_text()
    seen.page.go_back()
    expect(detail.locator(".list")).to_have_count(1)


def test_the_place_where_a_call_must_stop_is_marked(opened):
    seen = opened("#case=hand.trap")
    assert "assert" in seen.page.locator(".code .marked").inner_text()


def test_a_known_deviation_says_why(opened):
    seen = opened("#case=hand.max")
    said = seen.page.locator("#detail .verdict.known").inner_text()
    assert "nan (fail): NaN is lost: floats are taken for ordered" in said


def test_filters(opened):
    seen = opened()
    status = seen.page.locator("#shown")
    expect(status).to_have_text("12 cases")
    seen.page.locator("#query").fill("sigsegv")
    expect(status).to_have_text("1 of 12 cases")
    assert seen.cases() == ["hand.div"]
    seen.page.locator("#query").fill("")
    seen.page.get_by_role("checkbox", name="timeout", exact=True).check()
    expect(status).to_have_text("1 of 12 cases")
    seen.page.get_by_role("checkbox", name="crash", exact=True).check()
    expect(status).to_have_text("2 of 12 cases")
    seen.page.get_by_role("checkbox", name="timeout", exact=True).uncheck()
    seen.page.get_by_role("checkbox", name="crash", exact=True).uncheck()
    seen.page.get_by_role("checkbox", name="not as expected", exact=True).check()
    expect(status).to_have_text("7 of 12 cases")
    seen.page.locator("#query").fill("nothing has this name")
    expect(seen.page.locator("#matrix")).to_contain_text("No case matches the filter.")


def test_keys_alone_are_enough(opened):
    seen = opened()
    keys = seen.page.keyboard
    keys.press("/")
    expect(seen.page.locator("#query")).to_be_focused()
    keys.type("hand.sub")
    seen.page.locator('#matrix [tabindex="0"]').focus()
    keys.press("ArrowRight")
    assert "cmd:" in seen.page.evaluate("document.activeElement.getAttribute('aria-label')")
    keys.press("Enter")
    expect(seen.page.locator("#detail")).to_be_focused()
    seen.page.locator("#detail .list button").focus()
    keys.press("Enter")
    expect(seen.page.locator("#detail h2")).to_have_text("hand.sub")
    keys.press("Escape")
    expect(seen.page).to_have_url(re.compile("#clause=NUM-101"))
    keys.press("Escape")
    expect(seen.page).to_have_url(re.compile("#$"))


def test_a_group_folds(opened):
    seen = opened()
    fold = seen.page.get_by_role("button", name="Numbers")
    rows = seen.page.locator("#matrix tr[data-clause]")
    before = rows.count()
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "false")
    assert rows.count() < before


def test_text_that_would_be_a_script_is_text(opened):
    seen = opened()
    seen.page.locator("#detail .list .mono", has_text="onerror").click()
    expect(seen.page.locator("#detail h2")).to_contain_text("<img src=x onerror=alert(1)>")
    assert seen.page.locator("img").count() == 0
    assert seen.page.locator("script").count() == 2
    assert seen.page.title() == "Conformance · suite slice"


def test_it_fits_narrow_and_wide_in_light_and_dark(opened):
    for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
        seen = opened(color_scheme=scheme)
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == colour
        for address, heading in (
            ("", "Not as expected"),
            ("#clause=NUM-101", "add, sub, mul"),
            ("#case=hand.sub", "hand.sub"),
        ):
            seen.page.evaluate("address => { location.hash = address; }", address)
            expect(seen.page.locator("#detail h2")).to_contain_text(heading)
            for width in (380, 768, 1400):
                seen.page.set_viewport_size({"width": width, "height": 800})
                assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [380, 1100])
def test_a_verdict_is_not_cut_off_by_a_long_name(browser, tmp_path, width):
    path = tmp_path / "long.html"
    path.write_text(page_text(SUITE, [replace(everything(), implementation=f"cmd:./mine{' --with-an-option' * 9}")]))
    seen = ReportPage(browser.new_context(viewport={"width": width, "height": 800}), path, "")
    ends = (
        "all => all.map(one => [one.getBoundingClientRect().right, one.closest('.list').getBoundingClientRect().right])"
    )
    found = seen.page.locator("#detail .list .badge").evaluate_all(ends)
    seen.context.close()
    assert found
    assert all(end <= edge for end, edge in found)


def test_without_scripts_the_figures_are_there(browser, file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator(".card").count() == 2
    assert "JavaScript, which is switched off" in page.locator("noscript").inner_text()
    context.close()
