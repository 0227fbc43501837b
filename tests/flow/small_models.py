#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Take the models and netlists of tests/models through every stage, with the stages' own proofs, and compare their outputs with stored ones that NumPy computed.

    small_models.py BUILD_DIR SOURCE_DIR

A model runs as its graph on the host, and compiled for each device on golden: in the device's formats, and in fp32, where the result is nearly exact;
but of quantised models, which the device computes without rounding to integers. These are compiled once more with products in Int8, for the device that has it.
"""
import pathlib
import sys
import tempfile

from tools import Failed, run

DEVICES = ["n150", "e150"]
NEARLY_EXACT = ["--rtol", "1e-4", "--atol", "1e-4"]
IN_FORMATS = ["--pcc", "0.995"]
FP32 = ["--set", "target.golden.mode=fp32"]


QUANTISED = {"quantised"}


class Tools:
    def __init__(self, build, work):
        self.bin, self.work = build / "bin", work

    def compare(self, runner, subject, data, *options):
        run(*runner, subject, "--inputs", f"{data}.inputs.npz", "--expect", f"{data}.outputs.npz", "-o", self.work / "outputs.npz", "-q", *options)

    def try_model(self, model):
        data, graph = model.with_suffix(""), self.work / f"{model.stem}.graph.json"
        run(self.bin / "importer", model, "-o", graph)
        self.compare([self.bin / "runner", "--target", "cpu"], graph, data, *NEARLY_EXACT)
        lowered = self.work / f"{model.stem}.device.graph.json"
        run(self.bin / "optimizer", graph, "-o", lowered, "--verify")
        in_fp32 = IN_FORMATS if model.stem in QUANTISED else NEARLY_EXACT
        self.compare([self.bin / "runner", "--target", "cpu"], lowered, data, *in_fp32)
        for device in DEVICES:
            self.try_on(model, device, in_fp32)
        if model.stem in QUANTISED:
            netlist = self.try_on(model, "n150", in_fp32, "--quantized", "int8")
            if "requant: true" not in netlist.read_text():
                raise Failed(f"{netlist.name} has no product in Int8")

    def try_on(self, model, device, in_fp32, *options):
        stages, image = self.work / "-".join([model.stem, device, *options]), self.work / f"{model.stem}.tti"
        netlist = stages / f"{model.stem}.yaml"
        run(self.bin / "buda", "compile", model, "-o", image, "--device", device, "--check", "--build-dir", stages, "-q", *options)
        run(self.bin / "netlist", "check", "--for-run", netlist, "-q")
        self.compare([self.bin / "buda", "run"], image, model.with_suffix(""), *IN_FORMATS)
        self.compare([self.bin / "buda", "run"], image, model.with_suffix(""), *in_fp32, *FP32)
        return netlist

    def try_netlist(self, netlist):
        data, pipes = netlist.with_suffix(""), self.work / f"{netlist.stem}.pipes"
        run(self.bin / "netlist", "check", "--for-run", netlist, "-q")
        run(self.bin / "netlist2pipe", netlist, "-o", pipes, "--check", "--format", "json")
        for epoch in sorted(pipes.glob("temporal_epoch_*")):
            run(self.bin / "pipegen", epoch / "overlay/pipes.json", "-o", epoch / "overlay/blob.json")
        self.compare([self.bin / "runner"], netlist, data, *IN_FORMATS)
        self.compare([self.bin / "runner"], netlist, data, *NEARLY_EXACT, *FP32)


def main():
    build, models, failures = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "tests/models", 0
    subjects = sorted([*models.glob("*.onnx"), *models.glob("*.yaml")])
    for subject in subjects:
        with tempfile.TemporaryDirectory() as work:
            tools = Tools(build, pathlib.Path(work))
            try:
                (tools.try_model if subject.suffix == ".onnx" else tools.try_netlist)(subject)
                print(f"{subject.name}: through every stage, outputs as NumPy's")
            except Failed as e:
                failures += 1
                print(f"{subject.name}: {e}")
    sys.exit(1 if failures or not subjects else 0)


if __name__ == "__main__":
    main()
