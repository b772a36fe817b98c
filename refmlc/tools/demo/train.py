"""How the demo's parameters and test images were made: `python -m refmlc.tools.demo.train DIRECTORY`.

scikit-learn's digits (1,797 images of 8x8, UCI "Optical Recognition of Handwritten Digits", CC BY 4.0) are
resized to 28x28 by bilinear interpolation; every fifth image is held out for the test; a 784-128-10 network is
trained by plain mini-batch gradient descent on cross-entropy in float64 and rounded to float32 at the end.
"""

import gzip
import struct
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

SIDE = 28
HIDDEN = 128
CLASSES = 10


def resize(images: NDArray[np.float64], side: int) -> NDArray[np.uint8]:
    """Bilinear interpolation, pixel centres aligned.

    Shapes: (n, h, h) → (n, side, side). Units: 0 … 16 → 0 … 255.
    """
    old = images.shape[1]
    at = np.clip((np.arange(side) + 0.5) * old / side - 0.5, 0, old - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, old - 1)
    part = at - low
    rows = images[:, low] * (1 - part)[:, None] + images[:, high] * part[:, None]
    both = rows[:, :, low] * (1 - part) + rows[:, :, high] * part
    result: NDArray[np.uint8] = np.rint(both * 255 / 16).astype(np.uint8)
    return result


def train(x: NDArray[np.float64], y: NDArray[np.int64], epochs: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Gradient descent on cross-entropy.

    Shapes: x (n, 784) in 0 … 1, y (n,) → w0 (128, 784), b0 (128,), w1 (10, 128), b1 (10,).
    """
    random = np.random.default_rng(seed)
    w0 = random.normal(0, np.sqrt(2 / x.shape[1]), (HIDDEN, x.shape[1]))
    w1 = random.normal(0, np.sqrt(2 / HIDDEN), (CLASSES, HIDDEN))
    b0, b1 = np.zeros(HIDDEN), np.zeros(CLASSES)
    for epoch in range(epochs):
        rate = 0.1 * 0.97**epoch
        for batch in np.array_split(random.permutation(len(x)), len(x) // 32):
            hidden = np.maximum(x[batch] @ w0.T + b0, 0)
            scores = hidden @ w1.T + b1
            share = np.exp(scores - scores.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            share[np.arange(len(batch)), y[batch]] -= 1
            share /= len(batch)
            back = (share @ w1) * (hidden > 0)
            w1 -= rate * share.T @ hidden
            b1 -= rate * share.sum(axis=0)
            w0 -= rate * back.T @ x[batch]
            b0 -= rate * back.sum(axis=0)
    return {"w0": w0, "b0": b0, "w1": w1, "b1": b1}


def write_idx(path: Path, data: NDArray[np.uint8]) -> None:
    """Write unsigned bytes as IDX, gzipped without a time stamp so that the bytes are reproducible."""
    header = struct.pack(f">HBB{data.ndim}I", 0, 8, data.ndim, *data.shape)
    path.write_bytes(gzip.compress(header + data.tobytes(), mtime=0))


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option("--epochs", default=60, show_default=True)
@click.option("--seed", default=2022, show_default=True)
def main(directory: Path, epochs: int, seed: int) -> None:
    """Train the demo's network and write parameters, test images and labels to DIRECTORY."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - the extra `train`

    digits = load_digits()
    images, labels = resize(digits.images, SIDE), digits.target.astype(np.int64)
    test = np.arange(len(images)) % 5 == 0
    x = images.reshape(len(images), -1) / 255.0
    trained = train(x[~test], labels[~test], epochs, seed)
    w0, b0, w1, b1 = (trained[name].astype(np.float32) for name in ("w0", "b0", "w1", "b1"))
    right = (np.maximum(x[test] @ w0.T + b0, 0) @ w1.T + b1).argmax(axis=1) == labels[test]
    directory.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(directory / "digits_mlp.npz", w0=w0, b0=b0, w1=w1, b1=b1)
    write_idx(directory / "t10k-images-idx3-ubyte.gz", images[test])
    write_idx(directory / "t10k-labels-idx1-ubyte.gz", labels[test].astype(np.uint8))
    click.echo(f"{len(x) - test.sum()} training images, {test.sum()} test images, accuracy {right.mean():.4f}")


if __name__ == "__main__":
    main()
