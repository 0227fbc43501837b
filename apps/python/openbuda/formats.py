# SPDX-License-Identifier: Apache-2.0
"""Data formats, fidelities, devices and kinds of devices, under the names of PyBuda's API reference."""
import enum


class _Named(enum.Enum):
    """Its values are the names that options and netlists have."""

    def to_json(self):
        """The name as text."""
        return self.name

    @classmethod
    def from_json(cls, text):
        """The member of that name."""
        try:
            return cls[text]
        except KeyError:
            raise ValueError(f"{cls.__name__} has no '{text}'; it has {', '.join(cls.__members__)}") from None

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    __repr__ = __str__


def _members(name, doc, members):
    kind = _Named(name, {member: member for member in members.split()}, module=__name__)
    kind.__doc__ = doc
    return kind


DataFormat = _members("DataFormat", "How a device keeps numbers.",
                      "Float32 Float16 Bfp8 Bfp4 Bfp2 Float16_b Bfp8_b Bfp4_b Bfp2_b Lf8 UInt16 Int8 RawUInt8 RawUInt16 RawUInt32 Int32 Invalid")
MathFidelity = _members("MathFidelity", "How many bits of the operands a product takes.", "LoFi HiFi2 HiFi3 HiFi4 Invalid")
BackendDevice = _members("BackendDevice", "An architecture.", "Grayskull Wormhole Wormhole_B0 Blackhole Invalid")
BackendType = _members("BackendType", "What a device's programs run on; all of it is simulated here (TTDevice).",
                       "Golden Model Silicon NoBackend Versim Emulation")
DeviceMode = _members("DeviceMode", "What a device does with its modules.", "CompileAndRun CompileOnly RunOnly")
PerfTraceLevel = _members("PerfTraceLevel", "How much of a run's time is recorded.", "NONE LIGHT VERBOSE")
DRAMPlacementAlgorithm = _members("DRAMPlacementAlgorithm", "How queues are shared out among channels of DRAM.",
                                  "ROUND_ROBIN ROUND_ROBIN_FLIP_FLOP GREATEST_CAPACITY CLOSEST")
