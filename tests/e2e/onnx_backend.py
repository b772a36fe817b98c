"""ONNX's own backend tests put to refmlc: right, near, folded, wrong, unsupported by name, refused, traceback.

`python tests/e2e/onnx_backend.py [--kind node] [--match TEXT] [--show 20]` prints the counts and, for what is not
right, the reasons with their counts. Integer inputs that an import needs to know (shapes, axes) are given to it, when
the general import says that it needs them. `folded`: nothing is left for refmlc to compute then, since ONNX's own
evaluator has computed it; such a case shows nothing. A wrong result or a traceback is exit status 1.
"""

import argparse
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import refmlc
from refmlc.diag import RefmlcError
from refmlc.diag.errors import Unsupported
from refmlc.frontends.onnx import from_onnx
from refmlc.lang.ir import relax
from refmlc.lang.ir.visit import walk

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
NUMBER = re.compile(r"\d+")


def cases(kinds):
    """Name, model, inputs and outputs of each case, those of one kind after the other."""
    for kind in kinds:
        for case in load_model_tests(kind=kind):
            if case.model is not None:
                for inputs, outputs in case.data_sets or ():
                    yield f"{kind}:{case.name}", case.model, list(inputs), list(outputs), case.rtol, case.atol
            elif case.model_dir:
                folder = Path(case.model_dir)
                model = onnx.load(str(folder / "model.onnx"))
                for data in sorted(folder.glob("test_data_set_*")):
                    yield (
                        f"{kind}:{case.name}",
                        model,
                        _read(data, "input"),
                        _read(data, "output"),
                        case.rtol,
                        case.atol,
                    )


def _read(folder, what):
    found = []
    for place in range(len(list(folder.glob(f"{what}_*.pb")))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{what}_{place}.pb").read_bytes())
        try:
            found.append(numpy_helper.to_array(tensor))
        except Exception:  # noqa: BLE001 - a sequence is no tensor
            found.append(None)
    return found


def answer(model, inputs):
    """The outputs of a model, by an import that knows no input, else by one that knows the integers."""
    inputs = [numpy_helper.to_array(one) if isinstance(one, onnx.TensorProto) else one for one in inputs]
    inputs = [np.asarray(one) if isinstance(one, np.generic) else one for one in inputs]
    initial = {one.name for one in model.graph.initializer}
    names = [one.name for one in model.graph.input if one.name not in initial][: len(inputs)]
    given = dict(zip(names, inputs, strict=True))
    try:
        return run(from_onnx(model), [given[name] for name in names])
    except Unsupported as unsupported:
        last: Exception = unsupported
    for known in attempts(given):
        try:
            module = from_onnx(model, known=known)
            return run(module, [given[name] for name in names if name not in known])
        except (Unsupported, Folded) as still:
            last = still
    raise last from None


def attempts(given):
    """What an import may be told: small inputs, integers before floats, as few as possible."""
    small = {name: one for name, one in given.items() if isinstance(one, np.ndarray) and one.size <= 64}
    integers = {name: one for name, one in small.items() if one.dtype.kind in "iub"}
    alone = [{name: one} for name, one in sorted(small.items(), key=lambda item: item[0] not in integers)]
    every = [known for known in (*alone, integers, small) if known]
    return [known for place, known in enumerate(every) if list(known) not in [list(one) for one in every[:place]]]


class Folded(Exception):
    """The import left nothing to compute: ONNX's own evaluator has given the result, so refmlc is not tested."""


def run(module, inputs):
    func = module["main"]
    if not any(isinstance(node, relax.Call | relax.If) or node in func.params for node in walk(func.body)):
        raise Folded
    vm = refmlc.VirtualMachine(refmlc.build(module, "interp"))
    with np.errstate(all="ignore"):
        found = vm["main"](*inputs)
    return [one.numpy() if hasattr(one, "numpy") else one for one in (found if isinstance(found, tuple) else (found,))]


def judge(model, inputs, wanted, rtol, atol):
    """What became of one case, and why."""
    try:
        found = answer(model, inputs)
    except Folded:
        return "folded", "ONNX's own evaluator computes the result while the model is imported"
    except Unsupported as unsupported:
        return "unsupported", unsupported.diagnostic.message
    except RefmlcError as refused:
        return "refused", f"{refused.diagnostic.code.id} {refused.diagnostic.message}"
    except Exception as broken:  # noqa: BLE001 - that is what is counted
        place = broken.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        return (
            "traceback",
            f"{type(broken).__name__}: {broken} ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})",
        )
    near = ""
    if len(found) < len(wanted):
        return "wrong", f"{len(found)} outputs of {len(wanted)}"
    for ours, expected in zip(found, wanted, strict=False):
        if expected is None:
            return "unsupported", "an output that is no tensor"
        theirs = numpy_helper.to_array(expected) if isinstance(expected, onnx.TensorProto) else np.asarray(expected)
        if ours.dtype != theirs.dtype:
            return "wrong", f"dtype {ours.dtype} for {theirs.dtype}"
        if ours.shape != theirs.shape:
            return "wrong", f"shape {ours.shape} for {theirs.shape}"
        a, b = (one.astype(np.float64) if one.dtype.kind in "fV" else one for one in (ours, theirs))
        try:
            same = np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=a.dtype.kind == "f")
        except TypeError:
            same = np.array_equal(ours, theirs)
        if not same and is_near(ours, theirs):
            near = "a float of 16 bits is within 2 units in the last place"
        elif not same:
            return "wrong", f"values: {ours.ravel()[:3]} for {theirs.ravel()[:3]}"
    return ("near", near) if near else ("right", "")


def is_near(ours, theirs):
    """Whether floats of 16 bits differ by at most two units in the last place: ONNX's own are rounded at every step."""
    if str(ours.dtype) not in ("float16", "bfloat16"):
        return False
    codes = [one.view(np.int16).astype(np.int64) for one in (ours, theirs)]
    ordered = [np.where(code < 0, -32768 - code, code) for code in codes]
    return bool((np.abs(ordered[0] - ordered[1]) <= 2).all())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--match", default="")
    parser.add_argument("--show", type=int, default=30)
    parser.add_argument("--part", default="1/1")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, reasons, bad = Counter(), Counter(), []
    example = {}
    part, parts = map(int, options.part.split("/"))
    for number, (name, model, inputs, outputs, rtol, atol) in enumerate(cases(options.kind or KINDS)):
        if options.match not in name or number % parts != part - 1:
            continue
        state, why = judge(model, inputs, outputs, rtol, atol)
        counts[state] += 1
        if state != "right":
            key = (state, NUMBER.sub("#", why))
            reasons[key] += 1
            example.setdefault(key, name)
        if state in ("wrong", "traceback"):
            bad.append(f"{state} {name}: {why}")
    for key, count in reasons.most_common(options.show):
        sys.stdout.write(f"{count:5} {key[0]:12} {key[1][:150]}   [{example[key]}]\n")
    for line in bad:
        sys.stdout.write(f"{line[:300]}\n")
    sys.stdout.write(f"{dict(counts)} of {counts.total()}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
