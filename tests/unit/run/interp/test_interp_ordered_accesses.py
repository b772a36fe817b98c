"""Loads and stores with a memory order (PTX-100): values and orders worked out by hand."""

import numpy as np
import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.lang.wellformed import check_module
from refmlc.observe.sanitize import sanitize
from refmlc.run.interp.machine import Machine
from refmlc.run.interp.threads.schedule import ThreadSchedule

HEAD = """@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    T.cta_id([{blocks}])
    {clusters}
    t = T.thread_id([64])
    S = T.alloc_shared((64,), "int32")
    flag = T.alloc_shared((1,), "uint32")
    x = T.alloc_local((1,), "uint32")
    a = T.alloc_local((1,), "uint64")
    if t == 0:
        flag[0] = T.uint32(0)
    {sync}
"""
PASS = (
    "if t {producer}:",
    "    S[t % 32] = A[t % 32]",
    "    {fence}",
    "    {store}",
    "else:",
    "    x[0] = T.uint32(0)",
    "    while x[0] < T.uint32(1):",
    "        {load}",
    "    {acquire}",
    "    B[t] = S[{index}]",
)
STORE = "T.ptx.st.{order}.cta.shared.u32(flag.ptr_to([0]), T.uint32(1))"
LOAD = "T.ptx.ld.{order}.cta.shared.u32(x[0], flag.ptr_to([0]))"
NOTHING = "T.evaluate(0)"


def source(store="release", load="acquire", fence=NOTHING, acquire=NOTHING, producer=">= 32", index="32 - 32"):
    lines = "\n    ".join(PASS).format(
        producer=f"== {producer}" if producer.isdigit() else producer,
        store=STORE.format(order=store),
        load=LOAD.format(order=load),
        fence=fence,
        acquire=acquire,
        index=index,
    )
    return HEAD.format(blocks=1, clusters="T.evaluate(0)", sync="T.cuda.cta_sync()") + f"    {lines}\n"


def arrays():
    return [np.arange(64, dtype="int32") + 5, np.full(64, -1, "int32")]


def run(text):
    module, values = read(text, "f.py"), arrays()
    assert not check_module(module)
    Machine(module).call("f", values)
    return values[1]


def alarms(text):
    return {code for code, count in sanitize(read(text, "f.py"), "f", arrays()).counts.items() if count}


ONE = {"producer": "63", "index": "31"}


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({}, set()),
        ({"store": "relaxed"}, {"RM321"}),
        ({"load": "relaxed"}, {"RM321"}),
        ({"store": "relaxed", "fence": "T.ptx.fence.acq_rel.cta()"}, set()),
        ({"load": "relaxed", "acquire": "T.ptx.fence.acq_rel.cta()"}, set()),
        ({"store": "relaxed", "load": "relaxed", "fence": "T.cuda.thread_fence()"}, {"RM321"}),
    ],
)
def test_a_flag_passes_what_was_written_before_it(more, codes):
    text = source(**ONE, **more)
    assert run(text)[0] == 36
    assert alarms(text) == codes


def test_a_thread_that_asks_lets_the_others_run():
    assert (run(source(producer="63", index="31"))[:32] == 36).all()


def test_volatile_accesses_are_relaxed():
    text = source(**ONE).replace("st.release.cta.", "st.volatile.").replace("ld.acquire.cta.", "ld.volatile.")
    assert run(text)[0] == 36
    assert alarms(text) == {"RM321"}


def test_a_plain_store_to_the_flag_races_with_loads_that_have_an_order():
    text = source(**ONE).replace(STORE.format(order="release"), "flag[0] = T.uint32(1)")
    assert alarms(text) == {"RM321"}
    late = source(**ONE) + "    if t == 5:\n        flag[0] = T.uint32(7)\n"
    assert alarms(late) == {"RM321"}
    assert alarms(source(**ONE) + "    T.cuda.cta_sync()\n    if t == 5:\n        flag[0] = T.uint32(7)\n") == set()


def test_a_relaxed_store_ends_what_an_earlier_one_released():
    text = source(**ONE).replace(
        "    " + STORE.format(order="release"),
        "    "
        + STORE.format(order="release").replace("T.uint32(1)", "T.uint32(0)")
        + "\n        "
        + STORE.format(order="relaxed"),
    )
    assert run(text)[0] == 36
    assert alarms(text) == {"RM321"}


def test_an_atomic_operation_passes_a_release_on():
    red = "T.ptx.red.relaxed.cta.shared.add.u32(flag.ptr_to([0]), T.uint32(1))"
    text = source(**ONE).replace("x[0] < T.uint32(1)", "x[0] < T.uint32(2)")
    text = text.replace(
        "    " + STORE.format(order="release"), "    " + STORE.format(order="release") + f"\n        {red}"
    )
    assert run(text)[0] == 36
    assert alarms(text) == set()


def test_blocks_of_a_cluster_pass_data_to_each_other():
    body = (
        "if r == 1:",
        "    S[t] = A[t]",
        "    T.cuda.cta_sync()",
        "    if t == 0:",
        "        T.ptx.mapa.u64(a[0], flag.ptr_to([0]), T.uint32(0))",
        "        T.ptx.st.{order}.cluster.shared__cluster.u32(a[0], T.uint32(1))",
        "else:",
        "    x[0] = T.uint32(0)",
        "    while x[0] < T.uint32(1):",
        "        T.ptx.ld.acquire.cluster.shared.u32(x[0], flag.ptr_to([0]))",
        "    T.ptx.mapa.u64(a[0], S.ptr_to([63 - t]), T.uint32(1))",
        "    T.ptx.ld.shared__cluster.u32(x[0], a[0])",
        "    B[t] = T.Cast('int32', x[0])",
        "T.cuda.cluster_sync()",
    )
    head = HEAD.format(blocks=2, clusters="r = T.cta_id_in_cluster([2])", sync="T.cuda.cluster_sync()")
    text = head + "".join(f"    {line}\n" for line in body)
    assert run(text.format(order="release")).tolist() == list(range(68, 4, -1))
    assert alarms(text.format(order="release")) == set()
    assert alarms(text.format(order="relaxed")) == {"RM321"}


def test_what_is_not_executed():
    machine = Machine(read(source(**ONE), "f.py"))
    machine.schedule = ThreadSchedule()
    with pytest.raises(RefmlcError) as caught:
        machine.call("f", arrays())
    assert "where orders of threads are explored" in caught.value.diagnostic.message
    text = source(**ONE).replace("st.release.cta.shared", "st.mmio.relaxed.sys.global_")
    with pytest.raises(RefmlcError) as caught:
        run(text)
    assert "is for memory of devices" in caught.value.diagnostic.message
