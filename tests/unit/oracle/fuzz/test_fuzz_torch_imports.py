"""Programs of PyTorch: drawn again from a seed, judged, one guilty call made small; importers are stand-ins."""

import json
from dataclasses import replace

import numpy as np
import pytest

from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.subjects.imports import torch_imports
from refmlc.oracle.fuzz.subjects.imports.tensor_reduction import less, reduced
from refmlc.oracle.fuzz.subjects.imports.torch_operators import (
    FUNCTIONS,
    TorchCall,
    TorchProgram,
    drawn_program,
    function_of,
)

SETTINGS = CampaignSettings(kinds=(torch_imports.KIND,), implementations=())


class Deaf(torch_imports.TorchJudge):
    """An importer that does not hear of an option."""

    def __init__(self, name):
        super().__init__((), 20.0)
        self.name = name

    def of(self, _path, program):
        calls = [
            replace(call, options={key: value for key, value in call.options.items() if key != self.name})
            for call in program.calls
        ]
        return self.evaluated(replace(program, calls=tuple(calls)))


def test_a_seed_gives_its_program_and_data_give_it_back():
    texts = [json.dumps(drawn_program(seed).to_json()) for seed in range(300)]
    assert texts == [json.dumps(drawn_program(seed).to_json()) for seed in range(300)]
    assert [json.dumps(TorchProgram.from_json(json.loads(text)).to_json()) for text in texts] == texts
    drawn = [TorchProgram.from_json(json.loads(text)) for text in texts]
    assert {len(each.calls) for each in drawn} == {1, 2, 3}
    assert len({call.function for each in drawn for call in each.calls}) > len(FUNCTIONS) / 2
    arrays = [array for each in drawn for array in each.arguments.values()]
    assert {0, 1, 7} <= {size for array in arrays for size in array.shape}
    assert any(each.constants for each in drawn)


def test_a_function_that_the_table_does_not_have_is_not_taken():
    data = drawn_program(0).to_json()
    with pytest.raises(ValueError, match="load"):
        TorchProgram.from_json({**data, "calls": [["load", ["x"], {}]]})


def test_excluded_functions_are_not_drawn():
    kept = {"F.pad", "neg"}
    drawn = [drawn_program(seed, exclude=set(torch_imports.function_names()) - kept) for seed in range(40)]
    assert {function_of(call.function) for each in drawn for call in each.calls} == kept
    assert {call.options.get("mode") for each in drawn for call in each.calls} > {"reflect", "replicate", "circular"}
    with pytest.raises(ValueError, match="no function"):
        drawn_program(0, exclude=torch_imports.function_names())


def test_a_program_is_made_smaller_until_nothing_is_left_to_cut_and_nan_stays():
    """A tensor with NaN is equal to its own integral part: it is not offered again without end."""
    tensors = {"x": np.array([[np.nan, 1.5, 2.5], [1.0, 2.0, 3.0]], "float32"), "w": np.array(0.5)}
    program = TorchProgram((TorchCall("abs", ("x",)),), {}, tensors)
    ways = list(less(program))
    assert [each.arguments["x"].shape for each in ways] == [(2, 2), (2, 2), (1, 3), (1, 3), (2, 3), (2, 3)]
    small = reduced(program, less, lambda each: bool(np.isnan(each.arguments["x"]).any()))
    assert (small.arguments["x"].shape, np.isnan(small.arguments["x"]).all(), small.arguments["w"]) == ((1, 1), True, 0)


def test_without_pytorch_a_campaign_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(torch_imports, "missing", lambda: "torch")
    result = torch_imports.run_programs(SETTINGS, 0, [0, 1])
    (reason,) = result.reasons["pytorch"]
    assert "`torch` is not installed" in reason
    assert result.verdicts == {"pytorch": {"unsupported": 2}}


def test_a_cause_says_what_the_inputs_hold_and_a_signature_does_not():
    call = TorchCall("F.softmin", ("x",), {"dim": 0})
    for array, word in ((np.array([np.inf], "float32"), "special"), (np.zeros(0, "float32"), "empty")):
        cause = torch_imports.cause_of(TorchProgram((call,), {}, {"x": array}), "nan")
        assert cause == ("F.softmin", "dim", word, "float32", "nan")
        assert torch_imports.brief(cause) == ("F.softmin", "dim", "nan")
    resized = TorchCall("F.interpolate", ("x",), {"size": [4]})
    program = TorchProgram((resized,), {}, {"x": np.ones((1, 1, 3), "float32")})
    assert torch_imports.cause_of(program, "value") == ("F.interpolate", "nearest", "size", "float32", "value")
    several = TorchProgram((call, TorchCall("neg", ("y0",))), {}, {"x": np.ones(1, "float32")})
    assert torch_imports.cause_of(several, "nan") == ("F.softmin+neg", "nan")


@pytest.mark.needs("torch")
def test_the_first_wrong_call_is_guilty_and_keeps_what_its_fault_needs():
    calls = (
        TorchCall("abs", ("x",)),
        TorchCall("sum", ("y0",), {"dim": -2, "keepdim": True, "dtype": "float64"}),
    )
    program = TorchProgram(calls, {}, {"x": np.ones((2, 3), "float32")})
    finding = torch_imports.finding_of(Deaf("keepdim"), torch_imports.OURS, program)
    assert finding.cause == ("sum", "dim", "keepdim", "float32", "shape")
    assert [call.function for call in finding.program.calls] == ["sum"]
    assert finding.code == "RM706"
    assert torch_imports.finding_of(Deaf("none"), torch_imports.OURS, program) is None
    assert torch_imports.judged(torch_imports.TorchJudge((), 20.0), torch_imports.OURS, program)[0] == "equal"


@pytest.mark.needs("torch")
def test_the_planted_fault_is_found_each_time_a_process_begins(monkeypatch):
    torch_imports.prove_power.cache_clear()
    torch_imports.prove_power()
    torch_imports.prove_power.cache_clear()
    monkeypatch.setattr(torch_imports, "finding_of", lambda *_: None)
    with pytest.raises(RuntimeError, match="planted"):
        torch_imports.prove_power()


@pytest.mark.needs("torch")
def test_refmlc_alone_is_held_to_pytorch():
    result = torch_imports.run_programs(SETTINGS, 0, range(12))
    assert set(result.verdicts) == {torch_imports.OURS}
    assert sum(result.verdicts[torch_imports.OURS].values()) == 12
    assert result.verdicts[torch_imports.OURS]["equal"] > 7
    assert result.coverage["PyTorch functions"]


class NoNegativeZero(torch_imports.TorchJudge):
    """An importer whose tanh has no -0: alone it is equal."""

    def of(self, _path, program):
        values = {**program.constants, **program.arguments}
        for number, call in enumerate(program.calls):
            alone = torch_imports.alone_of(program, call, values)
            (result,) = self.evaluated(alone)
            values[f"y{number}"] = result + 0 if call.function == "tanh" else result
        return [values[f"y{len(program.calls) - 1}"]]


@pytest.mark.needs("torch")
def test_a_zero_of_the_other_sign_of_which_a_later_call_makes_more_is_the_cause():
    judge = NoNegativeZero((), 20.0)
    tanh, inverse, total = TorchCall("tanh", ("x",)), TorchCall("reciprocal", ("y0",)), TorchCall("neg", ("y1",))
    program = TorchProgram((tanh, inverse, total), {}, {"x": np.array([1.0, -0.0], "float32")})
    finding = torch_imports.finding_of(judge, torch_imports.OURS, program)
    assert finding.cause == ("tanh", "zero", "float32", "nan")
    assert len(finding.program.calls) == 3
    other = TorchProgram((TorchCall("sin", ("x",)), *program.calls[1:]), {}, program.arguments)
    assert torch_imports.finding_of(judge, torch_imports.OURS, other) is None


@pytest.mark.needs("torch")
def test_a_program_that_pytorch_does_not_save_is_refused_and_stops_no_batch(monkeypatch):
    def fails(_program, _path):
        raise RuntimeError("numel: integer multiplication overflow")

    monkeypatch.setattr("refmlc.oracle.fuzz.subjects.imports.torch_modules.written", fails)
    program = TorchProgram((TorchCall("abs", ("x",)),), {}, {"x": np.ones(1, "float32")})
    found = torch_imports.TorchJudge((), 20.0).of("tvm-importer:/a/python", program)
    assert found == "refused: PyTorch does not save the program: numel: integer multiplication overflow"


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("values", "is_judged"), [([1.5, -3.0], True), ([1.5, np.inf], False), ([1.5, 3e9], False)])
def test_a_program_that_casts_what_has_no_value_is_not_judged(values, is_judged):
    judge, array = torch_imports.TorchJudge((), 20.0), np.array(values, "float32")
    calls = (TorchCall("neg", ("x",)), TorchCall("cumsum", ("y0",), {"dim": 0, "dtype": "int32"}))
    for program in (TorchProgram(calls, {}, {"x": array}), TorchProgram(calls[:1], {}, {"x": array})):
        is_sum = len(program.calls) > 1
        assert isinstance(judge.evaluated(program), str) is (is_sum and not is_judged)


@pytest.mark.needs("torch")
def test_a_program_that_pytorch_exports_with_other_shapes_is_not_drawn():
    """PyTorch exports `pixel_unshuffle` of an empty tensor with a shape that its own run does not have."""
    judge = torch_imports.TorchJudge((), 20.0)
    calls = (TorchCall("F.pixel_unshuffle", ("x",), {"downscale_factor": 2}),)
    for shape, is_same in (((1, 2, 2, 2), True), ((2, 2, 0, 2), False)):
        program = TorchProgram(calls, {}, {"x": np.zeros(shape, "float32")})
        assert not isinstance(judge.evaluated(program), str)
        assert judge.exports(program) is is_same
