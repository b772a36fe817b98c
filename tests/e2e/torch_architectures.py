"""Eight architectures of PyTorch, of any size, with random weights: what people import.

`case(name, size)` gives the model in inference, its inputs, and the largest magnitude its results have at most times.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

SEED = 20_260


class Mlp(nn.Module):
    """The course's model: two linear layers."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.linear0, self.relu, self.linear1 = nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear1(self.relu(self.linear0(x)))


class LeNet(nn.Module):
    """LeNet-5 for pictures of `side` pixels, `width` being the channels of its first layer."""

    def __init__(self, side: int, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, width, 5, padding=2), nn.Conv2d(width, 2 * width, 3, padding=1)
        self.pool, self.flatten = nn.MaxPool2d(2), nn.Flatten()
        self.fc1, self.fc2 = nn.Linear(2 * width * (side // 4) ** 2, 4 * width), nn.Linear(4 * width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(torch.tanh(self.conv1(x)))
        x = self.pool(torch.tanh(self.conv2(x)))
        return functional.log_softmax(self.fc2(torch.relu(self.fc1(self.flatten(x)))), dim=1)


class BasicBlock(nn.Module):
    """The block of ResNet-18: two convolutions, and the input added."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + identity)


class ResNet18(nn.Module):
    """ResNet-18; `width` 64 is the real one."""

    def __init__(self, width: int = 64, classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1, self.relu, self.maxpool = nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        blocks, inputs = [], width
        for stage in range(4):
            outputs = width * 2**stage
            blocks += [BasicBlock(inputs, outputs, 1 if stage == 0 else 2), BasicBlock(outputs, outputs)]
            inputs = outputs
        self.layers = nn.Sequential(*blocks)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layers(x)), 1))


class CausalAttention(nn.Module):
    """Attention of GPT-2: each place looks at itself and what is before it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, steps, width = x.shape
        q, k, v = (
            one.view(batch, steps, self.heads, width // self.heads).transpose(1, 2)
            for one in self.c_attn(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        seen = torch.tril(torch.ones(steps, steps, dtype=torch.bool))
        scores = scores.masked_fill(~seen, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.c_proj(out.transpose(1, 2).reshape(batch, steps, width))


class DecoderBlock(nn.Module):
    """A decoder block of GPT-2."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = CausalAttention(width, heads)
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """Embeddings of tokens and places, decoder blocks of GPT-2, the last norm and the logits."""

    def __init__(self, tokens: int, places: int, width: int, heads: int, blocks: int) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(tokens, width), nn.Embedding(places, width)
        self.blocks = nn.Sequential(*(DecoderBlock(width, heads) for _ in range(blocks)))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.head(self.ln_f(self.blocks(x)))


@dataclass(frozen=True)
class Case:
    """A model in inference with its inputs."""

    model: nn.Module
    inputs: tuple[Tensor, ...]


def _normal(*shape: int) -> Tensor:
    return torch.randn(*shape)


def _mlp(*, large: bool) -> Case:
    return Case(Mlp(784, 128, 10), (_normal(1, 784),)) if large else Case(Mlp(12, 8, 4), (_normal(2, 12),))


def _lenet(*, large: bool) -> Case:
    side, width = (28, 6) if large else (8, 2)
    return Case(LeNet(side, width), (_normal(1, 1, side, side),))


def _block(*, large: bool) -> Case:
    inputs, outputs, side = (64, 128, 56) if large else (2, 4, 6)
    return Case(BasicBlock(inputs, outputs, 2), (_normal(1, inputs, side, side),))


def _resnet(*, large: bool) -> Case:
    model, side = (ResNet18(), 224) if large else (ResNet18(2, 5), 16)
    return Case(model, (_normal(1, 3, side, side),))


def _encoder(*, large: bool) -> Case:
    width, heads, inner, steps = (256, 8, 1024, 64) if large else (8, 2, 16, 4)
    layer = nn.TransformerEncoderLayer(width, heads, inner, batch_first=True, activation="gelu")
    return Case(layer, (_normal(1, steps, width),))


def _gpt2(*, large: bool) -> Case:
    tokens, width, heads, steps = (1000, 256, 8, 64) if large else (11, 8, 2, 5)
    return Case(Gpt2(tokens, steps, width, heads, 1), (torch.randint(0, tokens, (1, steps)),))


def _gpt2_small(*, large: bool) -> Case:
    tokens, width, heads, blocks, steps = (50257, 768, 12, 12, 64) if large else (11, 8, 2, 2, 5)
    return Case(Gpt2(tokens, steps, width, heads, blocks), (torch.randint(0, tokens, (1, steps)),))


def _lstm(*, large: bool) -> Case:
    width, hidden, steps = (64, 128, 16) if large else (3, 4, 3)
    return Case(nn.LSTM(width, hidden, num_layers=2, batch_first=True), (_normal(1, steps, width),))


CASES: Mapping[str, Callable[..., Case]] = {
    "mlp": _mlp,
    "lenet": _lenet,
    "resnet block": _block,
    "resnet-18": _resnet,
    "transformer encoder": _encoder,
    "gpt-2 block": _gpt2,
    "gpt-2 small": _gpt2_small,
    "lstm": _lstm,
}


def case(name: str, *, large: bool = False) -> Case:
    """The model `name` in inference, with inputs; the same ones every time. Moments of norms are random too."""
    torch.manual_seed(SEED)
    made = CASES[name](large=large)
    for module in made.model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    made.model.eval()
    for param in made.model.parameters():
        param.requires_grad_(False)
    return made
