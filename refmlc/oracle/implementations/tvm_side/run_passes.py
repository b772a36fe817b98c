"""The other side of `refmlc.oracle.passes.run`: a module through passes, each new text a line of JSON in a file.

| request                                             | does           | answer                                      |
|-----------------------------------------------------|----------------|---------------------------------------------|
| `hello` folder                                      | nothing        | `name`, `passes`                            |
| `passes` module, target, opt, passes, file, seconds | all in a child | `ok`, or `stop` and `message`: how it ended |

`passes` is null for what `tvm.compile` does, where `"pipelines": {"tir_pipeline": "tirx"}` names others than those of
the target, or a list of names such as `relax.LegalizeOps`, `tirx.NarrowDataType(32)`,
`relax.TopologicalSort(order='breadth-first')`, or with options of `PassContext`
`tirx.UnrollLoop(config={'tirx.UnrollLoop': {'auto_max_step': 8}})`; `tirx.BindTarget` binds the target of the request.
`stop` is `rejected` where there is none of that name. With `"whole": true` a snapshot has the name as it is spelled
here, and passes within a pass leave none. The first line of the file is the module as TVM reads it, with
the name `input`; `{"within": name}` says which pass runs; the last one is `{"done": true}`, or
`{"refused": why}` if TVM refuses: with `"fault": true` where it fails, and `"declared": true` where this build lacks
what the module needs. Written lines survive the death of the child.

| name begins with | is looked for in        |
|------------------|-------------------------|
| `relax.`         | `tvm.relax.transform`   |
| `tirx.`, `tir.`  | `tvm.tirx.transform`    |
| `s_tir.`         | `tvm.s_tir.transform`   |
"""

import json
import os
from ast import literal_eval, parse
from difflib import get_close_matches

import tvm
from line_server import Child, alarm, device_of, module_of, name, one_line, read_once, refusal, serve, target_of

TARGETED = "BindTarget"
WRAPPERS = ("sequential", "_pipeline")


class Unknown(Exception):
    """No pass has this name."""


class Writer:
    """Writes each text that is new."""

    def __init__(self, lines):
        self.lines = lines
        self.last = None
        self.device = ""
        self.running = []

    def line(self, **values):
        """Write a line at once: the process may end in the next pass."""
        self.lines.write(json.dumps(values) + "\n")
        self.lines.flush()

    def begins(self, name):
        """A pass begins, perhaps within another one."""
        self.running.append("" if name in WRAPPERS else name)
        self.line(within=self.running[-1])

    def ends(self):
        """It ends."""
        self.running.pop()
        self.line(within=self.running[-1] if self.running else "")

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

        def run_before_pass(self, _mod, info):
            """Write which pass runs: TVM may stop in it, or die."""
            writer.begins(info.name)

        def run_after_pass(self, mod, info):
            """Write the module."""
            if info.name not in WRAPPERS:
                writer.snapshot(info.name, mod)
            writer.ends()

    return Writing()


def arguments_of(spelled, rest):
    """The arguments that a name spells, as literals, by place and by keyword. Raises `Unknown`."""
    try:
        call = parse(f"made{rest or '()'}", mode="eval").body
        return [literal_eval(value) for value in call.args], {key.arg: literal_eval(key.value) for key in call.keywords}
    except (AttributeError, TypeError, ValueError, SyntaxError) as problem:
        raise Unknown(f"`{spelled}` makes no pass: {one_line(problem)}") from None


def named(spelled, target):
    """The pass that `tirx.UnrollLoop` or `tirx.NarrowDataType(32)` spells, and its options. Raises `Unknown`."""
    name, opened, arguments = spelled.partition("(")
    family, _, rest = name.rpartition(".")
    homes = {"": tvm.tirx, "tir": tvm.tirx, "tirx": tvm.tirx, "relax": tvm.relax, "s_tir": tvm.s_tir}
    if family not in homes:
        raise Unknown(f"TVM has no pass `{spelled}`: its families are relax, s_tir, tirx")
    home = homes[family].transform
    if not callable(getattr(home, rest, None)):
        near = get_close_matches(rest, [each for each in dir(home) if each[0].isupper()], 3)
        raise Unknown(f"TVM has no pass `{spelled}`" + (f": perhaps {' or '.join(near)}" if near else ""))
    places, keywords = arguments_of(spelled, opened + arguments)
    config = keywords.pop("config", {})
    places = [target_of(target)] if rest == TARGETED else places
    try:
        return spelled, getattr(home, rest)(*places, **keywords), config
    except (TypeError, ValueError) as problem:
        raise Unknown(f"`{spelled}` makes no pass: {one_line(problem)}") from None


def through(request, chosen, writer):
    """Take the module through its passes."""
    module = module_of(request["module"])
    writer.device = "" if request["target"].startswith("cuda") else device_of(module.functions.values())
    writer.snapshot("input", module)
    target, whole = target_of(request["target"]), request.get("whole", False)
    instruments = [] if whole else [instrument(writer)]
    if chosen is None:
        with target, tvm.transform.PassContext(opt_level=request["opt"], instruments=instruments):
            tvm.compile(module, target, **request.get("pipelines", {}))
    for spelled, each, config in chosen or ():
        if whole:
            writer.begins(spelled)
        with target, tvm.transform.PassContext(opt_level=request["opt"], instruments=instruments, config=config):
            module = each(module)
        if whole:
            writer.snapshot(spelled, module)
            writer.ends()


def written(request):
    """In a child: write the file; the answer."""
    try:
        chosen = None if request["passes"] is None else [named(each, request["target"]) for each in request["passes"]]
    except Unknown as problem:
        return {"stop": "rejected", "message": str(problem)}
    with open(request["file"], "w", encoding="utf-8") as lines, alarm(request["seconds"]):
        writer = Writer(lines)
        try:
            through(request, chosen, writer)
        except Exception as problem:
            stop, fault = refusal(problem, request["module"])
            declared = stop == "unsupported" or writer.device != ""
            writer.line(refused=one_line(problem), fault=fault and not declared, declared=declared)
        else:
            writer.line(done=True)
    return {"ok": True}


def answer(request):
    """The answer to one request; files lie in the folder that the first one names."""
    if request["do"] == "hello":
        os.chdir(request["folder"])
        return {"name": name(), "passes": True}
    child = Child(lambda _requests, replies: replies.write(json.dumps(written(request)) + "\n"))
    reply = child.answer()
    if child.alive:
        child.close()
    return reply


if __name__ == "__main__":
    read_once()
    serve(answer)
