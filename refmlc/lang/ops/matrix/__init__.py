"""Matrix units: what their instructions mean, apart from who executes them (TIM-002 …).

| file              | holds                                                                        |
|-------------------|------------------------------------------------------------------------------|
| `forms`           | the forms of `mma`: shapes, layouts, dtypes                                  |
| `warpgroups`      | those of `wgmma`                                                             |
| `tensor_memory`   | the cells of tensor memory that registers are moved from and to              |
| `tensor_products` | the forms of `tcgen05.mma`, and where tensor memory holds D                  |
| `descriptors`     | where the chunks of a matrix in shared memory are                            |
| `fragments`       | which thread of a warp holds which element                                   |
| `products`        | the sums that every order and every width gives                              |
"""
