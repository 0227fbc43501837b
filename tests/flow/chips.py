#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model on several chips: the bits of one chip, on golden and from the tiles that arrive on grid; and where chips follow one another, more inputs
per second.

    chips.py BUILD_DIR SOURCE_DIR

- Two chips of an n300, one after the other.
- Four chips of a cluster that a descriptor of TT-Buda describes.
- Parts of a fracture group on two chips, beside each other.

Every op has an epoch of its own, so that all chips get some. Prints a line for each; ends with 1 when something is wrong.
"""
import json
import pathlib
import sys
import tempfile

from tools import run

DIGITS, CONVOLUTIONS = ("digits.onnx", "digits.images.npz"), ("digits-conv.onnx", "digits-conv.images.npz")
# Four chips in a row; the host reaches the last one.
CLUSTER = """arch: wormhole_b0
chips: {0: [0, 0, 0, 0], 1: [1, 0, 0, 0], 2: [2, 0, 0, 0], 3: [3, 0, 0, 0]}
ethernet_connections:
  - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]
  - [{chip: 1, chan: 8}, {chip: 2, chan: 0}]
  - [{chip: 2, chan: 8}, {chip: 3, chan: 0}]
chips_with_mmio: [3: 0]
"""
GROUP = "[[/hidden1/Gemm, -1, 2], [/relu1/Relu, -1, 2], [/hidden2/Gemm, k, 2]]"


class Compiled:
    def __init__(self, build, work, name, model, *options):
        self.build, self.work = build, work
        self.image = work / f"{name}.tti"
        run(build / "bin/buda", "compile", model, "-o", self.image, "--device", "n300", "--policy", "single_op_per_epoch",
            "--build-dir", work / name, "-q", *options)
        report = next((work / name).glob("*.report.json"))
        self.report = json.loads(report.read_text())
        self.netlist = report.with_name(report.name.replace(".report.json", ".yaml"))

    def chips(self):
        return sorted({epoch.get("chip", 0) for epoch in self.report["epochs"]})

    def chip_of(self):
        return {op["name"]: epoch.get("chip", 0) for epoch in self.report["epochs"] for op in epoch["ops"]}

    def outputs(self, inputs, *options):
        file = self.work / "outputs.npz"
        run(self.build / "bin/runner", self.image, "--inputs", inputs, "-o", file, "-q", *options)
        return file.read_bytes()

    def simulated_rate(self, inputs):
        folder = self.work / "perf"
        run(self.build / "bin/runner", self.image, "--inputs", inputs, "-o", self.work / "timed.npz", "-q", "--target", "grid", "--set",
            "target.grid.values=off", "--perf", folder)
        return json.loads((folder / "summary.json").read_text())["inputs_per_second"]


def other_bits(one, several, inputs):
    meant = one.outputs(inputs)
    if several.outputs(inputs) != meant:
        yield "golden gives other bits"
    if several.outputs(inputs, "--target", "grid", "--set", "target.grid.values=exact") != meant:
        yield "grid gives other bits"


def slower(one, several, inputs, least_gain):
    gain = several.simulated_rate(inputs) / one.simulated_rate(inputs)
    if gain < least_gain:
        yield f"on grid they take {gain:.2f} times as many inputs per second as one"
    print(f"  {gain:.2f} times the inputs per second on grid, "
          f"{several.report['totals']['inputs_per_second'] / one.report['totals']['inputs_per_second']:.2f} by the estimate")


def faults_of_two(build, work, model, inputs):
    one, two = Compiled(build, work, "one", model), Compiled(build, work, "two", model, "--num-chips", "2")
    if two.chips() != [0, 1]:
        yield f"its epochs are on chips {two.chips()}"
    run(build / "bin/netlist", "check", "--for-run", "--liveness", "--device", "n300", two.netlist)
    yield from other_bits(one, two, inputs)
    yield from slower(one, two, inputs, 1.3)


def faults_of_direct(build, work, model, inputs):
    """Ops of one chip feed those of the other without a queue between them."""
    two = Compiled(build, work, "direct", model, "--num-chips", "2")
    if not any(epoch.get("between_chips") == "direct" for epoch in two.report["epochs"]):
        yield "no op feeds one of the other chip directly"
    yield from faults_of_two(build, work, model, inputs)


def faults_of_cluster(build, work, model, inputs):
    cluster = work / "cluster.yaml"
    cluster.write_text(CLUSTER)
    one, four = Compiled(build, work, "one", model), Compiled(build, work, "four", model, "--cluster", cluster, "--num-chips", "0")
    if four.chips() != [0, 1, 2, 3]:
        yield f"its epochs are on chips {four.chips()}"
    if four.report["epochs"][-1].get("chip", 0) != 3:
        yield "the outputs are not made on the chip that the host reaches"
    yield from other_bits(one, four, inputs)
    yield from slower(one, four, inputs, 1.7)


def faults_of_parts(build, work, model, inputs):
    one = Compiled(build, work, "one", model, "--insert-fracture-group", GROUP)
    parts = Compiled(build, work, "parts", model, "--insert-fracture-group", f"[{GROUP}, [0, 1]]")
    for name, chip in parts.chip_of().items():
        for part in (0, 1):
            if f".part.{part}" in name and not name.endswith("copy") and chip != part:
                yield f"op '{name}' is on chip {chip}"
    if parts.chips() != [0, 1]:
        yield f"its epochs are on chips {parts.chips()}"
    run(build / "bin/netlist", "check", "--for-run", "--device", "n300", parts.netlist)
    yield from other_bits(one, parts, inputs)
    yield from slower(one, parts, inputs, 0.9)


CASES = [("digits on two chips", faults_of_two, DIGITS), ("digits-conv on two chips", faults_of_direct, CONVOLUTIONS),
         ("digits-conv on a cluster of four", faults_of_cluster, CONVOLUTIONS), ("parts of digits on two chips", faults_of_parts, DIGITS)]


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wrong = 0
    for name, faults, (model, inputs) in CASES:
        folder = source / "share/examples/digits"
        with tempfile.TemporaryDirectory() as work:
            found = list(faults(build, pathlib.Path(work), folder / model, folder / inputs))
        print(f"{name}: {'; '.join(found) or 'as on one chip'}")
        wrong += bool(found)
    return 1 if wrong else 0


sys.exit(main())
