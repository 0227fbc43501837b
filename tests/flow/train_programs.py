#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps in programs: gradients of several batches, in whatever runs, give the same bits, and follow PyTorch.

    train_programs.py BUILD_DIR SOURCE_DIR

The comparison with PyTorch is left out where that is missing.
"""
import json
import pathlib
import struct
import sys
import tempfile

from training_tools import Tools, order, raw_tensors, safetensors

RATE = ("--optimizer", "sgd:lr=0.1,momentum=0.9")


class Digits:
    """Runs of `buda train` on the images of digits; an image of the step for each folder."""

    def __init__(self, tools, source):
        self.tools, self.examples = tools, pathlib.Path(source).resolve() / "share/examples/digits"
        self.data = ("--inputs", self.examples / "digits.train.images.npz", "--targets", self.examples / "digits.train.labels.npz")

    def train(self, model, build, out, *options):
        self.tools.run("buda", "train", self.examples / f"{model}.onnx", "--initialize", *self.data, "--build-dir", build,
                       "-o", f"{out}.safetensors", *options)
        return self.bytes(out)

    def trainer(self, build, out, *options, model="digits"):
        self.tools.run("trainer", f"{build}/{model}.train.tti", *self.data, "-o", f"{out}.safetensors", *options)
        return self.bytes(out)

    def bytes(self, out):
        return (self.tools.folder / f"{out}.safetensors").read_bytes()


def same_bits(digits):
    """4 batches of 64 as 1 x 4, 2 x 2 and 4 x 1 (in a run, runs); the whole in one program is the same as the step in one."""
    programs = ("--form", "programs", *RATE)
    results = {}
    for microbatch, entries in ((1, 1), (1, 4), (2, 1), (4, 2)):
        name = f"m{microbatch}x{entries}"
        results[name] = digits.train("digits", name, name, *programs, "--accumulate", 4, "--microbatch", microbatch, "--queue-entries", entries,
                                     "--steps", 6)
    first = results.pop("m1x1")
    for name, result in results.items():
        assert result == first, f"{name}: the same batches in other runs give other bits"
    return first


def checked_netlist(digits):
    text = (digits.tools.folder / "m2x1/digits.yaml").read_text()
    assert text.count("gradient_op: true") == 6, text.count("gradient_op: true")
    for program in ("run_fwd_0", "run_bwd_0", "run_opt_0"):
        assert program in text, f"the netlist has no program {program}"
    digits.tools.run("netlist", "check", "m2x1/digits.yaml", "--device", "n150")


def resumed(digits, whole):
    digits.trainer("m2x1", "part", "--accumulate", 4, "--steps", 2)
    assert digits.trainer("m2x1", "resumed", "--accumulate", 4, "--steps", 6, "--resume", "part.safetensors") == whole, \
        "a resumed run ends with other bits"


def other_targets(digits):
    golden = digits.trainer("m2x1", "golden", "--accumulate", 2, "--steps", 2)
    grid = digits.trainer("m2x1", "grid", "--accumulate", 2, "--steps", 2, "--target", "grid", "--set", "target.grid.values=exact")
    assert grid == golden, "grid and golden end with other bits"


def one_batch(digits):
    """A step in programs of one batch learns what a step in one run learns."""
    digits.train("digits", "one", "one", *RATE, "--steps", 5)
    digits.trainer("m1x1", "three", "--steps", 5)
    step, programs = (raw_tensors(digits.tools.folder / f"{name}.safetensors") for name in ("one", "three"))
    assert step == programs, "the programs of a step end with other bits than the step in one"


def estimates(digits):
    """The balancer's estimate of a step is within 15 % of target grid's time, however many batches it takes; both know its phases."""
    folder = digits.tools.folder
    for batches in (1, 7, 8):
        name = f"estimate{batches}"
        digits.tools.run("buda", "train", digits.examples / "digits.onnx", "--initialize", *digits.data, "--build-dir", name, "--form", "programs", *RATE, "--microbatch",
                         batches, "--accumulate", batches, "--steps", 3, "--target", "grid", "--perf", f"{name}/perf", "-o", f"{name}.safetensors")
        assert not (folder / f"{name}.safetensors").exists(), "parameters of a target that computes no results"
        report, run = (json.loads((folder / name / file).read_text()) for file in ("digits.report.json", "perf/summary.json"))
        estimate, step = report["totals"]["cycles"], run["cycles"] / 3
        assert abs(estimate / step - 1) <= 0.15, f"{batches} batches: estimated {estimate} cycles, {step} on grid"
        phases = report["totals"]["phases"]
        assert [p["phase"] for p in phases] == ["forward", "backward", "optimizer"], phases
        assert sum(p["cycles"] for p in phases) == sum(e["cycles"] for e in report["epochs"]) and sum(p["ops"] for p in phases) == report["totals"]["ops"]
        told = digits.tools.run("perf-analyzer", "--print", f"{name}/perf")
        for p in phases:
            assert f"{p['phase']}: {p['ops']} ops in {p['epochs']} epoch" in told, told


def refused(digits):
    """BL057: what adds up is no copy any more. RT092: a batch where the programs take two. RT093: a backend of Python."""
    folder = digits.tools.folder
    graph = json.loads((folder / "m2x1/digits.device.graph.json").read_text())
    for node in graph["nodes"]:
        if node.get("tags", {}).get("training") == "gradient":
            node["op"] = "exp"
    (folder / "m2x1/exp.graph.json").write_text(json.dumps(graph))
    expect_error(digits.tools, "BL057", "balancer", "m2x1/exp.graph.json", "-o", "exp.yaml")
    inputs = []
    for name, shape in (("image", (64, 64)), ("target", (64, 10)), ("step.share", ()), ("step.rate", ())):
        count = shape[0] * shape[1] if shape else 1
        head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(4 * count))
        inputs += ["--inputs", f"{name}={name}.npy"]
    expect_error(digits.tools, "RT092", "runner", "m2x1/digits.train.tti", *inputs, "-o", "no.npz")
    try:
        import numpy  # which the module needs
    except ImportError:
        return
    code = "import openbuda; openbuda.load_image('m2x1/digits.train.tti').open_backend('golden')"
    modules = digits.tools.bin.parent / "lib/python3/dist-packages"
    expect_error(digits.tools, "RT093", "env", f"PYTHONPATH={modules}", sys.executable, "-c", code)


def expect_error(tools, code, *command):
    try:
        tools.run(*command)
    except RuntimeError as failure:
        assert f"[{code}]" in str(failure), failure
    else:
        raise AssertionError(f"{command[0]} should have failed with {code}")


def next_to_pytorch(digits, tools):
    try:
        import numpy
        import torch
    except ImportError:
        print("without PyTorch")
        return
    batches, steps = 3, 12
    tools.run("importer", digits.examples / "digits.onnx")
    tools.run("autograd", "digits.graph.json", "--initialize", "--form", "programs", *RATE, "-o", "cpu.train.graph.json")
    tools.run("trainer", "cpu.train.graph.json", *digits.data, "--threads", 1, "--accumulate", batches, "--steps", steps, "--log", "cpu.jsonl")
    first = safetensors(tools.folder / "cpu.train.graph.safetensors")
    p = [torch.tensor(first[f"{layer}.{kind}"].copy(), requires_grad=True) for layer in ("hidden1", "hidden2", "logits")
         for kind in ("weight", "bias")]
    rule = torch.optim.SGD(p, lr=0.1, momentum=0.9)
    images = torch.from_numpy(numpy.load(digits.examples / "digits.train.images.npz")["image"])
    labels = torch.from_numpy(numpy.load(digits.examples / "digits.train.labels.npz")["label"])
    size, per_epoch = 64 * batches, 1437 // (64 * batches)
    for t, ours in enumerate(tools.losses("cpu.jsonl")):
        rows = order(1437, 1, t // per_epoch)[t % per_epoch * size:][:size]
        x = torch.relu(images[rows] @ p[0].t() + p[1])
        x = torch.relu(x @ p[2].t() + p[3])
        loss = torch.nn.functional.cross_entropy(x @ p[4].t() + p[5], labels[rows])
        rule.zero_grad()
        loss.backward()
        rule.step()
        assert abs(ours - loss.item()) < 1e-5, f"step {t + 1}: {ours} and PyTorch's {loss.item()}"


def main():
    build, source = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as place:
        tools = Tools(build, place)
        digits = Digits(tools, source)
        whole = same_bits(digits)
        checked_netlist(digits)
        resumed(digits, whole)
        other_targets(digits)
        one_batch(digits)
        estimates(digits)
        refused(digits)
        next_to_pytorch(digits, tools)
    print("gradients of several batches add up to the same bits in any runs")


if __name__ == "__main__":
    sys.exit(main())
