"""Meshes of devices as text: by the name in the module's list, `"mesh[0]"`, where it has them, else written out."""

from collections.abc import Mapping

from refmlc.lang.ir.attrs import DeviceMesh
from refmlc.lang.ir.tir import Attr
from refmlc.lang.script.printer.literals import string_text
from refmlc.lang.script.printer.page import Page


def listed_meshes(infos: Mapping[str, tuple[Attr, ...]]) -> list[tuple[DeviceMesh, str]]:
    """The meshes that a module lists, with their names."""
    return [
        (info, f"{key}[{number}]")
        for key, values in infos.items()
        for number, info in enumerate(values)
        if isinstance(info, DeviceMesh)
    ]


def mesh_text(page: Page, mesh: DeviceMesh) -> str:
    """A mesh as text; which of the module's meshes that are alike is meant does not matter."""
    for listed, name in page.meshes:
        if _content(listed) == _content(mesh):
            return string_text(name)
    devices = f"I.Range({mesh.devices[0]}, {mesh.devices[-1] + 1})" if mesh.consecutive else str(list(mesh.devices))
    return f"R.device_mesh({mesh.shape}, {devices})"


def _content(mesh: DeviceMesh) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    return mesh.shape, mesh.devices, mesh.consecutive
