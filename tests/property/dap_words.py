"""What the words of the Debug Adapter Protocol mean to the session: the tables that `dap_machine` compares by."""

import math

from refmlc.debug import FrameKind, Reason
from refmlc.diag.catalogue import CODES
from refmlc.lang.dtypes import dtype
from refmlc.lang.dtypes.storage import storage_dtype

WORDS = {Reason.FAILURE: "exception", Reason.BEGINNING: "entry"}
PREFIX = {FrameKind.LOOP: "for ", FrameKind.BLOCK: "block "}
CONDITIONS = ("", "", "i == 1", "vi > 0", "1 / (i - 1) == 0", "i ==", "nothing == 3", "'i'", "A[i + 90]")
HITS = {
    "": (0, False),
    "2": (1, False),
    ">= 2": (1, False),
    "> 2": (2, False),
    "== 2": (1, True),
    "%2": None,
    "0": None,
}
FILTERS = {
    "nan": None,
    "inf": None,
    "undefined": {"undefined"},
    "trap": {"trap"},
    "RM304": {"RM304"},
    "RM305": {"RM305"},
    "other": {name for name in CODES if name[2] not in "34"},
}


def equal(text, value, kind):
    """Whether a text shows a value, to the bit of its dtype."""
    if value is None:
        return text in ("not initialised", "nothing yet", "nothing")
    if isinstance(value, bool) or kind == "bool":
        return text == str(bool(value))
    if isinstance(value, int):
        return int(text) == value
    if math.isnan(value):
        return text == "nan"
    stored = storage_dtype(dtype(kind)).type if kind else float
    return float(stored(float(text))) == value and math.copysign(1, float(text)) == math.copysign(1, value)
