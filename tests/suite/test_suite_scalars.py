"""The frozen cases of scalar operators and casts expect what exact arithmetic and mpmath say, computed once more."""

import math

import pytest
from case_files import NoWitness, cases, elements, wrong
from scalars import NO, Function

AREAS = {"scalar": 1379, "cast": 879}  # cases that are computed again, at least


def disagreement(case):
    """Where a case does not expect what the witness computes; empty: nowhere."""
    function = Function(case.function)
    names = list(function.dtypes)
    for call in case.row["calls"]:
        columns = {
            name: elements(arg) for name, arg in zip(names, call["args"], strict=True) if name != function.result
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        values = [function.at(row) for row in rows]
        part = call["assert"]["parts"][names.index(function.result)]
        if NO in values:
            return f"no value of {rows[values.index(NO)]}"
        found = wrong(part, values)
        if found:
            return f"element {found[0]} is {found[1]}, expected is {found[2]}"
        if part["rule"] == "certified" and function.is_transcendental:
            found = ends(function, rows, part)
            if found:
                return found
    return ""


def ends(function, rows, part):
    """Where an interval is not the bound of the clause around the value."""
    for row, low, high in zip(rows, part["low"], part["high"], strict=True):
        least, most = function.ends_at(row)
        if all(map(math.isfinite, (least, most))) and (least, most) != (float.fromhex(low), float.fromhex(high)):
            return f"at {row} the bound leaves {least} to {most}, expected is {low} to {high}"
    return ""


@pytest.mark.parametrize("area", AREAS)
def test_expected_values_are_those_of_exact_arithmetic(area):
    checked, others, wrongs = 0, [], []
    for case in cases(area, "exact arithmetic", "mpmath", "numpy"):
        try:
            told = disagreement(case)
        except NoWitness as problem:
            others.append((case.id, str(problem)))
            continue
        checked += 1
        wrongs += [f"{case.id}: {told}"] if told else []
    assert wrongs == []
    assert checked >= AREAS[area], others


@pytest.mark.parametrize("name", ["scalar.add.int8", "scalar.exp.float64", "cast.float32.int8"])
def test_a_wrong_value_is_noticed(name):
    case = next(each for each in cases(name.split(".")[0], "exact arithmetic", "mpmath") if each.id == name)
    assert disagreement(case) == ""
    part = case.row["calls"][0]["assert"]["parts"][-1]
    if part["rule"] == "certified":
        part["low"][0] = part["high"][0] = "0x1.8p+0"
    else:
        part["values"][0] = "0x1p+1" if isinstance(part["values"][0], str) else part["values"][0] ^ 1
    assert disagreement(case) != ""
