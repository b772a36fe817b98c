"""What a finding is shown with: one self-contained page, a case for `conformance/`, a command to replay it.

| file                         | holds                                                            |
|------------------------------|------------------------------------------------------------------|
| `record`, `case_file`        | a finding as a TOML case; reading it                              |
| `literals`, `toml`           | values bit by bit; writing TOML                                   |
| `replay`                     | the case made again, in any implementation                        |
| `page`, `heat`, `listing`    | the page, the map of the difference, the program with its marks   |
"""

from refmlc.evidence.case_file import CaseFile, read_case
from refmlc.evidence.record import case_of, case_text, recorded
from refmlc.evidence.replay import Replayed, holds, replay

__all__ = ["CaseFile", "Replayed", "case_of", "case_text", "holds", "read_case", "recorded", "replay"]
