"""`FashionMNIST`: images and labels in the IDX files of `root/FashionMNIST/raw`."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

HEADER = {"images-idx3-ubyte": 16, "labels-idx1-ubyte": 8}
SIDE = 28


class FashionMNIST:
    """The data set, as torchvision gives it."""

    def __init__(
        self,
        root: str,
        train: bool = True,
        transform: Callable[[np.ndarray], object] | None = None,
        target_transform: Callable[[int], object] | None = None,
        download: bool = False,
    ) -> None:
        """The files of `root`. Fails: RuntimeError where they are not there."""
        del download
        self.transform = transform
        self.target_transform = target_transform
        start = "train" if train else "t10k"
        self._images = self._read(root, f"{start}-images-idx3-ubyte").reshape(-1, SIDE, SIDE)
        self._labels = self._read(root, f"{start}-labels-idx1-ubyte")

    @staticmethod
    def _read(root: str, name: str) -> np.ndarray:
        path = Path(root) / "FashionMNIST" / "raw" / name
        if not path.exists():
            raise RuntimeError(f"Dataset not found: {path}; this stand-in of torchvision downloads nothing")
        return np.fromfile(path, np.uint8)[HEADER[name.partition("-")[2]] :]

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> tuple[object, object]:
        """An image and its label."""
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        image: object = self._images[index].copy()
        label: object = int(self._labels[index])
        image = image if self.transform is None else self.transform(self._images[index].copy())
        return image, label if self.target_transform is None else self.target_transform(int(self._labels[index]))
