#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model in training mode: batch normalisation, whose statistics a step moves, and dropout, whose masks the trainer draws, next to PyTorch.

    train_modes.py BUILD_DIR SOURCE_DIR [--long]

Losses, statistics, and a validation in evaluation mode, of a convolutional network from ONNX and TorchScript and of a perceptron; of the latter also on golden and
grid, and in programs. Then an optimizer from a file. --long: the convolutional network on golden and grid and in programs, too.
"""
import json
import pathlib
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import torch
    from torch import nn
    from torch.nn import functional
    from training_models import export
except ImportError:
    print("without PyTorch and onnx")
    sys.exit(77)

from training_tools import Tools, dropout_mask, order, raw_tensors, safetensors

BATCH, STEPS, RATIO, RATE = 12, 20, 0.2, 0.05


class Dropped(nn.Module):
    """What dropout makes of a given mask."""
    mask = torch.ones(1)

    def forward(self, x):
        return x * self.mask


class Net(nn.Module):
    dropped = 96  # elements of a sample

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6, momentum=0.2), nn.Dropout(RATIO)
        self.hidden, self.flat, self.out = nn.Linear(96, 20), nn.BatchNorm1d(20), nn.Linear(20, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.out(torch.relu(self.flat(self.hidden(self.drop(x.flatten(1))))))


class Perceptron(nn.Module):
    dropped = 20

    def __init__(self):
        super().__init__()
        self.hidden, self.norm, self.drop, self.out = nn.Linear(64, 20), nn.BatchNorm1d(20, momentum=0.2), nn.Dropout(RATIO), nn.Linear(20, 10)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.norm(self.hidden(x.flatten(1))))))


def data_of(digits, kind, rows):
    images = numpy.load(digits / f"digits.{kind}images.npz")["image"][:rows].reshape(-1, 1, 8, 8).astype("f4")
    return images, numpy.load(digits / f"digits.{kind}labels.npz")["label"][:rows].astype("i8")


class Bench:
    def __init__(self, build, digits, folder, kind):
        folder.mkdir()
        self.tools, self.folder, self.kind = Tools(build, folder), folder, kind
        self.images, self.labels = data_of(digits, "train.", 120)
        # Not a multiple of the batch: what fills it up must not count.
        self.others, self.other_labels = data_of(digits, "", 55)
        for name, array in (("x", self.images), ("v", self.others)):
            numpy.savez(folder / f"{name}.npz", x=array)
        for name, array in (("y", self.labels), ("w", self.other_labels)):
            numpy.savez(folder / f"{name}.npz", target=array)
        torch.manual_seed(6)
        self.net = kind().train()
        sample = torch.from_numpy(self.images[:BATCH])
        export(self.net, {"x": sample}, folder / "net.onnx")
        torch.jit.trace(self.net, sample, check_trace=False).save(str(folder / "traced.pt"))

    def train(self, model, *options):
        self.tools.run("trainer", model, "--inputs", "x.npz", "--targets", "y.npz", "--validate", "v.npz", "--validate-targets", "w.npz", "--log", "log.jsonl",
                       "-o", "out.safetensors", *options)
        told = [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines()]
        return [line["loss"] for line in told if "loss" in line], [line["validation_loss"] for line in told if "validation_loss" in line]

    def stored(self, file):
        """What the file holds: exporting runs the model, which moves its statistics."""
        if file.endswith(".pt"):
            return torch.jit.load(str(self.folder / file)).state_dict()
        model = onnx.load(self.folder / file)
        return {t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy()) for t in model.graph.initializer}

    def expected(self, file, mask_name):
        net = self.kind()
        net.load_state_dict(self.stored(file), strict=False)
        net.drop, out, per_epoch = Dropped(), [], len(self.images) // BATCH
        rule = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
        net.train()
        for t in range(STEPS):
            rows = order(len(self.images), 1, t // per_epoch)[t % per_epoch * BATCH:][:BATCH]
            net.drop.mask = torch.from_numpy(dropout_mask(mask_name, 1, t + 1, (BATCH, self.kind.dropped), RATIO))
            loss = functional.cross_entropy(net(torch.from_numpy(self.images[rows])), torch.from_numpy(self.labels[rows]))
            rule.zero_grad()
            loss.backward()
            rule.step()
            out.append(loss.item())
        net.eval()
        net.drop.mask = torch.ones(1)
        validation = functional.cross_entropy(net(torch.from_numpy(self.others)), torch.from_numpy(self.other_labels)).item()
        return out, validation, {name: value.numpy() for name, value in net.named_buffers() if "running" in name}

    def next_to_pytorch(self, file, *options):
        graph = f"{pathlib.Path(file).stem}.train.graph.json"
        self.tools.run("importer", file, "--training", *options)
        self.tools.run("autograd", graph.replace(".train", ""), "--optimizer", f"sgd:lr={RATE},momentum=0.9", "--check", "-o", graph)
        mask = next(n["name"] for n in json.loads((self.folder / graph).read_text())["nodes"] if n["name"].endswith(".mask"))
        ours, validation = self.train(graph, "--steps", STEPS)
        losses, expected, statistics = self.expected(file, mask)
        off = max(abs(a - b) for a, b in zip(ours, losses))
        assert len(ours) == STEPS and off < 1e-5, f"{file}: losses {ours}, PyTorch's {losses}"
        assert abs(validation[-1] - expected) < 1e-5, f"{file}: validation {validation[-1]}, PyTorch's {expected}"
        trained = safetensors(self.folder / "out.safetensors")
        for name, value in statistics.items():
            assert numpy.abs(trained[name] - value).max() < 1e-5, f"{file}: {name} is {trained[name]}, PyTorch's {value}"
        return off, losses

    def on_the_chip(self, losses):
        self.tools.run("buda", "train", "net.onnx", "--inputs", "x.npz", "--targets", "y.npz", "--optimizer", f"sgd:lr={RATE},momentum=0.9", "--steps", 2,
                       "--build-dir", "step")
        ours, _ = self.train("step/net.train.tti", "--steps", STEPS)
        mean, wanted = sum(ours) / STEPS, sum(losses) / STEPS
        assert abs(mean - wanted) < 0.03 * wanted, f"golden's mean loss is {mean}, PyTorch's {wanted}"
        self.train("step/net.train.tti", "--steps", 3)
        golden = raw_tensors(self.folder / "out.safetensors")
        self.train("step/net.train.tti", "--steps", 3, "--target", "grid", "--set", "target.grid.values=exact")
        assert golden == raw_tensors(self.folder / "out.safetensors"), "grid ends with other bits than golden"

    def in_programs(self):
        ends = []
        for microbatch in (1, 2):
            self.tools.run("buda", "train", "net.onnx", "--inputs", "x.npz", "--targets", "y.npz", "--form", "programs", "--accumulate", 2, "--steps", 3,
                           "--microbatch", microbatch, "-o", f"{microbatch}.safetensors")
            ends.append(raw_tensors(self.folder / f"{microbatch}.safetensors"))
        assert ends[0] == ends[1], "two batches of a step give other bits one by one than together"
        assert any("running_mean" in name for name in ends[0])

    def from_a_file(self):
        """Momentum as a graph: as the built-in one, with other roundings."""
        value = lambda name, shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        node = onnx.helper.make_node
        nodes = [node("Mul", ["velocity", "keep"], ["kept"]), node("Add", ["kept", "gradient"], ["velocity.next"]),
                 node("Mul", ["velocity.next", "rate"], ["change"]), node("Sub", ["parameter", "change"], ["parameter.next"])]
        inputs = [value(name, [2, 3]) for name in ("parameter", "gradient", "velocity")] + [value("rate", [])]
        outputs = [value(name, [2, 3]) for name in ("parameter.next", "velocity.next")]
        keep = onnx.helper.make_tensor("keep", onnx.TensorProto.FLOAT, [], [0.9])
        graph = onnx.helper.make_graph(nodes, "momentum", inputs, outputs, [keep])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)]), self.folder / "momentum.onnx")
        self.tools.run("importer", "momentum.onnx")
        losses = []
        for optimizer in (f"sgd:lr={RATE},momentum=0.9", f"momentum.graph.json:lr={RATE}"):
            self.tools.run("autograd", "net.graph.json", "--optimizer", optimizer, "-o", "by.train.graph.json")
            losses.append(self.train("by.train.graph.json", "--steps", STEPS)[0])
        assert max(abs(a - b) for a, b in zip(*losses)) < 1e-5, f"an optimizer from a file: {losses}"


def main():
    torch.set_num_threads(1)
    build, digits = sys.argv[1], pathlib.Path(sys.argv[2]).resolve() / "share/examples/digits"
    with tempfile.TemporaryDirectory() as place:
        bench, small = (Bench(build, digits, pathlib.Path(place) / kind.__name__, kind) for kind in (Net, Perceptron))
        off, losses = bench.next_to_pytorch("net.onnx")
        traced, _ = bench.next_to_pytorch("traced.pt", "--input-shape", f"x={BATCH},1,8,8")
        bench.from_a_file()
        on_chip = [(small, small.next_to_pytorch("net.onnx")[1])] + ([(bench, losses)] if "--long" in sys.argv else [])
        for one, expected in on_chip:
            one.on_the_chip(expected)
            one.in_programs()
    print(f"a model in training mode follows PyTorch to {off:.1e} (ONNX) and {traced:.1e} (TorchScript) over {STEPS} steps")


if __name__ == "__main__":
    sys.exit(main())
