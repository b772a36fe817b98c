"""Graphs of Relax functions: boxes and arrows, where they stand, what a notebook shows."""

from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

import refmlc
from refmlc.cli import main
from refmlc.lang.drawing import Graph, graph_of, lines_of, svg_of
from refmlc.lang.drawing.graph import Box
from refmlc.lang.drawing.layout import layers_of, placed

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.nn.relu(x)
            b = a
            p = (a, x)
            q = p[0]
            z = R.add(b, q)
            w = R.call_dps_packed("env.<f>", (z, R.const(1.0, "float32")), out_ty=R.Tensor((2, 4), "float32"))
            R.output(w)
        if c:
            g = R.negative(w)
            r = g
        else:
            r = x
        return r
"""


@pytest.fixture(scope="module")
def module():
    return refmlc.read(TEXT)


def test_boxes_and_arrows(module):
    graph = graph_of(module["main"])
    titles = [box.title for box in graph.boxes]
    assert titles == [
        "x", "c", "nn.relu", "tuple", "field 0", "add", "constant", "call_dps_packed: env.<f>", "if", "result",
    ]  # fmt: skip
    named = {(titles[a], titles[b]) for a, b in graph.arrows}
    assert named == {
        ("x", "nn.relu"), ("nn.relu", "tuple"), ("x", "tuple"), ("tuple", "field 0"), ("nn.relu", "add"),
        ("field 0", "add"), ("add", "call_dps_packed: env.<f>"), ("constant", "call_dps_packed: env.<f>"),
        ("c", "if"), ("call_dps_packed: env.<f>", "if"), ("x", "if"), ("if", "result"),
    }  # fmt: skip


def test_a_box_stands_below_what_it_uses():
    arrows = [(0, 2), (1, 3), (2, 3), (3, 4), (0, 4)]
    assert layers_of(5, arrows) == [0, 1, 1, 2, 3]
    spots, width, height = placed([(80, 20)] * 5, arrows)
    for a, b in arrows:
        assert spots[a].y + spots[a].height < spots[b].y
    for a in range(5):
        assert spots[a].x >= 0
        assert spots[a].x + 80 <= width
        assert spots[a].y + 20 <= height
        for b in range(a):
            beside = abs(spots[a].x - spots[b].x) >= 80
            assert beside or abs(spots[a].y - spots[b].y) >= 20
    assert placed([], [])[0] == []


def test_the_picture_is_xml_and_all_text_is_escaped(module):
    drawn = svg_of(graph_of(module["main"], 'a<b>&"c"'))
    tree = ET.fromstring(drawn)  # noqa: S314 - our own
    texts = [one.text for one in tree.iter(f"{SVG}text")]
    assert "call_dps_packed: env.<f>" in texts
    assert tree.find(f"{SVG}title").text == 'a<b>&"c"'
    assert len(list(tree.iter(f"{SVG}path"))) == 12
    assert {one.tag for one in tree.iter()} == {f"{SVG}{tag}" for tag in ("svg", "title", "rect", "path", "text")}


def test_crossings_are_taken_out():
    arrows = [(0, 5), (1, 4), (2, 3)]
    spots, _, _ = placed([(40, 20)] * 6, arrows)
    assert [spots[a].x < spots[b].x for a, b in ((5, 4), (4, 3))] == [
        spots[a].x < spots[b].x for a, b in ((0, 1), (1, 2))
    ]


def test_what_is_too_large_is_told():
    graph = Graph("big", [Box("call", "f")] * 401)
    assert svg_of(graph) == "<p>401 boxes: too many to draw (at most 400)</p>"


def test_a_notebook_shows_text_and_picture(module):
    shown = module._repr_html_()
    assert "<svg" in shown
    assert "graph of main" in shown
    assert "env.&lt;f&gt;" in shown
    assert "<f>" not in shown
    assert "<svg" in module["main"]._repr_html_()
    func = "@T.prim_func\ndef f(A: T.Buffer((2,), 'float32')):\n    for i in range(2):\n        A[i] = T.float32(0)\n"
    assert "<svg" not in refmlc.read(func)._repr_html_()


def test_the_command(tmp_path, module):
    (tmp_path / "m.py").write_text(TEXT)
    done = CliRunner().invoke(main, ["show", str(tmp_path / "m.py"), "--graph"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "main"
    assert done.stdout.splitlines()[3].split() == ["3", "nn.relu", "(1)", "a"]
    assert lines_of(graph_of(module["main"])) in done.stdout
    assert CliRunner().invoke(main, ["show", str(tmp_path / "m.py"), "--svg", str(tmp_path / "m.svg")]).exit_code == 0
    root = ET.parse(tmp_path / "m.svg").getroot()  # noqa: S314 - our own
    assert root.tag == f"{SVG}svg"
    (tmp_path / "t.py").write_text("@T.prim_func\ndef f():\n    T.evaluate(0)\n")
    done = CliRunner().invoke(main, ["show", str(tmp_path / "t.py"), "--graph"])
    assert done.exit_code == 2
    assert "no Relax function" in done.stderr
