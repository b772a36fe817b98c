"""The course's two-layer network (784-128-10) as an IRModule in four variants, on real handwritten digits.

| file                        | what                                                                            |
|-----------------------------|---------------------------------------------------------------------------------|
| `models/tensorir.py`        | every layer is a TensorIR function                                             |
| `models/library.py`         | every layer is a packed function (`env.linear`, `env.relu`)                    |
| `models/mixed.py`           | one of each; with its parameters bound it is the fourth variant                |
| `data/*-ubyte.gz`           | 360 test digits and labels, IDX as Fashion-MNIST ships them                     |
| `data/digits_mlp.npz`       | parameters w0 (128, 784), b0 (128,), w1 (10, 128), b1 (10,), float32            |
| `train.py`                  | made both from scikit-learn's digits, once                                      |
"""
