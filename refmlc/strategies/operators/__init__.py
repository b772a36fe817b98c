"""Programs that are calls of Relax's operators, on values at the edges: one to three calls, each on what came before.

| file            | holds                                                                                |
|-----------------|--------------------------------------------------------------------------------------|
| `calls`         | the program so far: parameters with recipes, calls, tensors for further calls        |
| `elementwise`   | plans: element by element, tensors made from nothing                                 |
| `axes`          | plans: along axes (reductions, norms, scans, sorting, movement)                      |
| `lookup`        | plans: by indices that are elements (gathering, scattering, slices, losses)          |
| `images`        | plans: windows over images (convolution, pooling, resizing, boxes)                   |
| `program`       | which operators there are plans for, and the program of a seed                       |

A plan draws arguments and attributes of one operator, mostly such as it takes: sizes 0 and 1, negative axes and
strides, equal elements, NaN, infinities, -0, ends of the integers, several dtypes. What the operator's own row refuses
is drawn again. The result follows from the row, so an operator that has no row has no plan.
"""
