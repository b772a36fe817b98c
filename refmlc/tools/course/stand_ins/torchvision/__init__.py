"""What chapters use of torchvision: `datasets.FashionMNIST`, `transforms.ToTensor`."""

from . import datasets, transforms

__all__ = ["datasets", "transforms"]
