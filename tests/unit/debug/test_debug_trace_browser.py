"""The page of a trace in a real browser: clicks and keys, the NaN story, links, no request, no error.

The program is the transformer block of `tests/golden/debug`, whose softmax forgets to subtract the maximum. Needs the
extra `browser` and a Chromium: the one of Playwright, or `chromium` in PATH.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from in_browser import Seen
from needs import imported
from test_debug_trace import BEYOND, EVIL, HEAD, SUM, evil, traced
from warp_specialised import CONSUMER_WAIT, COPY, PRODUCER_WAIT, SYNC, changed, program

import refmlc
from refmlc.debug import Program
from refmlc.debug.trace import record
from refmlc.debug.trace.page import framed, page
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

expect = imported("playwright", "playwright.sync_api").expect
TRANSFORMER = Path(__file__).parents[2] / "golden" / "debug" / "transformer.py"
EXP, DIVIDE = 16, 26  # lines of its text
STOPS = f"""{HEAD}
@T.prim_func(s_tir=True)
def stops(A: T.Buffer((3,), "float32")):
    for i in range(3):
        assert A[i] < T.float32(2), {EVIL!r}
        A[i] = T.float32(0)
"""
BLOCKS = """from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4, 32), "int32"), B: T.Buffer((4, 32), "int32")):
    T.device_entry()
    b = T.cta_id([3])
    t = T.thread_id([1024])
    T.cuda.cta_sync()
    B[b, t // 32] = 1
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The pages, by what they are of."""
    args = [Tensor.empty((3,), FLOAT32), Tensor.empty((1,), FLOAT32)]
    three = np.array([1, 2, 3], np.float32)
    texts = {
        "nan": page(story()),
        "undefined": page(traced(BEYOND, [three, args[0]], "beyond")),
        "evil": page(evil()),
        "sampled": page(traced(SUM, [np.arange(100, dtype=np.float32), args[1]], "total", max_events=40)),
        "trap": page(traced(STOPS, [three], "stops")),
        "threads": page(threads()),
        "blocks": page(record(program(BLOCKS))),
        "deadlock": page(record(program(changed(("// 2 % 2 ^ 1)", "// 2 % 2)"))))),
        "frame": f"<!DOCTYPE html><title>notebook</title>{framed(evil())}",
    }
    folder = tmp_path_factory.mktemp("trace")
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def threads():
    """The trace of a ring of two tiles between two warps, with a hostile text in place of a wait."""
    trace = record(program())
    trace.threads.waits[1] = replace(trace.threads.waits[1], text=EVIL)
    return trace


def story():
    """The trace of the block whose scores are 0, 200 and -200 but for one row: e**200 is beyond float32."""
    x = np.zeros((4, 16), np.float32)
    x[1, :2] = 200.0, 1.0
    eye = np.eye(16, dtype=np.float32)
    wk = np.zeros((16, 16), np.float32)
    wk[1, 0] = 1.0  # scores[1, 1] = x[1, 0] * x[1, 1]
    args = [x, eye, wk, eye, np.ones((16, 8), np.float32), np.ones((8, 16), np.float32)]
    return record(Program(refmlc.read_file(TRANSFORMER), "main", args))


class TracePage(Seen):
    """The page, and where its parts stand."""

    def event(self):
        return self.page.locator("#event").inner_text().partition(": ")[2]

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self.event()

    def path(self):
        return self.page.locator("#path li").all_inner_texts()

    def line(self):
        return int(self.page.locator("#code .row.now button").inner_text())

    def caption(self, name):
        return self.page.locator("figure", has=self.page.locator(f'b:text-is("{name}")')).inner_text()


@pytest.fixture
def opened(browser, files):
    made = []

    def open_page(name, address="", **options):
        made.append(TracePage(browser.new_context(**options), files / f"{name}.html", address))
        return made[-1]

    yield open_page
    for seen in made:
        assert [url for url in seen.requests if not url.startswith(("file:", "about:srcdoc"))] == []
        assert len([url for url in seen.requests if url.startswith("file:")]) == 1
        assert seen.said == []
        seen.context.close()


def test_the_first_nan_of_a_softmax_without_maximum_and_where_it_was_born(opened):
    seen = opened("nan")
    assert seen.press("n") == "weights[1, 1] = nan"  # inf / inf
    assert seen.line() == DIVIDE
    assert seen.path()[-4:] == ["block root", "i = 1", "j = 1", "block divide: vi = 1, vj = 1"]
    assert "1 NaN" in seen.caption("weights")
    assert "10 uninitialised" in seen.caption("weights")  # of 16, six are written
    assert seen.press("ArrowLeft") == "total[1] is read: inf"
    assert seen.press("ArrowLeft") == "exp[1, 1] is read: inf"
    assert seen.press("i") == "exp[1, 1] = inf"
    assert seen.line() == EXP
    assert seen.press("ArrowLeft") == "scores[1, 1] is read: 200"
    assert "0 … 200" in seen.caption("scores")
    assert seen.page.locator("svg rect.bad").count() >= 3  # weights, and what is computed of it


def test_why_tells_the_chain_to_the_input_and_w_goes_back_along_it(opened):
    seen = opened("nan")
    seen.press("n")
    links = seen.page.locator("#why li")
    expect(links).to_have_text([
        re.compile(r"^weights\[1, 1\] = nan.*exp\[1, 1\] = inf, total\[1\] = inf$"),
        re.compile(r"^exp\[1, 1\] = inf.*scores\[1, 1\] = 200$"),
        re.compile(r"^matmul\[1, 1\] = 200 after 17 stores to it.*x1\[1, 0\] = 200, "),
        re.compile(r"^matmul\[1, 0\] = 200 after 17 stores to it.*x1\[1, 0\] = 200, "),
        re.compile(r"^x1\[1, 0\] = 200: an argument: x\[1, 0\]$"),
    ])  # fmt: skip
    assert seen.press("w") == "exp[1, 1] = inf"
    assert seen.line() == EXP
    assert seen.press("w") == "matmul[1, 1] = 200"
    expect(links).to_have_count(3)
    assert seen.press("w") == "matmul[1, 0] = 200"
    assert seen.press("w", "w").endswith("(an argument: x[1, 0])")
    seen.page.locator("#inf").click()
    links.nth(1).locator("button").click()
    assert seen.event() == "matmul[1, 1] = 200"


def test_a_click_on_an_element_goes_back_to_where_it_was_written(opened):
    seen = opened("nan")
    seen.press("n")
    drawn = seen.page.locator("figure", has=seen.page.locator('b:text-is("exp")')).locator("canvas")
    size = drawn.bounding_box()["width"] / 4
    drawn.click(position={"x": 1.5 * size, "y": 1.5 * size})
    assert seen.event() == "exp[1, 1] = inf"
    drawn.click(position={"x": 2.5 * size, "y": 0.5 * size})
    assert seen.event() == "exp[0, 2] = 1"  # e**0
    drawn.click(position={"x": 2.5 * size, "y": 2.5 * size})  # not written yet
    assert seen.event() == "exp[0, 2] = 1"


def test_a_sampled_page_does_not_make_up_what_is_omitted(opened):
    seen = opened("sampled")
    seen.press("End", "ArrowLeft")  # the last statement: B[0] + A[99]
    assert seen.event() == "B[0] = 4950"
    expect(seen.page.locator("#why li").first).to_have_text(re.compile(r"B\[0\] = 4851, A\[99\] = 99"))
    expect(seen.page.locator("#why li").last).to_have_text("B[0] = 4851: stored by an omitted event")


def test_touched_elements_are_marked_and_unwritten_ones_hatched(opened):
    seen = opened("nan")
    seen.press("n")
    colours = """(name) => {
        const figures = [...document.querySelectorAll("figure")];
        const figure = figures.find((one) => one.querySelector("b").textContent === name);
        const drawn = figure.querySelector("canvas"), canvas = document.createElement("canvas"), size = drawn.width / 4;
        canvas.width = drawn.width;
        canvas.height = drawn.height;
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(drawn, 0, 0);
        const at = (r, c, y, x) => [...context.getImageData(c * size + x, r * size + y, 1, 1).data].slice(0, 3).join();
        const all = (r, c) => [...context.getImageData(c * size, r * size, size, size).data];
        const found = new Set();
        const data = all(3, 3);
        for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
        return { middle: at(1, 1, size / 2, size / 2), rim: at(1, 1, 1, size / 2), last: [...found].sort() };
    }"""
    weights = seen.page.evaluate(colours, "weights")
    assert weights == {"middle": "209,0,209", "rim": "217,119,6", "last": ["136,136,136", "221,221,221"]}
    read = seen.page.evaluate(colours, "exp")
    assert (read["middle"], read["rim"]) == ("0,194,194", "26,127,55")
    assert len(read["last"]) == 1  # written: one colour


def test_keys_and_buttons_move_in_time(opened):
    seen = opened("nan")
    assert seen.event() == "main is called"
    assert seen.press("ArrowRight") == "q is about to be computed"
    assert seen.press("ArrowRight") == "matmul is called"
    assert seen.press("ArrowUp") == "q is about to be computed"
    assert seen.press("ArrowDown", "ArrowDown") == "k is about to be computed"
    assert seen.press("End") == "main returns"
    assert seen.page.locator("#forward").is_disabled()
    assert seen.press("ArrowRight") == "main returns"
    seen.page.locator("#back").click()
    assert seen.event().startswith("y is bound, ")
    seen.page.locator("#first").click()
    assert seen.event() == "main is called"
    assert seen.press("Shift+ArrowRight", "Shift+ArrowLeft") == "main is called"
    seen.page.locator("#nan").click()
    assert seen.event() == "weights[1, 1] = nan"


def test_a_click_on_the_graph_goes_into_what_the_binding_calls(opened):
    seen = opened("nan")
    seen.page.locator('svg rect[data-variable="weights"]').click()
    assert seen.event() == "softmax is called"
    assert seen.path() == ["main is called", "weights is about to be computed", "softmax is called"]
    assert seen.page.locator("svg rect.now").get_attribute("data-variable") == "weights"
    assert "16 uninitialised" in seen.caption("weights")
    seen.page.locator('svg rect[data-variable="q"]').focus()
    seen.press("Enter")
    assert seen.path() == ["main is called", "q is about to be computed", "matmul is called"]


def test_a_click_on_a_line_goes_to_its_next_event(opened):
    seen = opened("nan")
    seen.page.locator("#code .row button", has_text=str(EXP)).click()
    assert seen.line() == EXP
    assert seen.path()[-1] == "block exp: vi = 0, vj = 0"


def test_an_address_is_a_moment(opened):
    seen = opened("nan")
    seen.press("n")
    link = seen.page.locator("#link").get_attribute("href")
    seen.page.wait_for_function("link => location.hash === link", arg=link)
    again = opened("nan", link)
    assert again.event() == "weights[1, 1] = nan"
    again.page.evaluate("location.hash = '#step=0'")
    again.page.wait_for_function("document.getElementById('step').value === '0'")
    assert again.event() == "main is called"
    again.page.locator("#step").fill(link.removeprefix("#step="))
    again.page.locator("#step").press("Enter")
    assert again.event() == "weights[1, 1] = nan"


def test_a_moment_is_the_same_from_either_side(opened):
    seen = opened("nan")
    pictures = "[...document.querySelectorAll('canvas')].map((one) => one.toDataURL()).join()"
    seen.press("n")
    forward = seen.page.evaluate(pictures)
    seen.press("End", "n")
    assert seen.page.evaluate(pictures) == forward
    seen.press("Home", "n", "ArrowRight", "ArrowLeft")
    assert seen.page.evaluate(pictures) == forward


def test_every_moment_backwards_is_the_one_that_was_forwards(opened):
    seen = opened("nan")
    walked = """([key, times]) => {
        const found = [];
        for (let k = 0; k < times; k++) {
            document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const captions = [...document.querySelectorAll("figcaption")].map((one) => one.textContent).join();
            found.push(document.getElementById("event").textContent + captions);
        }
        return found;
    }"""
    seen.page.locator('svg rect[data-variable="weights"]').click()  # a call, allocations, stores
    seen.page.evaluate(walked, ["ArrowLeft", 60])
    forwards = seen.page.evaluate(walked, ["ArrowRight", 200])
    backwards = seen.page.evaluate(walked, ["ArrowLeft", 199])
    assert backwards == forwards[-2::-1]
    assert len(set(forwards)) > 190
    assert any("exp is allocated" in one for one in forwards)


def test_the_end_of_an_undefined_run_is_shown(opened):
    seen = opened("undefined")
    assert "Undefined RM304" in seen.page.locator("#failure summary").inner_text()
    assert seen.press("End").startswith("the run ends: RM304 ")
    assert seen.path() == ["beyond is called", "i = 3"]
    assert seen.line() == 8
    assert seen.page.locator("#nan").is_disabled()


def test_sampling_is_said_on_the_page(opened):
    seen = opened("sampled")
    assert "of 403 events" in seen.page.locator("#sampling").inner_text()
    assert "1 uninitialised or omitted" in seen.caption("B")
    seen.press("End")
    assert "step 402" in seen.page.locator("#event").inner_text()
    assert "4950" in seen.caption("B")
    assert opened("nan").page.locator("#sampling").count() == 0


def test_text_that_would_be_a_script_is_text(opened):
    seen = opened("evil")
    assert EVIL in seen.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert EVIL in seen.page.locator("#code").inner_text()
    assert seen.page.title() == "Trace of main"
    assert seen.page.locator("img").count() == 0
    assert seen.page.locator("script").count() == 2


def test_a_failure_whose_words_would_be_a_script_is_text(opened):
    seen = opened("trap")
    assert EVIL in seen.page.locator("#failure summary").inner_text()
    seen.page.locator("#failure summary").click()
    assert EVIL in seen.page.locator("#failure pre").inner_text()
    assert EVIL in seen.press("End")
    assert seen.page.title() == "Trace of stops"
    assert (seen.page.locator("img").count(), seen.page.locator("script").count()) == (0, 2)


def test_who_goes_by_the_keyboard_keeps_the_place(opened):
    seen = opened("nan")
    seen.press("n")
    row = seen.page.locator("#path li button").nth(4)
    row.focus()
    assert seen.press("Enter") == "i = 1"
    assert seen.page.evaluate("document.activeElement.textContent") == "i = 1"
    assert seen.press("n") == "weights[1, 1] = nan"
    bare = """[...document.querySelectorAll("button, [role=button], [role=region], section, canvas")].filter(
        (one) => !(one.getAttribute("aria-label") || one.textContent.trim()))"""
    assert seen.page.evaluate(f"{bare}.length") == 0


def test_in_the_frame_of_a_notebook_it_works(opened):
    seen = opened("frame")
    inside = seen.page.frame_locator("iframe")
    inside.locator("#forward").click()
    assert inside.locator("#event").inner_text() == "step 1: y is about to be computed"


def test_it_fits_narrow_and_wide_in_light_and_dark(opened):
    for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
        seen = opened("nan", color_scheme=scheme)
        seen.press("n")
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == colour
        for width in (360, 768, 1400):
            seen.page.set_viewport_size({"width": width, "height": 800})
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


class TestThreads:
    """Lanes: steps are worked out in `test_debug_trace_threads`."""

    def click(self, seen, canvas, step):
        """Click a lane at a step of 423."""
        total = seen.page.evaluate("JSON.parse(document.getElementById('data').textContent).total")
        box = canvas.bounding_box()
        canvas.click(position={"x": (step + 0.5) / total * box["width"], "y": 6})
        return seen.page.locator("#lane").inner_text()

    def test_a_lane_for_each_warp_opens_to_one_for_each_thread(self, opened):
        seen = opened("threads")
        lanes = seen.page.locator("#lanes .lane")
        expect(lanes).to_have_count(2)
        seen.page.locator("#lanes summary span").first.click()
        expect(lanes).to_have_count(34)
        expect(lanes.nth(1)).to_contain_text("thread 0")

    def test_a_click_on_a_wait_goes_to_its_step_and_line(self, opened):
        seen = opened("threads")
        producer, consumers = seen.page.locator("#lanes summary canvas").all()
        said = self.click(seen, producer, 150)  # the producer waits for an empty tile; the text of that is hostile
        assert said.endswith(f"thread 0 waits: {EVIL}, line {PRODUCER_WAIT}; thread 63 ends the wait at step 259")
        expect(seen.page.locator("#lanes details[open]")).to_have_count(0)
        assert seen.line() == PRODUCER_WAIT
        assert "thread 33 runs" not in said
        assert seen.page.locator("#standing").inner_text().count("thread") >= 2
        assert "runs" in self.click(seen, consumers, 150)
        assert "not begun, or ended" in self.click(seen, producer, 415)

    def test_the_threads_at_a_step_and_the_copies_in_flight(self, opened):
        seen = opened("threads", "#step=90")
        standing = seen.page.locator("#standing li")
        expect(standing.filter(has_text="in flight")).to_have_count(2)
        expect(standing.filter(has_text="in flight").first).to_have_text(
            f"a copy of 128 bytes into tile is in flight, issued by thread 0, line {COPY}"
        )
        seen.page.goto(seen.page.url.split("#")[0] + "#step=260")
        expect(standing.filter(has_text=f"line {CONSUMER_WAIT}")).to_have_count(1)

    def test_one_goes_to_where_a_wait_is_ended(self, opened):
        seen = opened("threads", "#step=20")
        standing = seen.page.locator("#standing li")
        row = standing.filter(has_text="thread 63 ends the wait at step 69")
        expect(row).to_have_text(re.compile(rf"^threads 0-\d+ wait: `T.cuda.cta_sync`, line {SYNC}; .* go there$"))
        row.locator("button").click()
        assert seen.page.locator("#step").input_value() == "69"
        expect(standing.filter(has_text="may continue: thread 63 has ended the wait at step 69")).to_have_count(1)

    def test_nobody_ends_the_waits_of_a_deadlock(self, opened):
        seen = opened("deadlock")
        seen.press("End")
        expect(seen.page.locator("#standing li").filter(has_text="nobody ends the wait")).to_have_count(2)
        assert "nobody" not in opened("threads", "#step=260").page.locator("#standing").inner_text()

    def test_blocks_have_a_lane_and_many_warps_leave_room_for_the_text(self, opened):
        seen = opened("blocks", viewport={"width": 1280, "height": 900})
        expect(seen.page.locator("#lanes summary")).to_have_count(32)
        first = seen.page.locator("#lanes > .lane canvas")
        box = first.bounding_box()
        first.click(position={"x": box["width"] / 2, "y": 6})
        expect(seen.page.locator("#standing li").first).to_have_text("block 1")
        assert seen.page.locator("#source").bounding_box()["y"] < 800
        warp = seen.page.locator("#lanes summary canvas").first.bounding_box()
        assert abs(warp["x"] - box["x"]) < 2  # the same step stands at the same place
        assert abs(warp["width"] - box["width"]) < 2

    def test_a_program_without_threads_has_no_lanes(self, opened):
        seen = opened("nan")
        expect(seen.page.locator("#threads")).to_be_hidden()
