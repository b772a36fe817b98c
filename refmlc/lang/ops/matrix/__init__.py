"""Matrix units: what their instructions mean, apart from who executes them (TIM-002 … TIM-004).

| file        | holds                                                                        |
|-------------|------------------------------------------------------------------------------|
| `forms`     | the forms of `mma`: shapes, layouts, dtypes                                  |
| `fragments` | which thread of a warp holds which element                                   |
| `products`  | the sums that every order and every width gives                              |
"""
