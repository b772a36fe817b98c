"""The demo's network as a model of PyTorch, and how `models/torch_export.py` was made of it.

`python -m refmlc.tools.demo.from_torch` writes that file again: `torch.export` of the model, imported with its
parameters as inputs. The demo runs the file, and needs no PyTorch; where PyTorch is there, the model is imported anew
and compared.
"""

from importlib.util import find_spec
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.lang.ir import IRModule
from refmlc.lang.script import show
from refmlc.tools.demo.runner import MODELS, read_params

FILE = "torch_export.py"


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def imported() -> IRModule:
    """The model, exported by PyTorch and imported. Fails: RM112 without PyTorch."""
    if not has_torch():
        raise fail(BAD_USAGE, "PyTorch is not installed; the model needs it", None, "pip install 'refmlc[torch]'")
    import torch  # noqa: PLC0415 - an extra

    from refmlc.frontends.torch_export import from_exported_program  # noqa: PLC0415 - needs it too

    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    names = {"0.weight": "w0", "0.bias": "b0", "2.weight": "w1", "2.bias": "b1"}
    params = read_params()
    model.load_state_dict({name: torch.from_numpy(params[own].copy()) for name, own in names.items()})
    program = torch.export.export(model.eval(), (torch.zeros(1, 784),))
    return from_exported_program(program, keep_params_as_input=True, unwrap_unit_return_tuple=True)


def main() -> None:
    Path(str(MODELS / FILE)).write_text(show(imported()), encoding="utf-8")


if __name__ == "__main__":
    main()
