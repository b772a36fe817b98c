"""The finding that each row records leads to that row; while it is not known, to one of the same cause, or to none."""

import re

import own_findings
import pytest
from needs import TVM_PYTHON
from own_findings import (
    ROWS,
    state_of_c_error,
    state_of_call,
    state_of_model,
    state_of_result,
    state_said,
    without,
)

from refmlc.lang.wellformed.reader_checks import read
from refmlc.oracle.fuzz import kept_processes
from refmlc.oracle.fuzz.subjects import blamed_pipeline
from refmlc.oracle.fuzz.subjects.passes import pass_runs
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.passes.run import TvmPasses, TvmPrimitives
from refmlc.oracle.record import rows_on_record, scheduled_rows

LED_ELSEWHERE = {
    "bfloat16-literal": "new",  # a product is no operator that tells programs apart, and no pass is guilty
    "bind-cast-bfloat16": "new",  # its one cast is bound, not stored
    "block-domain": "new",  # its own answer is right: the domain has no meaning
    "block-domain-roi": "new",
    "roi-align-reversed": "new",  # as above, a loop of negative extent
    "shared-padding": "new",  # indices of sums and quotients
    "shared-padding-divide": "new",
    "call-extern-of-a-c-name": "new",  # a name that C has
    "stepped-loop-begins-again": "new",  # loops, of which nothing is compared
    "loop-begin-of-stepped": "new",
    "buffer-into-loop": "new",
    "narrow-cast-signed": "like narrow-cast-compare",  # one cause
    "narrow-arithmetic": "like narrow-cast-compare",
    "fixed-one-bit": "like fixed-shift",
    "max-pool-backward-infinities": "like max-pool-backward-rest",  # one operator, and another cause
    "index-put-race": "like index-put-broadcast",
    "pool-backward-layout": "like avg-pool-backward-count",
    "take-backward-outside": "like take-backward-axis",
    "suppression-most": "like suppression-rows",
    "suppression-negative": "like suppression-rows",
    "onnx-suppression-argument": "known onnx-suppression-threshold",
    "onnx-split-to-sequence": "new",  # sequences, which no campaign draws
    "onnx-sequence-insert": "new",
    "onnx-cast-saturate": "new",  # two casts that are wrong together
    "onnx-one-hot-depth-argument": "new",  # TVM says that it does not take it: no finding
    "torch-add-number": "new",  # no campaign draws such an option
    "torch-interpolate-antialias": "new",
    "torch-avg-pool-divisor": "new",
}
"""What the findings of rows lead to that do not lead to their own row, and why."""
WITHOUT_IT = {
    "narrow-cast-compare": "like narrow-cast-signed",  # of one cause
    "narrow-cast-minimum": "like narrow-cast-compare",
    "narrow-cast-signed": "like narrow-cast-compare",
    "narrow-arithmetic": "like narrow-cast-compare",
    "argmax-of-infinities": "like argmax-of-least-integer",
    "argmax-of-least-integer": "like argmax-of-infinities",
    "max-pool-backward-rest": "like max-pool-backward-infinities",
    "max-pool-backward-infinities": "like max-pool-backward-rest",
    "fixed-shift": "like fixed-one-bit",
    "fixed-one-bit": "like fixed-shift",
    "conv-of-nothing": "like conv-transpose-of-nothing",
    "conv-transpose-of-nothing": "like conv-of-nothing",
    "attention-of-nothing": "like cross-entropy-of-nothing",
    "cross-entropy-of-nothing": "like attention-of-nothing",
    "torch-clamp-integers": "like cast-infinity-guarded",
    "torch-interpolate-linear": "like cast-infinity-guarded",
    "onnx-expand-argument-shorter": "known onnx-expand-argument",
    "onnx-resize-to-nothing": "like mean-of-nothing",  # of another cause, from here on
    "onnx-extent-zero": "like shape-not-known",
    "onnx-one-hot-depth": "like suppression-vector",
    "onnx-resize-antialias": "known onnx-resize-scale",
    "onnx-resize-axes": "known onnx-resize-channels",
    "onnx-suppression-argument": "known onnx-suppression-threshold",
    "narrow-cast-modulo": "like narrow-cast-compare",
    "narrow-cast-divide": "like narrow-cast-compare",
    "max-of-nothing": "like max-of-infinities",
    "take-backward-axis": "like take-backward-outside",
    "take-backward-outside": "like take-backward-axis",
    "index-put-race": "like index-put-broadcast",
    "avg-pool-int32": "like avg-pool-last-window",
    "avg-pool-last-window": "like avg-pool-int32",
    "avg-pool-backward-count": "like pool-backward-layout",
    "pool-backward-layout": "like avg-pool-backward-count",
    "layer-norm-float16": "like layer-norm-center",
    "group-norm-float16": "like group-norm-center",
    "instance-norm-float16": "like instance-norm-center",
    "suppression-most": "like suppression-rows",
    "suppression-negative": "like suppression-rows",
    "layout-rest": "like layout-inside",
    "resize-nearest-integers": "like resize-out-dtype",
}
"""What findings lead to while their row is not known: those of a new cause ought to lead nowhere."""
REFUSED_BY_A_CHECK = {
    "blockize-beside",
    "blockize-one-block",
    "cache-index-sequence",
    "loop-partition-nested",
    "reindex-cache-backwards",
    "reindex-loop-of-two",
    "reverse-compute-at-domain",
    "reverse-inline-broadcast",
    "transform-layout-declared",
}
"""Rows of steps that TVM stops at: a campaign takes that for a precondition, so that there is no finding."""
STEPS_WITHOUT_IT = {
    "cache-of-allocation": "reindex-cache-of-allocation",  # of one cause
    "reindex-cache-of-allocation": "cache-of-allocation",
    "cache-of-view": "reindex-cache-of-allocation",
    "transform-layout-allocated": "transform-layout-view",
    "transform-layout-view": "transform-layout-allocated",
    "cache-read-plain-store": "reindex-cache-plain-store",
    "reindex-cache-plain-store": "reindex-plain-load",
    "reindex-plain-load": "reindex-cache-plain-store",
    "reindex-guarded": "reindex-cache-guarded",
    "cache-read-rest": "reindex-cache-condition",
    "write-at-matched": "write-at-view",
    "write-at-view": "write-at-matched",
    "reindex-before-update": "reindex-part",  # of another cause, from here on
    "reindex-accumulate": "reindex-part",
    "reverse-compute-at-reduction": "reverse-compute-at-cut",
    "reverse-compute-at-fraction": "reverse-compute-at-cut",
    "rolling-buffer-axis": "rolling-buffer-reader",
}
"""What findings of steps are like while their row is not known."""
PASSES_OF_NO_FINDING = {
    "common-division",  # drawn arguments do not show it
    "inplace-copy",
}
"""Rows of passes whose program makes no finding."""
PASSES_LED_ELSEWHERE = {
    "combine-matmul-bias": "like combine-matmul-row",  # both have the same operators, and messages that begin alike
    "hoist-division": "like hoist-empty-loop",  # both have the same operators and kinds of nodes
}
"""As `LED_ELSEWHERE`, of findings on passes."""
PASSES_WITHOUT_IT = {
    "inplace-tuple-live": "like in-place-tuple-in-tuple",  # of one cause
    "inplace-field": "like inplace-tuple-live",
    "hoist-division": "like hoist-empty-loop",
    "hoist-empty-loop": "like hoist-division",
    "combine-matmul-bias": "like combine-matmul-row",
    "combine-matmul-row": "like combine-matmul-bias",
}
"""What findings of passes are like while their row is not known."""
TAKES_A_MINUTE = ("resize3d-cubic-exclude",)  # to execute the passes of it
NOT_READ = ("einsum-label-from-nowhere",)  # refmlc refuses its module


def is_of_result(row):
    """Whether a row records what a program gives, or that it dies."""
    got = row["got"]
    has_words = isinstance(got, str) and not re.fullmatch(r"RM\d+|runs|SIG\w+", got)
    of_program = row.get("action", "run") in ("run", "legalize") or row.get("action") == "run-c"
    is_program = of_program and row["kind"] != "missing check" and row["id"] not in NOT_READ
    return is_program and "c_error" not in row and (not has_words or got.startswith("the process"))


def led(rows, state):
    """The states of findings: as they are, and while their row is not known."""
    states, others = {}, {}
    for row in rows:
        states[row["id"]] = state(row)
        with without(row["id"]):
            others[row["id"]] = state(row)
    return states, others


def astray(states):
    """Those findings that do not lead to their own row; the ones of no finding left out."""
    return {name: state for name, state in states.items() if state and name not in re.split(r"[ ,]+", state)}


def check(rows, state, least):
    """Hold the states of findings to both tables."""
    states, others = led(rows, state)
    assert len(states) >= least
    assert sum(not found for found in states.values()) < len(states) / 5
    assert astray(states) == {name: found for name, found in LED_ELSEWHERE.items() if name in states}
    taken = {name: found for name, found in astray(others).items() if found != "new" and states[name]}
    assert taken == {name: found for name, found in WITHOUT_IT.items() if name in states}


def test_each_other_result_leads_to_its_own_row():
    check([row for row in ROWS if is_of_result(row)], state_of_result, 120)


def test_each_error_of_the_c_compiler_leads_to_its_own_row():
    check([row for row in ROWS if "c_error" in row], state_of_c_error, 4)


@pytest.mark.needs("onnx")
def test_each_finding_on_a_model_leads_to_its_own_row():
    check([row for row in ROWS if row.get("action") == "import"], state_of_model, 55)


@pytest.mark.needs("torch")
def test_each_finding_on_a_call_of_pytorch_leads_to_its_own_row():
    check([row for row in ROWS if row.get("action") == "torch"], state_of_call, 25)


def test_a_row_that_is_left_out_is_named_no_more():
    row = next(row for row in ROWS if row["id"] == "exp10-float64")
    assert state_of_result(row) == "like exp10-float64"
    with without("exp10-float64"):
        assert state_of_result(row) == "new"
    assert own_findings.state_of_result(row) == "like exp10-float64"


@pytest.mark.needs("tvm")
def test_each_finding_on_a_step_leads_to_its_own_row(monkeypatch):
    tvm = TvmPrimitives(TVM_PYTHON, seconds=20)
    rows = scheduled_rows({"name": tvm.name})
    causes = {
        name: staged.cause_of_row(tvm, text, tuple(map(staged.step_of_row, steps)), got)
        for name, text, steps, got in rows
    }
    tvm.close()
    assert {name for name, cause in causes.items() if cause is None} == REFUSED_BY_A_CHECK
    hidden = ""
    monkeypatch.setattr(
        staged,
        "causes_of_rows",
        lambda _tvm, step: {
            name: cause for name, cause in causes.items() if cause and cause[0] == step and name != hidden
        },
    )
    others = {}
    for name, cause in causes.items():
        hidden = ""
        if cause:
            assert staged.known_row(tvm, cause) == {"write-at-view": "write-at-matched"}.get(name, name)
            hidden = name
            others[name] = staged.known_row(tvm, cause) or staged.like_row(tvm, cause)
    assert {name: other for name, other in others.items() if other} == STEPS_WITHOUT_IT


@pytest.mark.needs("tvm")
def test_each_finding_on_a_pass_leads_to_its_own_row(monkeypatch):
    """A row that its own program does not show in this TVM makes no finding."""
    tvm = TvmPasses(TVM_PYTHON, passes=(), seconds=20)
    rows = [row for row in rows_on_record({"name": tvm.name}) if row.get("action") in ("pass", "pass-run")]
    pairs = [(row, pass_runs.finding_on(tvm, row["module"], tuple(row["steps"]))) for row in rows]
    findings = {row["id"]: finding for row, finding in pairs if finding is not None}
    causes = {(row["module"], tuple(row["steps"])): finding and finding.cause for row, finding in pairs}
    monkeypatch.setattr(pass_runs, "_cause_recorded", lambda _tvm, text, steps: causes[text, steps])
    states, others = {}, {}
    for name, finding in findings.items():
        states[name] = state_said(pass_runs.message_of(tvm, finding))
        with without(name):
            others[name] = state_said(pass_runs.message_of(tvm, finding))
    tvm.close()
    assert {row["id"] for row in rows} - set(findings) == PASSES_OF_NO_FINDING
    assert astray(states) == PASSES_LED_ELSEWHERE
    assert {name: other for name, other in others.items() if other != "new"} == PASSES_WITHOUT_IT


@pytest.mark.needs("tvm")
def test_each_guilty_pass_is_the_one_of_its_row():
    rows = [row for row in ROWS if "guilty" in row and row["id"] not in TAKES_A_MINUTE]
    assert len(rows) >= 110
    blamed = {}
    for row in rows:
        build = "target=c" if row.get("action") == "run-c" else ""
        compiler = blamed_pipeline.passes_of(TVM_PYTHON, build, 60)
        module, arguments = read(row["module"]), own_findings.arguments_by_name(row)
        tries = (arguments, dict(list(arguments.items())[:-1]))  # what nothing reads is no argument
        blames = (blamed_pipeline.blamed_on(compiler, module, each, is_result=True) for each in tries)
        blamed[row["id"]] = next((blame.name for blame in blames if blame.line), "")
    kept_processes.end_kept()
    assert blamed == {row["id"]: row["guilty"] for row in rows}
