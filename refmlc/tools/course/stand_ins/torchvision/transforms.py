"""`ToTensor`: bytes of an image as a tensor in 0 … 1."""

import numpy as np
import torch


class ToTensor:
    """The transform. Shapes: (h, w) gives (1, h, w)."""

    def __call__(self, image: np.ndarray) -> torch.Tensor:
        """The image as a tensor of float32."""
        return torch.from_numpy(np.asarray(image)).unsqueeze(0).to(torch.float32) / 255
