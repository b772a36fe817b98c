"""Reports of conformance, for people, for CI servers, for programs.

| file                             | makes                                                                 |
|----------------------------------|-----------------------------------------------------------------------|
| `junit`                          | JUnit XML, as CI servers read it                                      |
| `data`, `schema.json`            | one JSON object for several implementations, and its JSON Schema      |
| `text`                           | unexpected cases in words                                             |
| `page`, `page_case`, `templates` | one HTML page: implementations × clauses, down to case and difference |
"""
