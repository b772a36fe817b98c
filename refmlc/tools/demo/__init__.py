"""The course's two-layer network (784-128-10) on real handwritten digits: four variants, and imported from PyTorch.

| file                      | what                                                                     |
|---------------------------|--------------------------------------------------------------------------|
| `models/tensorir.py`      | every layer is a TensorIR function                                       |
| `models/library.py`       | every layer is a packed function (`env.linear`, `env.relu`)              |
| `models/mixed.py`         | one of each; with its parameters bound it is the fourth variant          |
| `models/torch_export.py`  | what `from_torch.py` made of the model of PyTorch, its parameters inputs |
| `runner.py`, `picture.py` | the variants against the NumPy model; one image with its scores          |
| `model_check.py`          | the check of that model, and a drawing                                   |
| `data/*-ubyte.gz`         | 360 test digits and labels, IDX as Fashion-MNIST ships them              |
| `data/digits_mlp.npz`     | parameters w0 (128, 784), b0 (128,), w1 (10, 128), b1 (10,), float32     |
| `train.py`                | made both from scikit-learn's digits, once                               |
"""
