"""Addresses in registers: `cvta`, `mapa`, `getctarank` (PTX-024), worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.run.interp.machine import Machine

HEAD = """@T.prim_func
def f(A: T.Buffer((8,), "uint32"), B: T.Buffer((8,), "uint32")):
    T.device_entry()
    {clusters}
    t = T.thread_id([2])
    S = T.alloc_shared((8,), "uint32")
    a = T.alloc_local((2,), "uint64")
    s = T.alloc_local((2,), "uint32")
    x = T.alloc_local((2,), "uint32")
    S[t] = A[t] + T.uint32(10)
    T.cuda.cta_sync()
"""
SHARED = "T.cuda.cvta_generic_to_shared(S.ptr_to([0]))"


def run(*lines, clusters="T.cta_id([1])"):
    text = HEAD.format(clusters=clusters.replace("\n", "\n    ")) + "".join(f"    {line}\n" for line in lines)
    module = read(text, "f.py")
    assert not check_module(module)
    a, b = np.arange(8, dtype="uint32"), np.full(8, 99, "uint32")
    Machine(module).call("f", [a, b])
    return b.tolist()


def failure(*lines, **options):
    with pytest.raises(RefmlcError) as caught:
        run(*lines, **options)
    return caught.value.diagnostic


@pytest.mark.parametrize(
    "convert",
    [
        "T.ptx.cvta.to.global_.u64(a[0], A.ptr_to([1]))",
        "T.ptx.cvta.to.global_.u64(a[1], A.ptr_to([1]))\n    T.ptx.cvta.global_.u64(a[0], a[1])",
        "T.ptx.cvta.to.global_.u64(a[1], A.ptr_to([1]))\n    a[0] = a[1]",
    ],
)
def test_a_register_holds_the_address_that_cvta_gives(convert):
    lines = (convert, "T.ptx.ld.global_.u32(x[0], a[0])", "T.ptx.ld.u32(x[1], T.ptx.addr(a[0], 8))")
    assert run(*lines, "B[2 * t] = x[0]", "B[2 * t + 1] = x[1]")[:4] == [1, 3, 1, 3]


def test_an_address_is_written_through():
    lines = ("T.ptx.cvta.to.global_.u64(a[0], B.ptr_to([0]))", "T.ptx.st.global_.u32(T.ptx.addr(a[0], 4 * t), x[0])")
    assert run("x[0] = T.uint32(5 + t)", *lines)[:3] == [5, 6, 99]


@pytest.mark.parametrize(
    ("map_", "register"),
    [
        (f"T.ptx.mapa.shared__cluster.u32(s[0], {SHARED}, T.uint32(0))", "s[0]"),
        ("T.ptx.mapa.shared__cluster.u64(a[0], S.ptr_to([0]), T.uint32(0))", "a[0]"),
        ("T.ptx.mapa.u64(a[0], S.ptr_to([0]), T.uint32(0))", "a[0]"),
    ],
)
def test_the_only_block_of_a_cluster_is_the_own_one(map_, register):
    lines = (map_, f"T.ptx.ld.shared__cluster.u32(x[0], T.ptx.addr({register}, 4))", "B[t] = x[0]")
    rank = f"T.ptx.getctarank.shared__cluster.{'u32' if register[0] == 's' else 'u64'}(x[1], {register})"
    for clusters in ("T.cta_id([1])", "T.cta_id([2])\nT.cta_id_in_cluster([1])"):
        assert run(*lines, clusters=clusters)[:2] == [11, 11]
        assert run(map_, rank, "B[t] = x[1]", clusters=clusters)[:2] == [0, 0]


LAUNCHED = """@T.prim_func
def f(B: T.Buffer((2,), "uint32")):
    with T.launch_thread("blockIdx.x", 2):
        {cluster}
            with T.launch_thread("threadIdx.x", 2) as t:
                S = T.alloc_buffer((8,), "uint32", scope="shared")
                x = T.alloc_buffer((1,), "uint32", scope="local")
                T.ptx.getctarank.u64(x[0], S.ptr_to([0]))
                {meets}
                B[{block}] = x[0]
"""


@pytest.mark.parametrize(
    ("cluster", "meets"),
    [
        ("with T.launch_thread('clusterCtaIdx.x', {}) as c:", "T.evaluate(0)"),
        ("with T.launch_thread('clusterCtaIdx.x', {}) as c:", "T.cuda.warp_sync()"),
        ("for c in T.thread_binding({}, 'clusterCtaIdx.x'):", "T.evaluate(0)"),
    ],
)
def test_launches_of_clusters_have_several_blocks_too(cluster, meets):
    for size, block, ranks in ((1, "t", [0, 0]), (2, "c", [0, 1])):
        text = LAUNCHED.format(cluster=cluster.format(size), meets=meets, block=block)
        out = np.full(2, 9, "uint32")
        Machine(read(text, "f.py")).call("f", [out])
        assert out.tolist() == ranks


def test_a_launch_of_another_form_is_unsupported():
    cluster = "for c in T.thread_binding({}, 'clusterCtaIdx.x'):"
    text = LAUNCHED.format(cluster=cluster.format(2), meets="T.evaluate(0)", block="c")
    text = text.replace("        for c", "        T.evaluate(0)\n        for c")
    with pytest.raises(RefmlcError) as caught:
        Machine(read(text, "f.py")).call("f", [np.full(2, 9, "uint32")])
    assert caught.value.code.id == "RM504"
    assert "not executed in a launch of this form" in caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ((f"T.ptx.mapa.shared__cluster.u32(s[0], {SHARED}, T.uint32(1))",), "block 1 of a cluster of one block"),
        (("T.ptx.mapa.u64(a[0], A.ptr_to([0]), T.uint32(0))",), "address in `global`"),
        (("T.ptx.getctarank.u64(x[0], A.ptr_to([0]))",), "address in `global`"),
        (("T.ptx.cvta.to.shared.u64(a[0], A.ptr_to([0]))",), "`cvta.to.shared.u64` of an address in `global`"),
        (("a[0] = T.uint64(16)", "T.ptx.ld.global_.u32(x[0], a[0])"), "a pointer is needed"),
    ],
)
def test_what_is_no_such_address_is_undefined(lines, part):
    caught = failure(*lines)
    assert caught.code.id == "RM313"
    assert part in caught.message


@pytest.mark.parametrize(
    ("lines", "code", "part"),
    [
        (("T.ptx.cvta.to.param.u64(a[0], A.ptr_to([0]))",), "RM502", "have no addresses here"),
        ((f"T.ptx.mapa.shared__cluster.u32(a[0], {SHARED}, T.uint32(0))",), "RM502", "a register of its type"),
        ((f"T.ptx.mapa.shared__cluster.u32(s[0], {SHARED}, T.uint32(0), pred=t == 0)",), "RM502", "a predicate"),
        ((f"T.ptx.getctarank.shared__cluster.u32(a[0], {SHARED})",), "RM502", "a register of its type"),
        (
            ("T.ptx.cvta.to.global_.u64(a[0], A.ptr_to([0]))", "B[t] = T.Cast('uint32', a[0])"),
            "RM504",
            "`a[0]` holds an address",
        ),
    ],
)
def test_other_uses_are_refused(lines, code, part):
    caught = failure(*lines)
    assert caught.code.id == code
    assert part in caught.message


def test_a_predicate_that_is_false_leaves_no_address():
    lines = (
        "T.ptx.cvta.to.global_.u64(a[0], A.ptr_to([1]))",
        "T.ptx.cvta.to.global_.u64(a[0], B.ptr_to([1]), pred={})",
    )
    load = "T.ptx.ld.global_.u32(x[0], a[0])"
    assert failure(lines[0], lines[1].format("False"), load).code.id == "RM305"
    assert run(lines[0], lines[1].format("False, preserve_dst=True"), load, "B[t] = x[0]")[:2] == [1, 1]
