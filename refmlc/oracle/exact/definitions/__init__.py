"""What the operators of Relax mean by NumPy, PyTorch and ONNX, in exact arithmetic.

Nothing here imports another part of refmlc: a witness that shares a computation proves nothing. `lint-imports` holds
that. Arrays come in as NumPy's (with `ml_dtypes`), attributes as plain Python values.

| file            | holds                                                                                   |
|-----------------|-----------------------------------------------------------------------------------------|
| `numbers`       | a rational with the error that a straightforward evaluation has                         |
| `functions`     | roots, and transcendental functions by mpmath                                           |
| `arrays`        | arrays of such numbers: elementwise, along axes, as integers                            |
| `definition`    | a row: the definition of an operator, its source, why its bound is what it is           |
| `elementwise`   | operators of one tensor, activations                                                    |
| `binary`        | operators of two tensors and three; quantisation                                        |
| `creation`      | tensors from shapes and numbers, conversions                                            |
| `reduction`     | sums, products, extremes, moments, running sums                                         |
| `normalization` | softmax and norms                                                                       |
| `linear`        | products of matrices, einsum, convolutions                                              |
| `pooling`       | windows of images, and their gradients                                                  |
| `movement`      | elements in other places                                                                |
| `indexing`      | elements at indices, taken and written                                                  |
| `ordering`      | orders of elements, elements counted                                                    |
| `losses`        | losses and their gradients                                                              |
| `attention`     | attention                                                                               |
| `images`        | images in another size, and at places of a grid                                         |
| `vision`        | boxes on images                                                                         |
| `table`         | all rows, and the operators without one, each with the reason                           |
"""
