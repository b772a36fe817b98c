"""The operators of devices that TVM registers, as the rows of `refmlc.lang.ops.intrinsics.device`.

Run inside TVM's environment: `python device_operators.py`. Prints JSON: `named` maps the name in a text to the name in
the registry; `operands` maps it to the least and the most arguments of the function that a text calls (null: any
number), where that function says them; `ptx` maps a family of instructions to its numbers of operands, least and most
(null: it depends on the modifiers), and its modifiers, as a text spells them.
"""

import inspect
import json
import sys

import tvm.script.tirx as T
from tvm.backend.cuda.ptx.table import TABLE, escape_token
from tvm.ir import Op

DEVICES = ("cuda", "metal", "nki", "nvshmem", "ptx_legacy", "s_tir", "webgpu")


def named() -> dict[str, str]:
    """The operators that are called by a dotted name, but PTX."""
    rows = {}
    for name in map(str, Op.list_op_names()):
        if name.startswith("tirx."):
            shown = str(Op.get(name).get_attr("TScriptPrinterName"))
            if shown.partition(".")[0] in DEVICES and "." in shown:
                rows[shown] = name.removeprefix("tirx.")
    return dict(sorted(rows.items()))


def operands() -> dict[str, tuple[int, int | None]]:
    """The numbers of arguments, by the signatures."""
    rows = {}
    for name in named():
        function = T
        for part in name.split("."):
            function = getattr(function, part)
        parameters = list(inspect.signature(function).parameters.values())
        plain = [item for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]
        if any(item.kind is item.VAR_KEYWORD for item in parameters) or "all_args" in [
            item.name for item in parameters
        ]:
            continue
        least = sum(item.default is item.empty for item in plain)
        rows[name] = (least, len(plain) if len(plain) == len(parameters) else None)
    return rows


def arity(entry) -> tuple[int, int | None]:
    """The least and the most operands of an instruction."""
    lanes = [operand.lanes for operand in entry.operands if getattr(operand, "literal", None) is None]
    fixed = [lane for lane in lanes if not callable(lane)]
    return sum(fixed), sum(fixed) if len(fixed) == len(lanes) else None


def ptx() -> dict[str, list[object]]:
    """The families of PTX instructions."""
    rows: dict[str, list[object]] = {}
    for family in sorted({entry.family for entry in TABLE.values()}):
        entries = [entry for entry in TABLE.values() if entry.family == family]
        counts = [arity(entry) for entry in entries]
        most = [count for _, count in counts]
        modifiers = {escape_token(token) for entry in entries for slot in entry.slots for token in slot.choices}
        rows[escape_token(family)] = [
            min(least for least, _ in counts),
            None if None in most else max(most),
            sorted(modifiers),
        ]
    return rows


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"named": named(), "operands": operands(), "ptx": ptx()}))
