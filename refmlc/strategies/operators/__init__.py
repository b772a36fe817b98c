"""Programs of Relax operators on edge values: one to three calls, each on the results before it.

| file            | holds                                                                                |
|-----------------|--------------------------------------------------------------------------------------|
| `calls`         | the program so far: parameters with recipes, calls, tensors for further calls        |
| `elementwise`   | plans: element by element, creation of tensors                                       |
| `axes`          | plans: along axes (reductions, norms, scans, sorting, movement)                      |
| `lookup`        | plans: by indices that are elements (gathering, scattering, slices, losses)          |
| `images`        | plans: windows over images (convolution, pooling, resizing, boxes)                   |
| `program`       | the operators with plans, and the program of a seed                                  |

A plan draws arguments and attributes of one operator, mostly valid ones: sizes 0 and 1, negative axes and strides,
equal elements, NaN, infinities, -0, limits of the integers, several dtypes. If the operator's row refuses a plan, it is
drawn again. The result follows from the row, so an operator without a row has no plan.
"""
