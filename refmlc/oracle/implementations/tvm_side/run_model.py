"""The other side of `tvm` for a model in a file: TVM's own importer reads it, as `run_calls` reads a text.

It runs in an environment that has apache-tvm, and the framework of the file (torch or onnx). `hello` also answers the
package that is `missing`; the `module` of `prepare` is the path of the file. Parameters are constants of TVM's module.
`show` answers with the `text` of TVM's module of a file, with all that its metadata hold.
"""

import json
import sys
import warnings
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib.util import find_spec
from io import BytesIO

from line_server import Child, alarm, name, read_once, serve
from run_calls import Module, answered, compiled, reply_to

PACKAGES = {".pt2": "torch", ".onnx": "onnx"}


def exported(path):
    """A file of `torch.export.save` (its path, or an open file), by TVM's importer."""
    import torch  # noqa: PLC0415 - only where a file needs it
    from tvm.relax.frontend.torch import from_exported_program  # noqa: PLC0415 - as above

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_exported_program(torch.export.load(path), unwrap_unit_return_tuple=True)


def of_onnx(path):
    """A model of ONNX, by TVM's importer."""
    import onnx  # noqa: PLC0415 - as above
    from tvm.relax.frontend.onnx import from_onnx  # noqa: PLC0415 - as above

    return from_onnx(onnx.load(path))


def imported(path):
    """TVM's module of the file at `path`."""
    return exported(path) if path.endswith(".pt2") else of_onnx(path)


class Model(Module):
    """A model that TVM has imported."""

    def read(self, path):
        """TVM's module of the file at `path`."""
        return imported(path)


def shown(path, hello):
    """The text of TVM's module of the file at `path`, or why there is none."""

    def work(_requests, replies):
        def text():
            with alarm(hello["prepare_seconds"]):
                return {"text": compiled(lambda: imported(path).script(show_meta=True), "")}

        replies.write(json.dumps(answered(text)) + "\n")
        replies.flush()

    child = Child(work)
    reply = child.answer()
    if child.alive:
        child.close()
    return reply


def answer(state, request):
    """The answer to one request."""
    if request["do"] in ("prepare", "show") and str(request["module"]).endswith(".pt2"):
        import_torch()
    if request["do"] == "show":
        return shown(request["module"], state["hello"])
    if request["do"] != "hello":
        return reply_to(state, request, Model)
    missing = [package for package in PACKAGES.values() if not find_spec(package)]
    return reply_to(state, request, Model) | {"name": f"{name()} importer", "missing": missing, "batch": 0}


def import_once():
    """Import what every model of ONNX needs before children are forked: each of them would take a second for it."""
    if find_spec("onnx"):
        import onnx  # noqa: PLC0415 - may be missing
        from tvm.relax.frontend.onnx import from_onnx  # noqa: PLC0415 - as above

        with redirect_stdout(sys.stderr):
            from_onnx(onnx.parser.parse_model(FIRST))


@cache
def import_torch():
    """Import what every program of PyTorch needs, before the first child is forked: each would take ten seconds for it.

    What fails here fails in the child too, which says why.
    """
    with suppress(Exception), warnings.catch_warnings(), redirect_stdout(sys.stderr), BytesIO() as file:
        import torch  # noqa: PLC0415 - may be missing

        class First(torch.nn.Module):
            def forward(self, x):
                return x.abs()

        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(First(), (torch.ones(1),)), file)
        file.seek(0)
        exported(file)


FIRST = '<ir_version: 8, opset_import: ["": 13]> g (float[1] x) => (float[1] y) { y = Abs(x) }'

if __name__ == "__main__":
    memory = {}
    read_once()
    import_once()
    serve(lambda request: answer(memory, request))
