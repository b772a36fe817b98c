"""The descriptors of `tcgen05` that TVM encodes: lines of JSON on stdin, each a call; on stdout each code, or null."""

import json
import sys

from tvm.backend.cuda.cpp import descriptors

FUNCTIONS = {
    "dense": descriptors.encode_instr_descriptor_dense_uint32,
    "scaled": descriptors.encode_instr_descriptor_block_scaled_uint32,
    "matrix": descriptors.encode_smem_descriptor_base_uint64,
}

for line in sys.stdin:
    name, keywords = json.loads(line)
    try:
        code = FUNCTIONS[name](**keywords)
    except ValueError:
        code = None
    sys.stdout.write(json.dumps(code) + "\n")
