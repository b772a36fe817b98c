"""Reports of conformance, for people, for CI servers, for programs.

| file                  | makes                                                                                       |
|-----------------------|---------------------------------------------------------------------------------------------|
| `junit`               | JUnit XML, as CI servers read it                                                            |
| `text`, `schema.json` | unexpected cases in words; one JSON object for several implementations, and its JSON Schema |
| `page`, `templates`   | one HTML page: implementations × clauses, down to case and difference                       |
"""
