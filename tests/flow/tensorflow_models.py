#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs of TensorFlow, written from PyTorch's modules: imported, evaluated on target cpu, and compared with PyTorch and OpenCV's reader. Those written by
hand, which OpenCV does not read, are compared with PyTorch.

    tensorflow_models.py --build BUILD_DIR --source SOURCE_DIR [NAME ...]

Skipped (77) without PyTorch, torchvision, OpenCV or protobuf for Python.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import cv2
    import google.protobuf  # noqa: F401: what protoc writes needs it
    import numpy as np
    import torch
    import torch.nn.functional as F
    import torchvision
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import tensorflow_by_hand
import tensorflow_fused
import tensorflow_graphs as tf
import tensorflow_operators

warnings.filterwarnings("ignore")
torch.manual_seed(5)


class Net(nn.Module):
    """A module of a function and the modules that it uses: Net(lambda m, x: m.a(x) + x, a=nn.ReLU())."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, x):
        return self.function(self, x)


def conv(*args, **kwargs):
    return nn.Sequential(nn.Conv2d(*args, **kwargs))


def small(model):
    """torchvision's model with a classifier of ten classes, so that no file has hundreds of megabytes."""
    return lambda: model(num_classes=10)


def ds_cnn():
    """The network that the MLPerf Tiny benchmark spots keywords with."""
    layers = [nn.Conv2d(1, 16, (10, 4), 2, (4, 1)), nn.BatchNorm2d(16), nn.ReLU()]
    for _ in range(3):
        layers += [nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 12), nn.Softmax(-1))


def vgg():
    layers, channels = [], 3
    for width in (8, 16, 32):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 16, 40), nn.ReLU(), nn.Linear(40, 10), nn.Softmax(-1))


def unet():
    return Net(lambda m, x: m.out(torch.cat([m.up(m.down(m.enter(x))), m.enter(x)], 1)),
               enter=nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()), down=nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()),
               up=nn.ConvTranspose2d(16, 8, 2, 2), out=nn.Conv2d(16, 2, 1))


def inception_block():
    return Net(lambda m, x: torch.cat([m.a(x), m.b(x), m.c(x), m.d(m.relu(x))], 1), a=nn.Conv2d(8, 4, 1), b=nn.Sequential(nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Conv2d(4, 6, 3, padding=1)),
               c=nn.Sequential(nn.Conv2d(8, 4, (1, 7), padding=(0, 3)), nn.Conv2d(4, 4, (7, 1), padding=(3, 0))), d=nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(8, 4, 1)), relu=nn.ReLU())


def residual():
    return Net(lambda m, x: m.relu(m.body(x) + m.skip(x)), body=nn.Sequential(nn.Conv2d(8, 12, 3, 2, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 12, 3, 1, 1), nn.BatchNorm2d(12)),
               skip=nn.Conv2d(8, 12, 1, 2), relu=nn.ReLU())


def squeeze_excite():
    return Net(lambda m, x: x * m.gate(m.pool(x)), pool=nn.AdaptiveAvgPool2d(1), gate=nn.Sequential(nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, 1), nn.Sigmoid()))


IMAGE, WIDE, VECTOR = (1, 8, 12, 14), (1, 3, 64, 64), (1, 24)
elements = lambda f, **m: (lambda: Net(f, **m), IMAGE)
layer = lambda *layers: (lambda: nn.Sequential(*layers), IMAGE)

# Fifty modules, each with the shape of its input.
MODELS = {
    # whole networks
    "resnet18": (small(torchvision.models.resnet18), WIDE), "resnet50": (small(torchvision.models.resnet50), WIDE),
    "mobilenet_v2": (small(torchvision.models.mobilenet_v2), WIDE), "mobilenet_v3_small": (small(torchvision.models.mobilenet_v3_small), WIDE),
    "squeezenet1_1": (small(torchvision.models.squeezenet1_1), WIDE), "densenet121": (small(torchvision.models.densenet121), WIDE),
    "efficientnet_b0": (small(torchvision.models.efficientnet_b0), WIDE), "mnasnet0_5": (small(torchvision.models.mnasnet0_5), WIDE),
    "inception_v3": (lambda: torchvision.models.inception_v3(num_classes=10, init_weights=False), (1, 3, 107, 107)),
    "ds_cnn": (ds_cnn, (1, 1, 49, 10)), "vgg": (vgg, (1, 3, 32, 32)), "unet": (unet, (1, 3, 16, 20)),
    # blocks
    "inception_block": (inception_block, IMAGE), "residual": (residual, IMAGE), "squeeze_excite": (squeeze_excite, IMAGE),
    # convolutions
    "conv_valid": layer(nn.Conv2d(8, 6, 3)), "conv_same": layer(nn.Conv2d(8, 6, 5, padding=2)), "conv_stride": layer(nn.Conv2d(8, 6, 3, 2, 1)), "conv_dilated": layer(nn.Conv2d(8, 6, 3, padding=2, dilation=2)),
    "conv_oblong": layer(nn.Conv2d(8, 6, (3, 5), (1, 2))), "conv_pointwise": layer(nn.Conv2d(8, 16, 1)), "depthwise": layer(nn.Conv2d(8, 8, 3, padding=1, groups=8)),
    "depthwise_twice": layer(nn.Conv2d(8, 16, 3, groups=8)), "depthwise_stride": layer(nn.Conv2d(8, 8, 3, 2, 1, groups=8)), "separable": layer(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 12, 1), nn.ReLU6()),
    "transposed": layer(nn.ConvTranspose2d(8, 5, 2, 2)), "transposed_large": layer(nn.ConvTranspose2d(8, 5, 3, 2)), "two_convs": layer(nn.Conv2d(8, 6, 3), nn.Tanh(), nn.Conv2d(6, 4, 3)),
    # pools
    "max_pool": layer(nn.MaxPool2d(2)), "max_pool_overlap": layer(nn.MaxPool2d(3, 2)), "avg_pool": layer(nn.AvgPool2d(2)), "avg_pool_overlap": layer(nn.AvgPool2d(3, 1)),
    "global_pool": layer(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)),
    # norms
    "batch_norm": layer(nn.Conv2d(8, 6, 3), nn.BatchNorm2d(6), nn.ReLU()), "lrn": layer(nn.LocalResponseNorm(5)),
    # elements
    "leaky_relu": layer(nn.LeakyReLU(0.1)), "elu": layer(nn.ELU()), "sigmoid": layer(nn.Sigmoid()), "silu": layer(nn.Conv2d(8, 8, 1), nn.SiLU()), "hardswish": layer(nn.Conv2d(8, 8, 1), nn.Hardswish()),
    "product": elements(lambda m, x: m.a(x) * m.b(x), a=nn.Conv2d(8, 6, 1), b=nn.Conv2d(8, 6, 1)), "difference": elements(lambda m, x: m.a(x) - m.b(x), a=nn.Conv2d(8, 6, 1), b=nn.Conv2d(8, 6, 1)),
    # places
    "concat": elements(lambda m, x: torch.cat([m.a(x), x, m.b(x)], 1), a=nn.Conv2d(8, 6, 1), b=nn.Conv2d(8, 3, 1)), "split": elements(lambda m, x: (lambda p: torch.cat([m.a(p[0]), p[1]], 1))(m.b(x).chunk(2, 1)), a=nn.Conv2d(4, 5, 1), b=nn.Conv2d(8, 8, 1)),
    "bilinear": elements(lambda m, x: F.interpolate(x, size=(24, 28), mode="bilinear", align_corners=False)), "corners": elements(lambda m, x: F.interpolate(x, size=(23, 27), mode="bilinear", align_corners=True)),
    "nearest": elements(lambda m, x: F.interpolate(x, scale_factor=2)),
    # matrices
    "perceptron": (lambda: nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 10), nn.Softmax(-1)), VECTOR), "linear": (lambda: nn.Sequential(nn.Linear(24, 7)), VECTOR),
    "flattened": layer(nn.Conv2d(8, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 10 * 12, 9)),
}


def randomised(module):
    """Statistics of norms as if they were trained; with those of a new module they would be the identity."""
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.5, 1.5)
            nn.init.normal_(m.bias, std=0.2)
            m.running_mean.normal_(std=0.2)
            m.running_var.uniform_(0.5, 1.5)
    return module.eval()


def run(tools, *command):
    done = subprocess.run([os.path.join(tools, command[0]), *command[1:]], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def evaluated(tools, inputs, *model):
    """What the tools give: a dictionary of arrays, or the text of an error."""
    ok, text = run(tools, "importer", *model, "-o", "m.graph.json")
    if not ok:
        return text
    np.savez("in.npz", **inputs)
    ok, text = run(tools, "runner", "m.graph.json", "--target", "cpu", "--inputs", "in.npz", "-o", "out.npz")
    return dict(np.load("out.npz")) if ok else text


def difference(name, got, expected):
    if got.shape != expected.shape:
        return f"{name}: {got.shape} instead of {expected.shape}"
    largest = np.abs(expected).max(initial=0)
    if not np.allclose(got, expected, rtol=1e-4, atol=2e-5 * largest):
        return f"{name}: differs by {np.abs(got - expected).max():.3g}, largest {largest:.3g}"
    return None


def compare(tools, module, shape):
    """The reason why the graph of a module does not give what PyTorch and OpenCV give; nothing if it does."""
    module = randomised(module)
    x = torch.randn(*shape)
    with torch.no_grad():
        expected = module(x).numpy()
        translation = tf.Translation(module, x)
    with open("m.pb", "wb") as file:
        file.write(translation.graph.definition.SerializeToString())
    image = len(shape) == 4
    given = next(n.name for n in translation.graph.definition.node if n.op == "Placeholder")
    out = evaluated(tools, {given: x.numpy().transpose(0, 2, 3, 1) if image else x.numpy()}, "m.pb")
    if isinstance(out, str):
        return out
    got = next(iter(out.values()))
    got = got.transpose(0, 3, 1, 2) if got.ndim == 4 else got
    network = cv2.dnn.readNetFromTensorflow("m.pb")
    network.setInput(x.numpy())
    other = network.forward()
    return difference("PyTorch", got, expected) or difference("OpenCV", got, other.reshape(got.shape) if other.size == got.size else other)


def compare_by_hand(tools, make):
    """The same for a graph that was written by hand, and PyTorch alone."""
    model, inputs, expected = make()
    out = evaluated(tools, {name: value.numpy() for name, value in inputs.items()}, *model)
    if isinstance(out, str):
        return out
    for name, value in expected.items():
        if name is not None and name not in out:
            return f"no output {name}: {list(out)}"
        reason = difference(name, out[name] if name is not None else next(iter(out.values())), value.detach().numpy())
        if reason:
            return reason
    return None


def damaged_checkpoint(tools):
    """Why damage of a checkpoint with four variables in two files is not refused once; nothing if it is."""
    model, _, _ = tensorflow_by_hand.saved_model()
    for name, code in (("index", "GF010"), ("data-00000-of-00002", "GF012"), ("data-00001-of-00002", "GF012")):
        path = f"saved/variables/variables.{name}"
        with open(path, "rb") as file:
            sound = file.read()
        for damage in ("a flipped bit", "no file"):
            if damage == "no file":
                os.remove(path)
            else:
                with open(path, "wb") as file:
                    file.write(sound[:5] + bytes([sound[5] ^ 4]) + sound[6:])
            ok, text = run(tools, "importer", *model, "-o", "m.graph.json")
            wanted = "IO001" if damage == "no file" else code
            if ok or text.count("error:") != 1 or f"[{wanted}]" not in text:
                return f"{damage}, {name}: {text or 'imported'}"
        with open(path, "wb") as file:
            file.write(sound)
    return None


def oversized(tools):
    """Why sizes that would need gigabytes of weights or samples are not refused; nothing if they are."""
    for op, more in (("ResizeArea", []), ("CropAndResize", ["boxes", "which"])):
        graph = tf.Graph()
        graph.placeholder("x", (1, 8, 8, 3))
        graph.placeholder("boxes", (1, 4))
        graph.placeholder("which", [1], np.int32)
        graph.node(op, "y", ["x", *more, graph.integers([2_000_000_000, 3])])
        tensorflow_by_hand.write(graph)
        ok, text = run(tools, "importer", "m.pb", "-o", "m.graph.json", "--set", "frontend.tensorflow.outputs=y")
        if ok or "[GF040]" not in text or "2000000000" not in text:
            return f"{op}: {text or 'imported'}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tools = os.path.abspath(os.path.join(arguments.build, "bin"))
    source = os.path.abspath(arguments.source)
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tf.load_schema(source, folder)
        graphs = {name: lambda make=make, shape=shape: compare(tools, make(), shape) for name, (make, shape) in MODELS.items()}
        graphs.update({name: lambda make=make: compare_by_hand(tools, make) for name, make in (tensorflow_by_hand.GRAPHS | tensorflow_fused.GRAPHS | tensorflow_operators.GRAPHS).items()})
        graphs["oversized"] = lambda: oversized(tools)
        graphs["damaged_checkpoint"] = lambda: damaged_checkpoint(tools)
        for name, check in graphs.items():
            if arguments.names and name not in arguments.names:
                continue
            count += 1
            try:
                reason = check()
            except (cv2.error, NotImplementedError) as error:
                reason = f"{type(error).__name__}: {error}"
            if reason:
                failed += 1
                print(f"{name}: {reason.strip()}")
        os.chdir("/")
    print(f"{count} graphs, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
