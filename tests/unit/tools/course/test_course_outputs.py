"""Outputs compared: what is equal, what is explained, what differs."""

import pytest

from refmlc.tools.course.document import Block, Document, Output
from refmlc.tools.course.outputs import compare

RANDOM = Document("d", (Block(1, 1, "DataLoader(shuffle=True)\nclass_names = ['Bag', 'Coat']"),))
PLAIN = Document("d", (Block(1, 1, "class_names = ['Bag', 'Coat']"),))


def verdict(chapter, here, document=PLAIN, kind="text"):
    found = compare(Output(7, kind, chapter), here, document)
    return found.verdict, found.reason.partition(":")[0]


@pytest.mark.parametrize(
    ("chapter", "here", "wanted"),
    [
        ("a b\n", "a b  \n\n", ("equal", "")),
        ("x 1.25 y", "x 1.2500001 y", ("equal", "numbers")),
        ("[[1.5 2.5]\n [3. 4.]]", "[[1.5 2.5] [3. 4.]]", ("equal", "numbers")),
        ("[128, 128]", "(128, 128)", ("explained", "brackets")),
        ("tvm.te.tensor.Tensor", "refmlc.lang.te.tensor.Tensor", ("explained", "class")),
        ("<f at 0x7f3f>", "<f at 0x1234abcd>", ("explained", "address")),
        ("a   b\n---  ---\n0x1  1", "a      b\n------  ---\n0x1234  1", ("explained", "address")),
        ("Downloading http://x\n100%", "", ("explained", "download")),
    ],
)
def test_without_chance(chapter, here, wanted):
    assert verdict(chapter, here) == wanted


@pytest.mark.parametrize(
    ("chapter", "here"),
    [
        ("a", "b"),
        ("x 1.25", "x 1.26"),
        ("x 1.25", "x 1.25 2.5"),
        ("Class: Bag", "Class: Coat"),
        ("tvm.te.tensor.Tensor", "numpy.ndarray"),
        ("True", "False"),
        ("a  b", "a b"),
        ("[1, 2]", "[1, 3]"),
    ],
)
def test_differences(chapter, here):
    assert verdict(chapter, here)[0] == "differs"


def test_an_image_drawn_at_random():
    assert verdict("Class: Bag", "Class: Coat", RANDOM) == ("explained", "another image")
    assert verdict("[[1. 2.]]\n[0]", "[[-7.5e3 2.]]\n[1]", RANDOM) == ("explained", "another image")
    assert verdict("[[1. 2.]]", "[[1.]]", RANDOM)[0] == "differs"
    assert verdict("Class: Bag", "Kind: Coat", RANDOM)[0] == "differs"


def test_pictures_are_not_compared():
    assert verdict("output_1.png", "", kind="image") == ("explained", "picture")


OLD = """@T.prim_func
def func(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]) -> None:
    # function attr dict
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i0 in T.serial(4):
        with T.block("B"):
            i = T.axis.spatial(4, i0)
            T.reads(A[i])
            T.writes(B[i])
            B[i] = A[i] + T.float32(1)
"""


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (("", ""), ("equal", "")),
        (("i0", "k"), ("equal", "names")),
        (('"global_symbol": "main", ', ""), ("equal", "what a function is, as attributes of 2022")),
        (("T.float32(1)", "T.float32(2)"), ("differs", None)),
        (("T.reads(A[i])\n", "T.reads()\n"), ("differs", None)),
        (("A[i] +", "A[i] *"), ("differs", None)),
        (("@T.prim_func", "nothing"), ("differs", None)),
    ],
)
def test_printed_functions_are_compared_by_structure(change, wanted):
    found = verdict(OLD, OLD.replace(*change))
    assert found[0] == wanted[0]
    assert wanted[1] in (None, found[1])


def test_text_as_a_page_shows_it():
    page = OLD.replace("\n", "\n    ")
    assert verdict(page, OLD, kind="html") == ("equal", "")


GRAPH = """@tvm.script.ir_module
class Module:
    @R.function
    def main(x: Tensor((4,), "float32")) -> Tensor((4,), "float32"):
        gv: Tensor((4,), "float32") = relax.add(x, meta[relay.Constant][0])
        return gv
"""


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (('-> Tensor((4,), "float32")', '-> Tensor(None, "float32", ndim = 1)'), "equal"),
        (('-> Tensor((4,), "float32")', '-> Tensor(None, "float32", ndim = 2)'), "differs"),
        (("meta[relay.Constant][0]", "meta[relax.expr.Constant][0]"), "equal"),
        (("meta[relay.Constant][0]", "meta[relay.Constant][1]"), "differs"),
    ],
)
def test_what_the_chapter_leaves_out(change, wanted):
    assert verdict(GRAPH.replace(*change), GRAPH)[0] == wanted
