"""Which modifiers of an instruction exclude each other, from the text of the PTX ISA: each refusal names its reason."""

import pytest

from refmlc.lang.ops.ptx.forms import forms_of
from refmlc.lang.ops.ptx.rules import problem

REFUSED = [
    ("add.ftz.f64", "`.ftz` goes with f32 and f32x2 only"),
    ("add.sat.f64", "`.sat` goes with f32 only"),
    ("add.rn.f32.f16.ftz", "a source of f16 goes with f32 only"),
    ("div.approx.f64", "`.approx` goes with f32 only"),
    ("div.full.f64", "`.full` goes with f32 only"),
    ("rcp.approx.f64", "`.approx` of f64 needs `.ftz`"),
    ("fma.rn.oob.sat.f16", "`.oob` goes without `.ftz` and `.sat`"),
    ("fma.rn.sat.relu.f16", "`.sat` and `.relu` exclude each other"),
    ("ex2.approx.ftz.f16", "`.ftz` is written for bf16"),
    ("max.ftz.u32", "go with floats only"),
    ("max.relu.f32", "`.relu` goes with s16x2 and s32 only"),
    ("max.ftz.f64", "f64 takes no modifier"),
    ("min.abs.f32", "`.xorsign` and `.abs` go together"),
    ("mad.lo.sat.s32", "`.sat` goes with `.hi.s32` only"),
    ("mad.hi.sat.u32", "`.sat` goes with `.hi.s32` only"),
    ("setp.lt.ftz.f64", "`.ftz` goes with f32 only"),
    ("setp.lt.b32", "`.lt` is no comparison of b32"),
    ("setp.lo.f32", "`.lo` is no comparison of floats"),
    ("setp.lo.s32", "`.lo` is no comparison of s32"),
    ("set.lt.f16.bf16", "there is no `set` to f16 of bf16"),
    ("set.lt.f16x2.f16", "there is no `set` to f16x2 of f16"),
    ("set.lt.u16.f32", "there is no `set` to u16 of f32"),
    ("set.lt.bf16.ftz.f32", "with no target of bf16"),
    ("cvt.sat.s64.s32", "there is nothing to saturate"),
    ("cvt.rn.bf16.u8", "no conversion between bf16 and integers of 8 bits"),
    ("cvt.rn.sat.bf16.f32", "`.sat` does not go with bf16"),
    ("cvt.ftz.s32.s64", "`.ftz` goes with f32 only"),
    ("cvt.relu.s32.f32", "go with f16 or bf16 of f32"),
    ("cvt.rni.f32.s32", "an integer to a float needs `.rn`"),
    ("cvt.rn.s32.f32", "a float to an integer needs `.rni`"),
    ("cvt.rn.f32.f16", "f16 to f32 is exact"),
    ("cvt.f16.f32", "f32 to f16 needs `.rn`"),
    ("ld.relaxed.b32", "need a scope"),
    ("ld.gpu.b32", "need a scope"),
    ("ld.relaxed.gpu.local.b32", "goes without local memory"),
    ("ld.volatile.cv.b32", "`.volatile` goes without hints"),
    ("ld.global.nc.cv.b32", "`.nc` goes with `ld.global` alone"),
    ("ld.ca.L1::evict_last.b32", "exclude each other"),
    ("ld.shared.L1::evict_last.b32", "go with the global space only"),
    ("ld.shared.L2::cache_hint.b32", "goes with the global space only"),
    ("ld.mmio.b32", "`.mmio` goes with an order"),
    ("ld.v4.b64", "`.v4` of 64 bits is another form"),
    ("ld.v8.b64", "256 bits are `.v8` of 32 or `.v4` of 64 bits"),
    ("st.release.gpu.local.b32", "goes without local memory"),
    ("prefetch", "it takes a level"),
    ("prefetch.global.tensormap", "goes with const and param only"),
    ("prefetch.const.L1", "it goes with another space"),
]
TAKEN = ("min.xorsign.abs.bf16", "cvt.ftz.f64.f32", "ld.volatile.global.b32", "ld.v4.b64", "min.f32", "cvt.rn.f16.f32")


def problems(text):
    """What each form with these modifiers says of them; empty: nothing."""
    family, *words = text.split(".")
    found = []
    for form in forms_of(family):
        modifiers = dict.fromkeys((slot.name for slot in form.slots), "")
        for word in words:
            slot = next((each for each in form.slots if word in each.choices and not modifiers[each.name]), None)
            if slot is None:
                break
            modifiers[slot.name] = word
        else:
            found.append(problem(form, modifiers))
    return found


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_modifiers_that_exclude_each_other(text, why):
    assert any(why in problem for problem in problems(text)), problems(text)


@pytest.mark.parametrize("text", TAKEN)
def test_modifiers_that_go_together(text):
    assert "" in problems(text)
