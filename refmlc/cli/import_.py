"""`refmlc import MODEL`: a model of PyTorch or ONNX, or a module of TVM saved as JSON, becomes a module in text."""

from pathlib import Path

import click
import numpy as np

import refmlc
from refmlc.cli.console import out, print_json
from refmlc.cli.options import PATH, json_option, trust_option
from refmlc.frontends.files import import_file
from refmlc.lang.script.display import display
from refmlc.lang.script.reader.syntax import LIMIT
from refmlc.lang.wellformed.reader_checks import checked


@click.command("import", epilog="Example: refmlc import model.onnx -o model.py --npz params.npz")
@click.argument("model", type=PATH)
@click.option("-o", "--output", type=PATH, help="Write the module here.  [default: print it]")
@click.option("--npz", type=PATH, help="Make the parameters inputs and write their values here.")
@trust_option
@json_option
def import_command(model: Path, output: Path | None, npz: Path | None, *, trust: bool, as_json: bool) -> None:
    """Import MODEL, a file of ONNX (.onnx), of `torch.export.save` (.pt2) or of TVM (.json), as TVMScript.

    PyTorch executes the contents of a .pt2, so reading one needs `--trust`. The parameters become constants in the
    text; with --npz they become inputs, for `refmlc run MODULE --params NPZ`. So they do, in OUTPUT.npz, where the
    text would be larger than what `refmlc` reads.
    """
    imported = import_file(model, keep_params_as_input=npz is not None, trust=trust)
    text = refmlc.show(imported.module, show_meta=output is not None)
    if output is not None and npz is None and len(text) > LIMIT:
        npz = output.with_name(f"{output.name}.npz")
        imported = import_file(model, keep_params_as_input=True, trust=trust)
        text = refmlc.show(imported.module, show_meta=True)
    checked(imported.module)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    if npz is not None:
        np.savez(npz, allow_pickle=False, **imported.params)
    if as_json:
        files = {"output": None if output is None else str(output), "npz": None if npz is None else str(npz)}
        print_json({"model": str(model), **files, "functions": list(imported.module.functions), "text": text})
    elif output is None:
        display(text, out)
    else:
        beside = "" if npz is None else f"; parameters in {npz}"
        out.print(f"{output}: {', '.join(imported.module.functions)}{beside}")
