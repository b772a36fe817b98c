#!/bin/bash -eu
# Build the harness of tests/fuzz for ClusterFuzzLite: a program and its seeds, the modules of tests/programs.
pip3 install .
compile_python_fuzzer tests/fuzz/read_module.py
zip -jq "$OUT/read_module_seed_corpus.zip" tests/programs/*.py
