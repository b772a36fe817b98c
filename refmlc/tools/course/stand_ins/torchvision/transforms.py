"""`ToTensor`: bytes of an image as a tensor in 0 … 1; `Compose`: transforms one after the other."""

from collections.abc import Callable, Sequence

import numpy as np
import torch


class ToTensor:
    """The transform. Shapes: (h, w) gives (1, h, w)."""

    def __call__(self, image: np.ndarray) -> torch.Tensor:
        """The image as a tensor of float32."""
        return torch.from_numpy(np.asarray(image)).unsqueeze(0).to(torch.float32) / 255


class Compose:
    """Transforms in their order, each of what the one before gives."""

    def __init__(self, transforms: Sequence[Callable[..., object]]) -> None:
        """The composition; of no transforms: the image itself."""
        self.transforms = transforms

    def __call__(self, image: object) -> object:
        """What the last transform gives."""
        for transform in self.transforms:
            image = transform(image)
        return image
