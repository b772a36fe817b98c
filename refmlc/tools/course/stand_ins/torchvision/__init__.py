"""What chapters use of torchvision: `datasets.FashionMNIST`, `transforms.ToTensor`, `transforms.Compose`."""

from . import datasets, transforms

__all__ = ["datasets", "transforms"]
