"""What stands beside the oracle and uses all of it: speed, the demonstration, the chapters of the course.

| part      | holds                                                                 |
|-----------|-----------------------------------------------------------------------|
| `bench/`  | `refmlc bench`: speed as ratios, beside NumPy and TVM                 |
| `demo/`   | `refmlc demo`: a trained model that goes wrong, found and explained   |
| `course/` | `refmlc course`: chapters of the course executed block by block       |
"""
