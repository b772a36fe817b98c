"""The frozen cases of operators expect what NumPy says of their definitions, computed once more (`graph_operators`)."""

import numpy as np
from case_files import NoWitness, array_of, cases, wrong
from graph_operators import given

LEAST = 1645  # cases that are computed again, at least


def disagreement(case):
    """Where a case does not expect what the witness computes; empty: nowhere."""
    for call in case.row["calls"]:
        if call["assert"]["kind"] != "return":
            raise NoWitness(call["assert"]["kind"])
        found = given(case.function, [array_of(arg) for arg in call["args"]])
        for part, array in zip(call["assert"]["parts"], flat(found), strict=False):
            told = of_part(part, np.asarray(array))
            if told:
                return told
    return ""


def flat(found):
    """The arrays of a tuple, field by field."""
    return [array for part in found for array in flat(part)] if isinstance(found, list) else [found]


def of_part(part, array):
    """The same of a part of what comes back."""
    if "dtype" not in part:
        raise NoWitness(f"a part without elements: {part['rule']}")
    if list(array.shape) != part["shape"] or str(array.dtype) != part["dtype"]:
        return f"shape and dtype are {array.shape} {array.dtype}, expected is {part['shape']} {part['dtype']}"
    number = float if "float" in part["dtype"] else int
    values = [number(each) for each in array.reshape(-1)]
    found = wrong(part, values)
    return f"element {found[0]} is {found[1]}, expected is {found[2]}" if found else ""


def test_expected_values_are_those_of_numpy():
    checked, others, wrongs = 0, [], []
    for case in cases("op", "exact arithmetic", "mpmath", "numpy", "torch"):
        try:
            told = disagreement(case)
        except NoWitness as problem:
            others.append((case.id, str(problem)))
            continue
        checked += 1
        wrongs += [f"{case.id}: {told}"] if told else []
    assert wrongs == []
    assert checked >= LEAST, others


def test_a_wrong_value_is_noticed():
    case = next(each for each in cases("op", "numpy") if each.id.startswith("op.flip."))
    assert disagreement(case) == ""
    part = case.row["calls"][0]["assert"]["parts"][0]
    first, last = part["values"][0], part["values"][-1]
    assert first != last
    part["values"][0] = last
    assert disagreement(case) != ""
