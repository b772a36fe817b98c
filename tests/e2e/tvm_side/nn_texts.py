"""What TVM exports for the models of `nn_models`, as JSON. Run by real TVM's Python."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from nn_models import texts
from tvm import topi
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn.llm import kv_cache  # noqa: F401 - makes it a member of `nn`

sys.stdout.write(json.dumps(texts(nn, topi)))
