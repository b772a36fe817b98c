"""Chapters of the course, executed block by block, their outputs compared with what the chapter prints.

| file                                        | holds                                                                 |
|---------------------------------------------|-----------------------------------------------------------------------|
| `document`                                  | blocks and their outputs; the format and the generation of a document |
| `markdown`, `restructured_text`, `notebook` | the three formats                                                     |
| `excerpt`                                   | blocks that are pieces of programs: why, and what they read as        |
| `pieces`                                    | blocks that failed as they depend on an excerpt, or quote             |
| `kernel`                                    | the process that executes the blocks, as a notebook does              |
| `data`                                      | what chapters download, from the files that are shipped               |
| `stand_ins`                                 | packages for pictures and data, where they are not installed          |
| `outputs`, `structure`                      | comparison of outputs, of modules by structure, with reasons          |
| `run`, `comparison`                         | all of it: a report; the same here and with real TVM                  |
"""

from refmlc.tools.course.run import BlockReport, CourseReport, documents_in, run_document

__all__ = ["BlockReport", "CourseReport", "documents_in", "run_document"]
