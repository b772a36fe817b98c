"""What a campaign leaves out of generation: names of traits, operators and dtypes."""

from collections import Counter

import pytest
from click.testing import CliRunner

from refmlc.cli import main
from refmlc.lang.library import OPERATORS
from refmlc.lang.script import read, show
from refmlc.oracle.fuzz.batch import drawn, generated, program
from refmlc.oracle.fuzz.exclusions import exclusions, is_excluded, known_names
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.table import SUBJECTS

HEAD = "from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\n"
PROGRAMS = {
    "plain": HEAD
    + 'def f(A: T.Buffer((4,), "float32")):\n    for i in range(4):\n        A[i] = A[i] + T.float32(1)\n',
    "float8_e5m2": HEAD + 'def f(A: T.Buffer((4,), "float8_e5m2")):\n    for i in range(4):\n        A[i] = A[0]\n',
    "int4": HEAD + 'def f(A: T.Buffer((4,), "int4")):\n    for i in range(4):\n        A[i] = A[0]\n',
    "bool": HEAD + 'def f(A: T.Buffer((4,), "bool")):\n    for i in range(4):\n        A[i] = A[0]\n',
    "strides": HEAD
    + 'def f(a: T.handle):\n    A = T.match_buffer(a, (4,), "float32", strides=(2,))\n'
    + "    for i in range(4):\n        A[i] = T.float32(1)\n",
    "exp": HEAD + 'def f(A: T.Buffer((4,), "float32")):\n    for i in range(4):\n        A[i] = T.exp(A[i])\n',
    "thread": HEAD
    + 'def f(A: T.Buffer((4,), "float32")):\n    for i in T.thread_binding(4, thread="threadIdx.x"):\n'
    + "        A[i] = T.float32(1)\n",
}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("narrow-floats", {"float8_e5m2"}),
        ("packed", {"int4"}),
        ("views", {"strides"}),
        ("threads", {"thread"}),
        ("exp", {"exp"}),
        ("int4", {"int4"}),
        ("bool", {"bool"}),
    ],
)
def test_a_name_leaves_out_what_it_says_and_nothing_else(name, left_out):
    assert {key for key, text in PROGRAMS.items() if is_excluded(read(text, "f.py"), {name})} == left_out


def test_a_primitive_is_not_an_operator_of_the_same_name():
    graph = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return R.split(x, 2)\n'
    assert not is_excluded(read(graph, "f.py"), {"split"})
    assert is_excluded(read(graph, "f.py"), {"split", "float32"})


def test_every_operator_of_relax_is_a_name_but_those_that_a_subject_has_a_step_of():
    steps = {name for kind in ("primitives", "passes") for name in SUBJECTS[kind].names}
    assert {*OPERATORS} - known_names() == {*OPERATORS} & steps
    graph = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return R.nn.softmax(x)\n'
    assert is_excluded(read(graph, "f.py"), {"nn.softmax"})
    assert not is_excluded(read(graph, "f.py"), {"nn.relu"})


def test_without_a_name_everything_is_generated():
    assert not any(is_excluded(read(text, "f.py"), ()) for text in PROGRAMS.values())


def test_a_campaign_with_tvm_leaves_out_what_it_cannot_be_sent():
    assert exclusions(("exp",), ("native",)) == {"exp"}
    assert exclusions((), ("tvm:/usr/bin/python3@4",)) == {"packed", "ret", "threads", "views"}


def test_excluded_programs_are_drawn_again_and_the_others_stay_as_they_are():
    plain = CampaignSettings(seed=3)
    settings = CampaignSettings(seed=3, exclude=("float32", "narrow-floats"))
    moved = Counter[bool]()
    for number in range(60):
        seed, case = drawn(settings, number)
        assert not is_excluded(case.module, settings.exclude)
        first = program(plain, number)
        assert is_excluded(first.module, settings.exclude) == (seed != settings.seed_of(number))
        assert show(generated(settings, number, seed).module) == show(case.module)
        moved[seed != settings.seed_of(number)] += 1
    assert moved[True] > 10 < moved[False]


def test_the_command_refuses_a_name_that_nothing_has(tmp_path):
    done = CliRunner().invoke(main, ["fuzz", "--programs", "1", "--dir", str(tmp_path), "--exclude", "everything"])
    assert done.exit_code == 2
    assert "nothing is called `everything`" in done.output
