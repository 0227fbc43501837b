#!/usr/bin/env python3
"""A model on two chips: the bits of one chip, on golden and from the tiles that arrive on grid, and more inputs per second.

    chips.py BUILD_DIR SOURCE_DIR

Every op has an epoch of its own, so that both chips get some. Prints a line for each; ends with 1 when something is wrong.
"""
import json
import pathlib
import sys
import tempfile

from tools import run

MODELS = [("digits", "digits.onnx", "digits.images.npz"), ("digits-conv", "digits-conv.onnx", "digits-conv.images.npz")]
LEAST_GAIN = 1.3


class Compiled:
    def __init__(self, build, work, model, chips):
        self.build, self.work = build, work
        self.image = work / f"{chips}.tti"
        run(build / "bin/buda", "compile", model, "-o", self.image, "--device", "n300", "--num-chips", chips, "--policy", "single_op_per_epoch",
             "--build-dir", work / f"{chips}", "-q")
        report = next((work / f"{chips}").glob("*.report.json"))
        self.report = json.loads(report.read_text())
        self.netlist = report.with_name(report.name.replace(".report.json", ".yaml"))

    def outputs(self, inputs, name, *options):
        file = self.work / f"{name}.npz"
        run(self.build / "bin/runner", self.image, "--inputs", inputs, "-o", file, "-q", *options)
        return file.read_bytes()

    def simulated_rate(self, inputs):
        folder = self.work / "perf"
        run(self.build / "bin/runner", self.image, "--inputs", inputs, "-o", self.work / "timed.npz", "-q", "--target", "grid", "--set",
             "target.grid.values=off", "--perf", folder)
        return json.loads((folder / "summary.json").read_text())["inputs_per_second"]


def faults(build, work, model, inputs):
    one, two = Compiled(build, work, model, 1), Compiled(build, work, model, 2)
    chips = sorted({epoch.get("chip", 0) for epoch in two.report["epochs"]})
    if chips != [0, 1]:
        yield f"its epochs are on chips {chips}"
    run(build / "bin/netlist", "check", "--for-run", "--device", "n300", two.netlist)
    meant = one.outputs(inputs, "meant")
    if two.outputs(inputs, "golden") != meant:
        yield "golden gives other bits"
    if two.outputs(inputs, "grid", "--target", "grid", "--set", "target.grid.values=exact") != meant:
        yield "grid gives other bits"
    gain = two.simulated_rate(inputs) / one.simulated_rate(inputs)
    if gain < LEAST_GAIN:
        yield f"on grid two chips take {gain:.2f} times as many inputs per second as one"
    print(f"  {gain:.2f} times the inputs per second on grid, "
          f"{two.report['totals']['inputs_per_second'] / one.report['totals']['inputs_per_second']:.2f} by the estimate")


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wrong = 0
    for name, model, inputs in MODELS:
        folder = source / "share/examples/digits"
        with tempfile.TemporaryDirectory() as work:
            found = list(faults(build, pathlib.Path(work), folder / model, folder / inputs))
        print(f"{name}: {'; '.join(found) or 'as on one chip'}")
        wrong += bool(found)
    return 1 if wrong else 0


sys.exit(main())
