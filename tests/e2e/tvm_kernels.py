"""Which of TVM's rules take which functions, and what `Fallback` makes of them: refmlc beside real TVM 0.27.

`python tests/e2e/tvm_kernels.py` under TVM's Python (`--alone`) writes functions and verdicts as JSON; under refmlc's
it compares. The functions are those of `OPERATORS` after the pipeline `zero`.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

RULES = ("Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "Transpose", "RMSNorm", "Fallback")
OPERATORS = (
    ("R.add(x, y)", (4, 6), (6,)),
    ("R.nn.relu(R.multiply(x, y))", (4, 6), (4, 6)),
    ("R.matmul(x, y)", (8, 16), (16, 32)),
    ("R.nn.relu(R.matmul(x, y))", (1, 768), (768, 256)),
    ("R.add(R.matmul(x, R.permute_dims(y)), x)", (1, 64), (64, 64)),
    ("R.matmul(x, y)", (32, 64), (64,)),
    ("R.matmul(x, y)", (64,), (64, 32)),
    ("R.nn.relu(R.matmul(x, y))", (300, 2000), (2000,)),
    ("R.matmul(x, y)", (2, 8, 16), (2, 16, 4)),
    ("R.matmul(x, y)", (3, 8, 16), (16, 4)),
    ("R.matmul(x, y)", (2, 1, 16), (2, 16, 4)),
    ("R.matmul(x, y)", (5, 1), (1, 7)),
    ("R.nn.conv2d(x, y, padding=[1, 1, 1, 1])", (1, 4, 8, 8), (4, 4, 3, 3)),
    ("R.nn.relu(R.nn.conv2d(x, y))", (2, 4, 8, 8), (6, 4, 1, 1)),
    ("R.nn.conv2d(x, y, groups=4)", (1, 4, 8, 8), (4, 1, 3, 3)),
    ("R.sum(x, axis=[1])", (4, 6)),
    ("R.sum(x, axis=[0])", (4, 6)),
    ("R.sum(x)", (4, 6)),
    ("R.sum(x, axis=[1], keepdims=True)", (4, 6, 8)),
    ("R.sum(x, axis=[0, 2])", (4, 6, 8)),
    ("R.exp(R.sum(R.multiply(x, x), axis=[1]))", (4, 6)),
    ("R.divide(x, R.sum(x, axis=[1], keepdims=True))", (4, 6)),
    ("R.max(x, axis=[1])", (4, 6)),
    ("R.prod(x, axis=[1])", (4, 6)),
    ("R.mean(x, axis=[1])", (4, 6)),
    ("R.variance(x, axis=[1])", (4, 6)),
    ("R.argmax(x, axis=1)", (4, 6)),
    ("R.nn.softmax(x, axis=1)", (4, 6)),
    ("R.nn.softmax(x, axis=0)", (4, 6)),
    ("R.nn.softmax(x)", (2, 3, 8)),
    ("R.nn.log_softmax(x)", (4, 6)),
    ("R.nn.layer_norm(x, y, y, axes=[-1])", (4, 6), (6,)),
    ("R.nn.layer_norm(x, y, y, axes=[-1])", (1, 768), (768,)),
    ("R.nn.rms_norm(x, y, axes=[-1])", (4, 6), (6,)),
    ("R.nn.rms_norm(x, y, axes=[-1])", (1, 5, 64), (64,)),
    ("R.nn.group_norm(x, y, y, num_groups=2, channel_axis=1, axes=[2, 3])", (2, 4, 3, 3), (4,)),
    ("R.permute_dims(x)", (4, 6)),
    ("R.permute_dims(x)", (1, 6)),
    ("R.permute_dims(x, axes=[0, 2, 1])", (3, 4, 6)),
    ("R.nn.relu(R.permute_dims(x))", (40, 60)),
    ("R.permute_dims(R.nn.relu(x))", (40, 60)),
    ("R.reshape(x, (6, 4))", (4, 6)),
    ("R.concat((x, y), axis=0)", (4, 6), (3, 6)),
    ("R.nn.max_pool2d(x, pool_size=[2, 2])", (1, 4, 8, 8)),
    ("R.nn.avg_pool2d(x, pool_size=[2, 2])", (1, 4, 8, 8)),
    ("R.strided_slice(x, axes=[0], begin=[1], end=[3])", (4, 6)),
    ("R.nn.pad(x, (0, 0, 1, 1))", (4, 6)),
    ("R.cumsum(x, axis=1)", (4, 6)),
    ("R.expand_dims(x, axis=[0])", (4, 6)),
    ("R.broadcast_to(x, (4, 6))", (1, 6)),
    ("R.nn.gelu(x)", (33, 77)),
    ('R.astype(x, "float16")', (4, 6)),
)
HEAD = """# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
            out = {call}
            R.output(out)
        return out
"""


def texts():
    """The modules."""
    for call, *shapes in OPERATORS:
        params = ", ".join(f'{name}: R.Tensor({shape}, "float32")' for name, shape in zip("xy", shapes, strict=False))
        yield call, HEAD.format(params=params, call=call)


def theirs():
    """What real TVM says of them."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [os.environ["REFMLC_TVM_PYTHON"], str(Path(__file__).resolve()), "--alone"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def alone():
    """By name of a function: its text, the rules that take it, and what `Fallback` makes of it."""
    import tvm  # noqa: PLC0415 - real TVM
    from tvm import relax, tirx  # noqa: PLC0415
    from tvm.s_tir import dlight  # noqa: PLC0415

    target = tvm.target.Target("cuda")
    results = {}
    for number, (call, text) in enumerate(texts()):
        with target:
            module = relax.get_pipeline("zero")(tvm.script.from_source(text))
        for name, func in module.functions_items():
            if not isinstance(func, tirx.PrimFunc):
                continue
            verdicts = {}
            for rule in RULES:
                try:
                    schedule = getattr(dlight.gpu, rule)().apply(func, target, False)
                except Exception as problem:  # noqa: BLE001 - a rule's own
                    verdicts[rule] = type(problem).__name__
                    continue
                verdicts[rule] = schedule is not None
                if rule == "Fallback" and schedule is not None:
                    made = schedule.mod["main"].script()
            results[f"{number} {call}: {name.name_hint}"] = {"text": func.script(), "takes": verdicts, "fallback": made}
    return results


def ours(results):
    """The same of refmlc: by name, the rules that take the function and the text that `Fallback` makes."""
    import refmlc  # noqa: PLC0415 - TVM's Python has none
    from refmlc.tvm.devices import Target  # noqa: PLC0415
    from refmlc.tvm.s_tir.dlight import gpu  # noqa: PLC0415

    mine = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = Target("cuda")
        for name, row in results.items():
            (func,) = refmlc.read(row["text"]).functions.values()
            schedules = {rule: getattr(gpu, rule)().apply(func, target, False) for rule in RULES}
            takes = {rule: schedule is not None for rule, schedule in schedules.items()}
            fallback = schedules["Fallback"]
            mine[name] = {"takes": takes, "fallback": None if fallback is None else fallback.mod}
    return mine


def main():
    """TVM's verdicts, or a line for each that differs."""
    if "--alone" in sys.argv:
        json.dump(alone(), sys.stdout)
        return 0
    import refmlc  # noqa: PLC0415 - as above
    from refmlc.lang.ir.equal import first_difference  # noqa: PLC0415
    from refmlc.rewrite.transform import deduced  # noqa: PLC0415

    real = theirs()
    mine = ours(real)
    counts = {"verdicts": 0, "same": 0, "exceptions there": 0, "fallback equal": 0}
    for name, row in real.items():
        for rule, verdict in row["takes"].items():
            counts["verdicts"] += 1
            same = mine[name]["takes"][rule] == (verdict is True)
            counts["same"] += same
            counts["exceptions there"] += isinstance(verdict, str)
            if not same or isinstance(verdict, str):
                sys.stdout.write(f"{name} {rule}: {mine[name]['takes'][rule]}, TVM {verdict}\n")
        if mine[name]["fallback"] is not None and row["takes"]["Fallback"] is True:
            difference = first_difference(deduced(mine[name]["fallback"]), deduced(refmlc.read(row["fallback"])))
            counts["fallback equal"] += difference is None
            if difference is not None:
                sys.stdout.write(f"{name} fallback: {str(difference)[:200]}\n")
    sys.stdout.write(f"{len(real)} functions, {counts}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
