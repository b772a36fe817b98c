"""Runs within TVM's Python and needs nothing of refmlc: a module through passes, a line of JSON for each new text.

Standard input holds one JSON object: `module` (TVMScript), `target`, `opt`, and `passes`: null for what `tvm.compile`
does, or a list of names such as `relax.LegalizeOps`, `tirx.StmtSimplify`. The first line is the module as TVM reads
it, with the name `input`; the last one is `{"done": true}`, or `{"refused": why}` where TVM does not go on.

| name begins with | is looked for in        |
|------------------|-------------------------|
| `relax.`         | `tvm.relax.transform`   |
| `tirx.`, `tir.`  | `tvm.tirx.transform`    |
| `s_tir.`         | `tvm.s_tir.transform`   |
"""

import json
import os
import sys

import tvm
from tvm.script import from_source

LONGEST = 400
WRAPPERS = ("sequential", "_pipeline")


class Writer:
    """Writes each text that is new."""

    def __init__(self, lines):
        self.lines = lines
        self.last = None

    def line(self, **values):
        """Write a line at once: the process may end in the next pass."""
        self.lines.write(json.dumps(values) + "\n")
        self.lines.flush()

    def snapshot(self, name, module):
        """Write the module, if it changed."""
        if not module.functions:
            return
        text = module.script()
        if text != self.last:
            self.last = text
            self.line(name=name, text=text)


def instrument(writer):
    """An instrument that writes what each pass leaves."""

    @tvm.instrument.pass_instrument
    class Writing:
        """Watches every pass but those that only hold others."""

        def run_after_pass(self, mod, info):
            """Write the module."""
            if info.name not in WRAPPERS:
                writer.snapshot(info.name, mod)

    return Writing()


def named(name):
    """The pass called `name`. Raises AttributeError where TVM has none."""
    family, _, rest = name.rpartition(".")
    home = {"": tvm.tirx, "tir": tvm.tirx, "tirx": tvm.tirx, "relax": tvm.relax, "s_tir": tvm.s_tir}[family]
    return getattr(home.transform, rest)()


def main():
    """Read the request, run the passes, write the lines; what TVM prints itself goes to standard error."""
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.read())
    writer = Writer(lines)
    try:
        module = from_source(request["module"], check_well_formed=False)
        if not isinstance(module, tvm.IRModule):
            module = tvm.IRModule({"main": module})
        writer.snapshot("input", module)
        target = tvm.target.Target(request["target"])
        with target, tvm.transform.PassContext(opt_level=request["opt"], instruments=[instrument(writer)]):
            if request["passes"] is None:
                tvm.compile(module, target)
            for name in request["passes"] or ():
                module = named(name)(module)
    except Exception as problem:
        said = [line.strip() for line in str(problem).splitlines() if line.strip()]
        writer.line(refused=f"{type(problem).__name__}: {' '.join(said)}"[:LONGEST])
    else:
        writer.line(done=True)


if __name__ == "__main__":
    main()
