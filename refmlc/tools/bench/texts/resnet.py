"""ResNet-18 for inference as a Relax function, its weights being parameters; sizes as one likes.

Source: He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition (2015), table 1.
"""

from collections.abc import Iterator

STAGES, BLOCKS = 4, 2
NORM = ("gamma", "beta", "mean", "var")


class _Writer:
    """The parameters and bindings so far. `last` is the name of the last result."""

    def __init__(self, side: int) -> None:
        self.params = [f"x: {_tensor(1, 3, side, side)}"]
        self.lines: list[str] = []
        self.last = "x"

    def bind(self, value: str) -> str:
        """Append a binding of `value`."""
        self.last = f"v{len(self.lines)}"
        self.lines.append(f"{self.last} = {value}")
        return self.last

    def weight(self, name: str, *shape: int) -> str:
        """Append a parameter."""
        self.params.append(f"{name}: {_tensor(*shape)}")
        return name

    def conv(self, channels: tuple[int, int], size: int, stride: int) -> str:
        """Append a convolution with its norm."""
        number, padding = len(self.lines), size // 2
        weight = self.weight(f"w{number}", channels[1], channels[0], size, size)
        norm = ", ".join(self.weight(f"{name}{number}", channels[1]) for name in NORM)
        options = f"strides=[{stride}, {stride}], padding=[{', '.join([str(padding)] * 4)}]"
        self.bind(f"R.nn.conv2d({self.last}, {weight}, {options})")
        self.bind(f"R.nn.batch_norm({self.last}, {norm}, axis=1, training=False)")
        return self.bind(f"{self.last}[0]")

    def block(self, channels: tuple[int, int], stride: int) -> None:
        """Append a block of two convolutions with its shortcut."""
        entry = self.last
        self.conv(channels, 3, stride)
        self.bind(f"R.nn.relu({self.last})")
        result = self.conv((channels[1], channels[1]), 3, 1)
        if channels[0] != channels[1]:
            self.last = entry
            entry = self.conv(channels, 1, stride)
        self.bind(f"R.add({result}, {entry})")
        self.bind(f"R.nn.relu({self.last})")


def resnet18(side: int, width: int, classes: int) -> str:
    """The text of the model for a picture of `side`², with `width` channels in its first stage."""
    writer = _Writer(side)
    writer.conv((3, width), 7, 2)
    writer.bind(f"R.nn.relu({writer.last})")
    writer.bind(f"R.nn.max_pool2d({writer.last}, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])")
    channels = width
    for stage in range(STAGES):
        for block in range(BLOCKS):
            after = width << stage
            writer.block((channels, after), 2 if stage and not block else 1)
            channels = after
    writer.bind(f"R.mean({writer.last}, axis=[2, 3])")
    writer.bind(f"R.matmul({writer.last}, {writer.weight('weight', channels, classes)})")
    writer.bind(f"R.add({writer.last}, {writer.weight('bias', classes)})")
    return "\n".join(_lines(writer)) + "\n"


def _lines(writer: _Writer) -> Iterator[str]:
    yield "from tvm.script import ir as I, relax as R"
    yield ""
    yield "@I.ir_module"
    yield "class Module:"
    yield "    @R.function"
    yield f"    def main({', '.join(writer.params)}):"
    yield "        with R.dataflow():"
    yield from (f"            {line}" for line in writer.lines)
    yield f"            R.output({writer.last})"
    yield f"        return {writer.last}"


def _tensor(*shape: int) -> str:
    return f'R.Tensor(({", ".join(map(str, shape))},), "float32")'
