"""ONNX's own backend tests through `refmlc.frontends.onnx_backend`: what is right, near, wrong, unsupported, refused.

`python tests/e2e/onnx_backend.py [--kind node] [--match TEXT] [--show 20]` prints the counts and, for what is not
right, the reasons with their counts. What is right is decided by ONNX's own comparison, with its tolerances; what
differs by rounding only is near. A wrong result or a traceback is exit status 1. `--table FILE` writes the table of
operators that stands in `docs/reference`.
"""

import argparse
import re
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import BackendTest
from onnx.backend.test.loader import load_model_tests

from refmlc.diag import RefmlcError
from refmlc.diag.errors import Unsupported
from refmlc.frontends import onnx_backend
from refmlc.frontends.onnx.functions import has_definition
from refmlc.frontends.onnx.rules import rule_of

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
NUMBER = re.compile(r"\d+")
READERS = {"sequence_type": "to_list", "optional_type": "to_optional", "tensor_type": "to_array"}
PROTOS = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto, "tensor_type": onnx.TensorProto}


def cases(kinds):
    """Name, model, inputs and outputs of each case, those of one kind after the other."""
    for kind in kinds:
        for case in load_model_tests(kind=kind):
            if case.model is not None:
                for inputs, outputs in case.data_sets or ():
                    data = [[_array(one) for one in values] for values in (inputs, outputs)]
                    yield f"{kind}:{case.name}", case.model, *data, case.rtol, case.atol
            elif case.model_dir:
                folder = Path(case.model_dir)
                model = onnx.load(str(folder / "model.onnx"))
                for data in sorted(folder.glob("test_data_set_*")):
                    inputs = _read(data, "input", model.graph.input)
                    outputs = _read(data, "output", model.graph.output)
                    yield f"{kind}:{case.name}", model, inputs, outputs, case.rtol, case.atol


def _array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read(folder, what, values):
    found = []
    for place in range(len(list(folder.glob(f"{what}_*.pb")))):
        kind = values[place].type.WhichOneof("value")
        proto = PROTOS[kind]()
        proto.ParseFromString((folder / f"{what}_{place}.pb").read_bytes())
        found.append(getattr(numpy_helper, READERS[kind])(proto))
    return found


def _flat(outputs):
    """Tensors, those of sequences among them: ONNX's comparison takes a scalar in a sequence for a list of rows."""
    sequences = [(one if isinstance(one, list) else [one]) for one in outputs]
    return [np.array([len(one) for one in sequences]), *(array for one in sequences for array in one)]


def is_noise(outputs, wanted):
    """Whether floats differ by rounding only: by a few units of the greatest element, so for results near 0."""
    if [one.shape for one in outputs] != [one.shape for one in wanted]:
        return False
    pairs = [
        (ours.astype(np.float64), theirs.astype(np.float64), theirs)
        for ours, theirs in zip(outputs, wanted, strict=True)
    ]
    return all(
        np.array_equal(a, b)
        if theirs.dtype not in (np.float32, np.float64)
        else np.abs(a - b).max(initial=0) <= 4 * np.finfo(theirs.dtype).eps * np.abs(b).max(initial=0)
        for a, b, theirs in pairs
    )


def judge(model, inputs, wanted, rtol, atol):
    """What became of one case, and why."""
    try:
        with np.errstate(all="ignore"):
            outputs = onnx_backend.prepare(model, tier="interp").run(inputs)
        BackendTest.assert_similar_outputs(_flat(wanted), _flat(outputs), rtol, atol)
    except Unsupported as unsupported:
        return "unsupported", unsupported.diagnostic.message
    except RefmlcError as refused:
        return "refused", f"{refused.diagnostic.code.id} {refused.diagnostic.message}"
    except AssertionError as differs:
        if is_noise(_flat(outputs), _flat(wanted)):
            return "near", "the difference is less than 4 units in the last place of the greatest element"
        return "wrong", " ".join(str(differs).split())
    except Exception as broken:  # noqa: BLE001 - that is what is counted
        place = broken.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
        return "traceback", f"{type(broken).__name__}: {broken} ({where})"
    return "right", ""


# ---------------------------------------------------------------------------------------------------- the table

PAGE = """# Operators of ONNX

Which operators of ONNX {onnx} `from_onnx` translates, and what ONNX's own backend tests say of the results. Written by
`python tests/e2e/onnx_backend.py --table docs/reference/onnx-operators.md`.

{summary}

An operator is translated by a rule of refmlc, or by the function body that ONNX defines it with. The counts are of the
tests of one node: how many are right, and of how many. What is not right is refused with a message that names the
reason; the table has the most frequent ones. An operator that no test covers has no count.

| operator | by | right | of | not supported |
|----------|----|-------|----|---------------|
{rows}
"""
DOMAINS = ("", "ai.onnx.preview.training")


def operators():
    """The operators of ONNX that are not deprecated: domain and name."""
    schemas = [one for one in onnx.defs.get_all_schemas() if one.domain in DOMAINS and not one.deprecated]
    return sorted({(one.domain, one.name) for one in schemas})


def way_of(domain, name):
    """By what an operator is translated."""
    if rule_of(domain, name) is not None:
        return "rule"
    return "definition" if has_definition(domain, name) else ""


def label(domain, name):
    """An operator as the page writes it."""
    return f"`{name}` ({domain})" if domain else f"`{name}`"


def page(verdicts, counts):
    """The page of the table. `verdicts`: by domain and operator, the states and reasons of its cases."""
    rows = []
    for domain, name in operators():
        states = verdicts.get((domain, name), [])
        right = sum(state == "right" for state, _ in states)
        reasons = Counter(why for state, why in states if state != "right")
        text = "; ".join(_cell(why) for why, _ in reasons.most_common(3))
        numbers = f"{right} | {len(states)}" if states else " | "
        rows.append(f"| {label(domain, name)} | {way_of(domain, name)} | {numbers} | {text} |")
    total = counts.total()
    kinds = ", ".join(f"`{kind}`" for kind in KINDS[1:])
    rest = f"{counts['near']} near (they differ by rounding only), {counts['unsupported']} unsupported"
    bad = counts["refused"] + counts["wrong"] + counts["traceback"]
    summary = f"Of {total} tests (of nodes, {kinds}) {counts['right']} are right,\n{rest}, {bad} wrong."
    return PAGE.format(onnx=onnx.__version__, summary=summary, rows="\n".join(rows))


def _cell(why):
    return why.replace("|", "\\|")[:90]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--match", default="", help="a regular expression")
    parser.add_argument("--show", type=int, default=30)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, reasons, bad = Counter(), Counter(), []
    example, verdicts = {}, defaultdict(list)
    part, parts = map(int, options.part.split("/"))
    for number, (name, model, inputs, outputs, rtol, atol) in enumerate(cases(options.kind or KINDS)):
        if not re.search(options.match, name) or number % parts != part - 1:
            continue
        state, why = judge(model, inputs, outputs, rtol, atol)
        counts[state] += 1
        if len(model.graph.node) == 1:
            node = model.graph.node[0]
            verdicts["" if node.domain == "ai.onnx" else node.domain, node.op_type].append((state, why))
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
    if options.table is not None:
        options.table.write_text(page(verdicts, counts), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
