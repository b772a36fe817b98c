"""The operators of devices that TVM registers, as the rows of `refmlc.lang.ops.intrinsics.device`.

Run inside TVM's environment: `python device_operators.py`. Prints JSON: `named` maps the name in a text to the name in
the registry; `ptx` maps a family of instructions to its numbers of operands, least and most (null: it depends on the
modifiers), and its modifiers, as a text spells them.
"""

import json
import sys

import tvm.script.tirx  # noqa: F401 - it registers the names
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
    sys.stdout.write(json.dumps({"named": named(), "ptx": ptx()}))
