"""The package of the extension: what the Open Packaging Convention and VS Code's own packager ask of one."""

import json
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest

from refmlc.debug.vsix import write_package

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "refmlc" / "debug" / "vscode"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
MANIFEST = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    with zipfile.ZipFile(write_package(tmp_path_factory.mktemp("vsix") / "refmlc-debug.vsix")) as found:
        yield found


def test_it_is_a_zip_whose_files_are_those_of_the_folder(package):
    assert package.testzip() is None
    inside = {name.removeprefix("extension/") for name in package.namelist() if name.startswith("extension/")}
    assert inside == {"LICENSE", "README.md", "extension.js", "launch.json", "package.json"}
    for name in inside:
        assert package.read(f"extension/{name}") == (FOLDER / name).read_bytes()
    assert json.loads(package.read("extension/package.json"))["main"] == "./extension.js"


def test_every_file_has_a_content_type(package):
    root = ET.fromstring(package.read("[Content_Types].xml"))  # noqa: S314 - made by this project
    suffixes = {one.get("Extension") for one in root.iter(f"{TYPES}Default")}
    names = {one.get("PartName") for one in root.iter(f"{TYPES}Override")}
    for name in package.namelist():
        assert name == "[Content_Types].xml" or Path(name).suffix in suffixes or f"/{name}" in names, name


def test_the_manifest_says_what_package_json_says_and_its_assets_are_there(package):
    about = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    root = ET.fromstring(package.read("extension.vsixmanifest"))  # noqa: S314 - made by this project
    (identity,) = root.iter(f"{MANIFEST}Identity")
    assert [identity.get(key) for key in ("Id", "Version", "Publisher")] == ["refmlc-debug", "0.1.0", "refmlc"]
    (engine,) = root.iter(f"{MANIFEST}Property")
    assert (engine.get("Id"), engine.get("Value")) == (
        "Microsoft.VisualStudio.Code.Engine", about["engines"]["vscode"],
    )  # fmt: skip
    assets = {one.get("Type"): one.get("Path") for one in root.iter(f"{MANIFEST}Asset")}
    assert assets["Microsoft.VisualStudio.Code.Manifest"] == "extension/package.json"
    assert set(assets.values()) <= set(package.namelist())
    (target,) = root.iter(f"{MANIFEST}InstallationTarget")
    assert target.get("Id") == "Microsoft.VisualStudio.Code"
