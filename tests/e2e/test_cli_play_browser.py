"""The page of `refmlc play` in a real browser: edit, check, mark, trace, layout; text is never a script.

Needs the extra `browser` and a Chromium: the one of Playwright, or `chromium` in PATH.
"""

import threading

import pytest
from needs import imported

from refmlc.cli.playground.server import Playground

expect = imported("playwright", "playwright.sync_api").expect
SHIFT = """@T.prim_func
def shift(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        B[i] = A[i + 1]
"""
EVIL = "</script><img src=x onerror=alert(1)>"
HOSTILE = f"""# {EVIL}
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock({EVIL!r}):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi + 1]

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_dps_packed({EVIL!r}, (x,), out_sinfo=R.Tensor((3,), "float32"))
        return y
"""
SOON = 60_000  # milliseconds


@pytest.fixture(scope="module")
def playground():
    with Playground() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


class PlayPage:
    """The page, and what it asked the network for and said."""

    def __init__(self, browser, url):
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.requests, self.said = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.goto(url)

    def check(self, text):
        self.page.locator("#module").fill(text)
        self.page.locator("#check").click()
        expect(self.page.locator("#status")).not_to_have_text("working …", timeout=SOON)
        return self.page.locator("#status").inner_text()

    def marked(self):
        return self.page.locator("#gutter .bad").all_inner_texts()

    def tab(self, name):
        self.page.get_by_role("tab", name=name).click()

    def trace(self):
        self.tab("Trace")
        expect(self.page.locator("iframe")).to_be_visible(timeout=SOON)
        return self.page.frame_locator("iframe")


@pytest.fixture
def opened(browser, playground):
    seen = PlayPage(browser, playground.door.url)
    yield seen
    assert [url for url in seen.requests if not url.startswith((playground.door.url, "data:image/svg"))] == []
    assert seen.said == []
    seen.context.close()


def test_a_module_is_checked_its_line_marked_and_its_call_traced(opened):
    assert opened.check(SHIFT).endswith("1 finding (RM304)")
    assert opened.marked() == ["4"]
    expect(opened.page.locator("#verdicts .finding pre")).to_contain_text("RM304")
    assert "meaning" in opened.page.locator("#verdicts table").inner_text()
    frame = opened.trace()
    expect(frame.locator("#failure summary")).to_contain_text("Undefined RM304", timeout=SOON)
    frame.locator("#last").click()
    expect(frame.locator("#event")).to_contain_text("the run ends: RM304")


def test_an_edit_takes_the_marks_away_and_a_right_module_has_none(opened):
    opened.check(SHIFT)
    opened.page.locator("#module").fill(SHIFT.replace("i + 1", "i"))
    assert opened.marked() == []
    assert opened.check(SHIFT.replace("i + 1", "i")).endswith("no findings")
    assert opened.marked() == []
    assert opened.page.locator("#status").get_attribute("class") == "good"
    assert "function" in opened.page.locator("#verdicts table").inner_text()


def test_what_cannot_be_read_is_marked(opened):
    assert opened.check("@T.prim_func\ndef f(:\n").startswith("RM101: ")
    assert opened.marked() == ["2"]
    opened.page.locator("#verdicts button").click()
    assert opened.page.evaluate("getSelection().toString()") == "def f(:"


def test_an_example_is_picked_checked_and_drawn(opened):
    opened.page.locator("#examples").select_option(label="softmax of Relax")
    expect(opened.page.locator("#status")).to_contain_text("no findings", timeout=SOON)
    opened.tab("Layout")
    expect(opened.page.get_by_role("img", name="graph of main")).to_be_visible()
    assert opened.page.evaluate("document.querySelector('#layout img').naturalWidth") > 50
    assert "T_softmax_expsum" in opened.page.locator("#layout table").inner_text()
    assert "v_k reduce 6" in opened.page.locator("#layout pre").inner_text()
    opened.tab("Printed")
    assert "def softmax" in opened.page.locator("#shown").inner_text()


def test_line_numbers_are_as_many_as_lines(opened):
    opened.page.locator("#module").fill("\n" * 120)
    assert opened.page.locator("#gutter div").count() == 121


def test_text_that_would_be_a_script_is_text(opened):
    opened.check(HOSTILE)
    assert opened.marked() == ["9"]
    frame = opened.trace()
    expect(frame.locator("#code")).to_contain_text(EVIL, timeout=SOON)
    opened.tab("Layout")
    assert EVIL in opened.page.locator("#layout pre").inner_text()
    opened.tab("Printed")
    assert EVIL in opened.page.locator("#shown").inner_text()
    assert opened.page.locator("img[src=x]").count() == 0
    assert opened.page.locator("script").count() == 2


def test_the_frame_of_a_trace_reaches_neither_the_page_nor_the_server(opened):
    opened.check(SHIFT)
    opened.trace()
    frame = opened.page.frames[1]
    assert frame.evaluate("origin") == "null"
    reached = "() => { try { return parent.document.title } catch (problem) { return problem.name } }"
    assert frame.evaluate(reached) == "SecurityError"
    asked = "() => fetch(location.href).then(() => 'sent', (problem) => problem.name)"
    assert frame.evaluate(asked) == "TypeError"
    assert [word for word in opened.said if "Content Security Policy" in word]
    opened.said.clear()
