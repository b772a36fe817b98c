"""The extension for VS Code as a `.vsix`, made without Node: what `refmlc vscode` writes and installs.

A `.vsix` is a ZIP file (the Open Packaging Convention):

| file                     | says                                                     |
|--------------------------|----------------------------------------------------------|
| `[Content_Types].xml`    | the type of each suffix                                  |
| `extension.vsixmanifest` | who, which version, for which VS Code; where the assets are |
| `extension/…`            | the folder of the extension                              |

`vsce package` writes the same with more properties.
"""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

FOLDER = Path(__file__).parent / "vscode"
NAME = "refmlc-debug.vsix"
TYPES = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown"}
OMITTED = {".vscodeignore"}
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/></Properties>
    <License>extension/LICENSE</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
  </Assets>
</PackageManifest>
"""
CONTENT_TYPES = '<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{}">{}{}</Types>\n'


def write_package(path: Path) -> Path:
    """Write the package to `path`. Order: the files by name, so that equal folders give equal packages."""
    about = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    files = sorted(file for file in FOLDER.iterdir() if file.is_file() and file.name not in OMITTED)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in (
            ("[Content_Types].xml", _content_types(files)),
            ("extension.vsixmanifest", _manifest(about)),
            *((f"extension/{file.name}", file.read_text(encoding="utf-8")) for file in files),
        ):
            package.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return path


def _manifest(about: Mapping[str, Any]) -> str:
    quoted = {key: quoteattr(about[key]) for key in ("name", "version", "publisher")}
    return MANIFEST.format(
        **quoted,
        engine=quoteattr(about["engines"]["vscode"]),
        title=escape(about["displayName"]),
        description=escape(about["description"]),
        categories=escape(",".join(about["categories"])),
    )


def _content_types(files: Sequence[Path]) -> str:
    """A file without a suffix (the license) has a type of its own."""
    types = {".vsixmanifest": "text/xml"} | {file.suffix: TYPES[file.suffix] for file in files if file.suffix}
    by_suffix = [f'<Default Extension="{suffix}" ContentType="{kind}"/>' for suffix, kind in sorted(types.items())]
    overrides = [
        f'<Override PartName="/extension/{file.name}" ContentType="text/plain"/>' for file in files if not file.suffix
    ]
    return CONTENT_TYPES.format(
        "http://schemas.openxmlformats.org/package/2006/content-types", "".join(by_suffix), "".join(overrides)
    )
