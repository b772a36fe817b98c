"""Calls of PTX instructions are taken apart alike, however a text writes them."""

import pytest

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.lang.ir.asynchronous import is_asynchronous, is_wait
from refmlc.lang.ir.clusters import is_of_cluster, reaches_blocks
from refmlc.lang.ir.ptx import PtxCall, operator_of
from refmlc.lang.ir.visit import walk

KERNEL = """@T.prim_func
def main(A: T.Buffer((64,), 'uint32')):
    T.device_entry()
    T.cta_id([1])
    lane = T.lane_id([32])
    S = T.alloc_shared((64,), 'uint32')
    r = T.alloc_local((8,), 'uint32')
    w = T.alloc_local((4,), 'uint64')
    h = T.alloc_local((2,), 'uint16')
    r[0] = T.uint32(0)
    {call}
"""


def statement_of(call):
    module = refmlc.read(KERNEL.format(call=call), "kernel.py")
    nodes = [node for node in walk(module.functions["main"].body) if isinstance(node, tir.Evaluate)]
    return nodes[-1]


def ptx_of(call):
    return PtxCall.of(statement_of(call).value)


def shown(operands):
    """Operands as texts show them."""
    return [f"{operand.buffer.name}[{operand.indices[0].value}]" for operand in operands]


SPELLINGS = [
    (
        [
            "T.ptx.shr.u32(r[0], r[1], r[2])",
            'T.ptx["shr.u32"](r[0], r[1], r[2])',
            'T.ptx.shr(r[0], r[1], r[2], "u32", "")',
        ],
        "shr.u32",
        ["r[0]", "r[1]", "r[2]"],
    ),
    (
        ["T.ptx.and_.b32(r[0], r[1], r[2])", 'T.ptx.and_(r[0], r[1], r[2], "b32", "")'],
        "and.b32",
        ["r[0]", "r[1]", "r[2]"],
    ),
    (
        [
            "T.ptx.red.global_.add.u32(r[0], r[1])",
            'T.ptx["red.global.add.u32"](r[0], r[1])',
            'T.ptx.red(r[0], r[1], "", "", "global", "add", "", "u32", "")',
        ],
        "red.global.add.u32",
        ["r[0]", "r[1]"],
    ),
]


@pytest.mark.parametrize(("calls", "name", "operands"), SPELLINGS)
def test_each_spelling_is_the_same_instruction(calls, name, operands):
    for call in calls:
        ptx = ptx_of(call)
        assert (ptx.name, shown(ptx.operands), ptx.is_plain) == (name, operands, True)
        assert (ptx.words, ptx.family) == (tuple(name.split(".")), name.split(".")[0])


def test_modifiers_are_spelled_as_ptx_spells_them():
    written = ptx_of("T.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(r[0], r[1], 16, r[2])")
    words = ("async", "bulk", "shared::cta", "global", "mbarrier::complete_tx::bytes")
    printed = ptx_of(f"T.ptx.cp(r[0], r[1], 16, r[2], {', '.join(map(repr, words))}, '')")
    assert written.modifiers == printed.modifiers == words
    assert "bulk" in written
    assert written.one_of("shared::cluster", "global", "bulk") == "global"
    assert written.one_of("tensor") == ""
    ratio = ptx_of("T.ptx.spcompress.sp__2__colon__4.b8.x1(r[0], r[1], r[2])")
    assert ratio.modifiers == ("sp::2:4", "b8", "x1")


def test_the_predicate_is_a_keyword_or_the_last_operand():
    written = ptx_of("T.ptx.mov.u32(r[0], r[1], pred=r[2], preserve_dst=True)")
    printed = ptx_of('T.ptx.mov(r[0], r[1], r[2], "u32", "pred,keep")')
    for ptx in (written, printed):
        assert shown(ptx.operands) == ["r[0]", "r[1]"]
        assert shown([ptx.predicate]) == ["r[2]"]
        assert (ptx.keeps, ptx.is_plain) == (True, False)
    without = ptx_of("T.ptx.mov.u32(r[0], r[1])")
    assert (without.predicate, without.keeps, without.is_plain) == (None, False, True)


def test_predicates_among_the_operands_have_their_numbers_and_no_mark():
    written = ptx_of("T.ptx.selp.u32(r[0], r[1], r[2], T.ptx.pred(r[3]))")
    printed = ptx_of('T.ptx.selp(r[0], r[1], r[2], r[3], "u32", "p3")')
    for ptx in (written, printed):
        assert shown(ptx.operands) == ["r[0]", "r[1]", "r[2]", "r[3]"]
        assert (ptx.predicates, ptx.is_plain) == ({3}, True)


def test_a_sink_that_the_arguments_leave_out_is_an_operand():
    ptx = ptx_of('T.ptx.mov(h[1], r[2], "b32", "s0")')
    assert ptx.operands[0].callee == "ptx.SINK"
    assert (shown(ptx.operands[1:]), ptx.is_plain) == (["h[1]", "r[2]"], False)
    assert ptx_of("T.ptx.mov.b32(T.ptx.SINK, h[1], r[2])").operands[0].callee == "ptx.SINK"


def test_an_address_before_its_conversion():
    ptx = ptx_of("T.ptx.mbarrier.init.shared.b64(T.cuda.cvta_generic_to_shared(T.address_of(S[0])), T.uint32(1))")
    assert ptx.operands[0].callee == "cuda.cvta_generic_to_shared"
    assert ptx.unconverted[0].callee == "address_of"
    assert ptx.unconverted[1:] == ptx.operands[1:]


def test_a_call_stands_where_the_text_has_it():
    statement = statement_of("T.ptx.mov.u32(r[0], r[1])")
    assert PtxCall.of(statement.value).span == statement.value.span
    assert PtxCall.of(statement.value).call is statement.value


def test_what_is_no_instruction():
    assert ptx_of("T.cuda.cta_sync()") is None
    assert PtxCall.of(statement_of("T.ptx.mov.u32(r[0], r[1])")) is None  # a statement, which holds one


@pytest.mark.parametrize(
    ("callee", "name"),
    [("ptx.mma.sync.aligned", "ptx.mma"), ("ptx.mma", "ptx.mma"), ("cuda.cta_sync", "cuda.cta_sync"), (None, "")],
)
def test_the_operator_of_a_call(callee, name):
    assert operator_of(callee) == name


@pytest.mark.parametrize(
    ("call", "asynchronous", "waits"),
    [
        ("T.ptx.cp.async_.wait_all()", True, False),
        ("T.ptx.mbarrier.try_wait.parity.shared.b64(r[0], T.address_of(w[0]), r[1])", True, True),
        ('T.ptx.mbarrier(r[0], T.address_of(w[0]), r[1], "test_wait", "parity", "shared", "b64", "")', True, True),
        ("T.cuda.mbarrier_wait(T.address_of(w[0]), 0)", True, True),
        ("T.ptx.mbarrier.inval.shared.b64(T.address_of(w[0]))", True, False),
        ("T.ptx.mov.u32(r[0], r[1])", False, False),
    ],
)
def test_what_is_asynchronous_and_where_a_thread_waits(call, asynchronous, waits):
    statement = statement_of(call)
    assert (is_asynchronous(statement.value), is_wait(statement)) == (asynchronous, waits)


@pytest.mark.parametrize(
    ("call", "meets", "reaches"),
    [
        ("T.ptx.barrier.cluster.arrive()", True, False),
        ('T.ptx.barrier("cluster", "wait", "")', True, False),
        ("T.cuda.cluster_sync()", True, False),
        ("T.ptx.barrier.sync(r[0])", False, False),
        ("T.ptx.mapa.u64(w[0], w[1], r[0])", False, True),
        ("T.ptx.cp.async_.bulk.shared__cluster.global_.multicast__cluster(r[0], r[1], 16, r[2], r[3])", False, True),
        ("T.ptx.cp.async_.bulk.shared__cta.global_(r[0], r[1], 16, r[2])", False, False),
    ],
)
def test_what_is_of_a_cluster(call, meets, reaches):
    node = statement_of(call).value
    assert (is_of_cluster(node), reaches_blocks(node)) == (meets, reaches)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("T.ptx.mov.u32(T.ptx.pred(r[0]), r[1])", "d"),
        ("T.ptx.mov.u32(r[0], T.ptx.pred(r[1]))", "a"),
        ("T.ptx.setp.eq.u32(T.ptx.pred(r[0]), r[1], r[2])", "p"),
        ("T.ptx.setmaxnreg.inc.sync.aligned.u32(T.ptx.pred(24))", "nreg"),
    ],
)
def test_only_a_predicate_that_is_read_is_marked_as_one(call, name):
    with pytest.raises(RefmlcError, match=f"`{name}` is no predicate that is read, and marked as one"):
        statement_of(call)


@pytest.mark.parametrize("flags", ["foo", "s" + "9" * 30, "p" + "9" * 5000, "s٣", "pred,x", "s0, p1"])
def test_a_last_text_with_anything_but_flags_is_refused_as_a_modifier(flags):
    with pytest.raises(RefmlcError, match=r"is no modifier of `T\.ptx\.red`"):
        ptx_of(f'T.ptx.red(r[0], r[1], "", "", "global", "add", "", "u32", {flags!r})')


def test_a_call_with_a_result_is_of_an_older_version_and_not_plain():
    ptx = ptx_of('T.evaluate(T.ptx.red(r[0], r[1], "global", "add", "u32", "foo", dtype="int32"))')
    assert ("foo" in ptx, ptx.is_plain) == (True, False)


def test_texts_without_flags_are_modifiers_to_the_last():
    ptx = ptx_of('T.ptx.mbarrier(T.address_of(w[0]), "inval", "shared", "b64")')
    assert (ptx.modifiers, ptx.is_plain) == (("inval", "shared", "b64"), True)


@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ("pred='x'", "takes a condition for `pred`"),
        ("pred=1.5", "takes a condition for `pred`"),
        ("pred=1", "takes a condition for `pred`"),
        ("preserve_dst='x'", "takes True or False for `preserve_dst`"),
        ("volatile=True", "has no parameter `volatile`"),
    ],
)
def test_keywords_that_tvm_does_not_take_are_refused(keyword, words):
    with pytest.raises(RefmlcError, match=words):
        ptx_of(f"T.ptx.cp.async_.wait_group(0, {keyword})")


def test_a_condition_that_is_a_constant():
    for call in (
        "T.ptx.cp.async_.wait_group(0, pred=True)",
        'T.ptx.cp(0, T.bool(True), "async", "wait_group", "pred")',
    ):
        assert (ptx_of(call).predicate.value, str(ptx_of(call).predicate.dtype)) == (1, "bool")
