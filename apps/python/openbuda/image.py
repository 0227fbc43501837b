# SPDX-License-Identifier: Apache-2.0
"""TTDeviceImage: an image under the names of PyBuda's guide."""
import json
import pathlib
import tarfile

from . import _native
from .formats import BackendDevice

_TOP = "unzipped_tti/"


class TTDeviceImage:
    """A compiled model of a device: the file, and what it says of itself."""

    def __init__(self, path, device=None):
        self.path, self.image = str(path), _native.load_image(str(path))
        with tarfile.open(self.path) as archive:
            self._description = json.load(archive.extractfile(_TOP + "device.json"))
        self.device_name = device.name if device is not None else pathlib.Path(self.path).stem

    @staticmethod
    def load_from_disk(img_path):
        """The image of a file."""
        return TTDeviceImage(img_path)

    @property
    def arch(self):
        """The chip's architecture."""
        return {name.lower(): member for name, member in BackendDevice.__members__.items()}[self.image.arch]

    def get_input_shapes(self):
        """The shapes of the inputs, in their order."""
        return [list(shape) for shape in self.image.get_input_shapes().values()]

    def get_output_shapes(self):
        """The shapes of the outputs, in their order."""
        return [list(shape) for shape in self.image.get_output_shapes().values()]

    def info(self):
        """Prints what the image says of itself, in the form of PyBuda's guide; `tti-pack info` says more."""
        d = self._description
        versions = [f"      - {key}: {d[key]}" for key in ("openbuda_version", "pybuda_version", "pybuda_commit", "buda_backend_commit") if key in d]
        rows = d.get("harvested_rows", [])
        targets = d.get("compiled_graph_state", {}).get("ordered_target_shapes", [])
        print("\n".join(["Image Info...", "- Version Info:", *versions, f"- Device Name: {self.device_name}", "", "Device Info...", f"- arch: {self.arch}", f"- chip_ids: {d['chip_ids']}",
                         f"- backend device type: BackendType.{d['devtype']}", f"- grid size: {d['grid_size']}", f"- harvested rows: {rows[0] if len(rows) == 1 and rows[0] else rows if any(rows) else [0]}",
                         "", "Compilation Graph State...", f"- training: {d['training']}", f"- ordered input shapes: {self.get_input_shapes()}", f"- ordered targets shapes: {targets}"]))

    def __repr__(self):
        return f"TTDeviceImage('{self.path}')"
