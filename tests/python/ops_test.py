#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Native modules: ops_test.py BUILD_DIR. Every op of PyBuda's reference next to NumPy, and windows next to PyTorch where it is. Exit 77 without NumPy."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "lib/python3/dist-packages"))
try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None
import openbuda
from openbuda import op

rng = np.random.default_rng(4)


def data(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def outputs_of(forward, *inputs):
    """What a module with this forward() gives on the host."""
    module = type("Module", (openbuda.PyBudaModule,), {"forward": lambda self, *x: forward(*x)})("module")
    return list(module.evaluate(*inputs).values())


class Ops(unittest.TestCase):
    def same(self, forward, expected, *inputs, rtol=1e-5):
        np.testing.assert_allclose(outputs_of(forward, *inputs)[0], expected, rtol=rtol, atol=1e-6)

    def test_general(self):
        a, b, c = data(2, 3, 4), data(2, 4, 5), data(1, 5)
        self.same(lambda x, y: op.Matmul("", x, y), a @ b, a, b)
        self.same(lambda x, y: op.Matmul("mm", x, y, c), a @ b + c, a, b)
        d = data(2, 3, 4)
        for name, function in (("Add", np.add), ("Subtract", np.subtract), ("Multiply", np.multiply), ("Max", np.maximum)):
            self.same(lambda x, y: getattr(op, name)("n", x, y), function(a, d), a, d)
        self.same(lambda x: op.Add("", x, 2), a + 2, a)
        self.same(lambda x: op.Multiply("", x, op.Constant("half", constant=0.5)), a / 2, a)
        self.same(lambda x: op.ReduceSum("", x, -1), a.sum(-1, keepdims=True), a)
        self.same(lambda x: op.ReduceAvg("", x, 1), a.mean(1, keepdims=True), a)
        self.same(lambda x: op.Identity("", x), a, a)
        self.same(lambda x: op.Identity("", x, unsqueeze="pre_dim", unsqueeze_dim=1), a[:, None], a)
        self.same(lambda x: op.Buffer("", x), a, a)

    def test_what_forward_may_not_do_is_told(self):
        a = data(2, 3)
        for forward, says in ((lambda x: None, "returns NoneType; a model returns a tensor"), (lambda x: (), "returns nothing"), (lambda x: (x, 3.0), "returns Tensor, float"),
                              (lambda x: np.maximum(x, 0), "no elements before the model runs"), (lambda x: x if x else x, "no elements before the model runs")):
            with self.assertRaisesRegex(TypeError, says):
                outputs_of(forward, a)
        with self.assertRaisesRegex(TypeError, r"the class Net; a module is an object of it: Net\(\.\.\.\)"):
            openbuda.compile_to_image(type("Net", (), {}))
        with self.assertRaisesRegex(TypeError, "parameters without the code of a module"):
            openbuda.compile_to_image({"weight": np.zeros(3)})
        with self.assertRaisesRegex(TypeError, "of type int, neither a file nor a module"):
            openbuda.compile_to_image(3)
        # A mask without masked elements is none.
        masked = np.ma.array(a, mask=a > 2)
        self.same(lambda x: op.Add("", x, 1), a + 1, masked)
        masked[0, 1] = np.ma.masked
        with self.assertRaisesRegex(TypeError, r"array.filled\(0\)"):
            outputs_of(lambda x: op.Add("", x, 1), masked)

    def test_transformations(self):
        a = np.arange(48, dtype=np.float32).reshape(2, 4, 6)
        self.same(lambda x: op.HSlice("", x, 3), a.reshape(2, 4, 3, 2).transpose(0, 2, 1, 3).reshape(6, 4, 2), a)
        self.same(lambda x: op.VSlice("", x, 2), a.reshape(4, 2, 6), a)
        self.same(lambda x: op.HStack("", x), a.transpose(1, 0, 2).reshape(1, 4, 12), a)
        self.same(lambda x: op.HStack("", op.HSlice("cut", x, 3), 3), a, a)
        self.same(lambda x: op.VStack("", x), a.reshape(1, 8, 6), a)
        self.same(lambda x: op.VStack("", op.VSlice("cut", x, 2), 2), a, a)
        self.same(lambda x: op.Reshape("", x, (8, 6)), a.reshape(8, 6), a)
        self.same(lambda x: op.Index("", x, 2, 1), a[:, :, 1:], a)
        self.same(lambda x: op.Index("", x, -1, 1, 6, 2), a[:, :, 1:6:2], a)
        self.same(lambda x: op.Select("", x, 1, 2), a[:, 2:3], a)
        self.same(lambda x: op.Select("", x, 1, (1, 2)), a[:, 1:3], a)
        self.same(lambda x: op.Select("", x, 2, (0, 1), stride=3), a[:, :, [0, 3]], a)
        self.same(lambda x: op.Concatenate("", x, x, axis=1), np.concatenate([a, a], 1), a)
        self.same(lambda x: op.BinaryStack("", x, op.Multiply("twice", x, 2), -1), np.stack([a, 2 * a], -1).reshape(2, 4, 12), a)
        self.same(lambda x: op.Pad("", x, (1, 2)), np.pad(a, ((0, 0), (0, 0), (1, 2))), a)
        self.same(lambda x: op.Pad("", x, (1, 2, 3, 0)), np.pad(a, ((0, 0), (3, 0), (1, 2))), a)
        self.same(lambda x: op.Pad("", x, (1, 2, 3, 0), mode="replicate"), np.pad(a, ((0, 0), (3, 0), (1, 2)), mode="edge"), a)
        self.same(lambda x: op.Pad("", x, (1, 2, 3, 0), mode="reflect"), np.pad(a, ((0, 0), (3, 0), (1, 2)), mode="reflect"), a)
        b = data(1, 3, 4, 2)
        self.same(lambda x: op.Pad("", x, (1, 2, 0, 1), channel_last=True), np.pad(b, ((0, 0), (0, 1), (1, 2), (0, 0))), b)

    def test_activations_and_mathematics(self):
        a, positive = data(3, 5), data(3, 5) + 1.5
        self.same(lambda x: op.Relu("", x), np.maximum(a, 0), a)
        self.same(lambda x: op.Relu("", x, 0.25), np.where(a > 0.25, a, 0), a)
        self.same(lambda x: op.Relu("", x, 0.25, "max"), np.clip(a, 0, 0.25), a)
        self.same(lambda x: op.Sigmoid("", x), 1 / (1 + np.exp(-a)), a)
        self.same(lambda x: op.Gelu("", x, "tanh"), 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3))), a, rtol=1e-4)
        for name, function in (("Exp", np.exp), ("Reciprocal", np.reciprocal), ("Sqrt", np.sqrt), ("Log", np.log), ("Abs", np.abs)):
            self.same(lambda x: getattr(op, name)("", x), function(positive), positive)
        self.same(lambda x: op.Clip("", x, -0.5, 0.5), np.clip(a, -0.5, 0.5), a)
        self.same(lambda x: op.Heaviside("", x, 0.5), np.heaviside(a, 0.5), a)
        self.same(lambda x: op.Argmax("", x, 1), a.argmax(1)[:, None], a)
        self.same(lambda x: op.Argmax("", x), a.argmax(), a)

    def test_networks(self):
        a, w, b = data(2, 4, 6), data(6), data(6)

        def norm(x, scale, shift, eps=1e-5):
            return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * scale + shift

        e = np.exp(a)
        for stable in (True, False):
            self.same(lambda x: op.Softmax("", x, dim=1, stable=stable), e / e.sum(1, keepdims=True), a)
        self.same(lambda x: op.Layernorm("", x, w, b), norm(a, w, b), a, rtol=1e-4)
        self.same(lambda x: op.Layernorm("n", x, w[:4], b[:4], dim=1, epsilon=0.1), norm(a.transpose(0, 2, 1), w[:4], b[:4], 0.1).transpose(0, 2, 1), a, rtol=1e-4)

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_windows(self):
        from torch.nn import functional as f
        x, w, bias = data(2, 4, 9, 8), data(6, 2, 3, 3), data(6)
        t = torch.from_numpy
        last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))

        def both(ours, theirs):
            """With channels in front, and with channels last."""
            self.same(lambda v: ours(v, False), theirs.numpy(), x, rtol=1e-4)
            self.same(lambda v: ours(v, True), theirs.numpy().transpose(0, 2, 3, 1), last, rtol=1e-4)

        both(lambda v, c: op.Conv2d("conv", v, w, bias, padding=[1, 0, 2, 1], groups=2, channel_last=c), f.conv2d(f.pad(t(x), (1, 0, 2, 1)), t(w), t(bias), groups=2))
        both(lambda v, c: op.Conv2d("", v, w, groups=2, channel_last=c), f.conv2d(t(x), t(w), groups=2, padding="same"))
        both(lambda v, c: op.Conv2d("", v, w, stride=2, padding=1, dilation=2, groups=2, channel_last=c), f.conv2d(t(x), t(w), stride=2, padding=1, dilation=2, groups=2))
        self.assertEqual(outputs_of(lambda v: op.Conv2d("", v, w, stride=2, groups=2), x)[0].shape, (2, 6, 5, 4))
        up = data(4, 3, 3, 3)
        both(lambda v, c: op.Conv2dTranspose("up", v, up, stride=2, padding=1, channel_last=c), f.conv_transpose2d(t(x), t(up), stride=2, padding=1))
        self.assertEqual(outputs_of(lambda v: op.Conv2dTranspose("", v, up, stride=2), x)[0].shape, (2, 3, 18, 16))
        both(lambda v, c: op.MaxPool2d("", v, 3, stride=2, padding=1, channel_last=c), f.max_pool2d(t(x), 3, 2, 1))
        both(lambda v, c: op.MaxPool2d("", v, (2, 3), stride=1, padding=0, dilation=2, channel_last=c), f.max_pool2d(t(x), (2, 3), 1, 0, 2))
        both(lambda v, c: op.MaxPool2d("", v, 2, stride=2, padding=0, ceil_mode=True, channel_last=c), f.max_pool2d(t(x), 2, 2, ceil_mode=True))
        both(lambda v, c: op.AvgPool2d("", v, 3, stride=2, padding=1, channel_last=c), f.avg_pool2d(t(x), 3, 2, 1))
        both(lambda v, c: op.AvgPool2d("", v, 3, stride=1, padding=1, count_include_pad=False, channel_last=c), f.avg_pool2d(t(x), 3, 1, 1, count_include_pad=False))
        both(lambda v, c: op.AvgPool2d("", v, 2, stride=1, padding=0, divisor_override=3, channel_last=c), f.avg_pool2d(t(x), 2, 1, divisor_override=3))
        y, places = f.max_pool2d(t(x), 2, 2, return_indices=True)
        got = outputs_of(lambda v: op.MaxPool2d("p", v, 2, stride=2, padding=0, return_indices=True), x)
        np.testing.assert_allclose(got[0], y.numpy())
        # PyTorch counts within a channel, we in all of x.
        np.testing.assert_array_equal(got[1] % 72, places.numpy())


class Linear(openbuda.PyBudaModule):
    def __init__(self, name, inputs, outputs):
        super().__init__(name)
        self.weight = openbuda.Parameter(inputs, outputs)
        self.add_parameter("bias", openbuda.Parameter(1, outputs), prepend_name=True)

    def forward(self, x):
        return op.Matmul("product", x, self.weight, self.get_parameter("bias"))


class Perceptron(openbuda.PyBudaModule):
    def __init__(self, name):
        super().__init__(name)
        self.first, self.second = Linear("first", 32, 64), Linear("second", 64, 16)
        self.add_constant("scale")
        self.set_constant("scale", [0.5])
        self.heard = []

    def pre_forward(self, x):
        self.heard.append(x.shape)

    def forward(self, x):
        hidden = op.Relu("relu", self.first(x))
        return op.Multiply("scaled", self.second(hidden), self.get_constant("scale")), hidden


class Modules(unittest.TestCase):
    def setUp(self):
        self.module = Perceptron("net")
        for linear in (self.module.first, self.module.second):
            linear.set_parameter("weight", data(*linear.weight.shape))
        self.module.load_parameter_dict({"first.bias": data(1, 64), "second.bias": data(1, 16)})
        self.x = data(64, 32)
        values = {linear: (linear.weight.value, linear.get_parameter("bias").value) for linear in (self.module.first, self.module.second)}
        self.hidden = np.maximum(self.x @ values[self.module.first][0] + values[self.module.first][1], 0)
        self.y = (self.hidden @ values[self.module.second][0] + values[self.module.second][1]) / 2

    def test_on_the_host_and_on_a_device(self):
        host = self.module.evaluate(self.x)
        self.assertEqual(list(host), ["net.output_0", "net.output_1"])
        np.testing.assert_allclose(host["net.output_0"], self.y, rtol=1e-4, atol=1e-5)
        self.assertEqual(self.module.heard, [(64, 32)])
        y, hidden = self.module.run(self.x, mode="fp32")
        np.testing.assert_allclose(y, self.y, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(hidden, self.hidden, rtol=1e-4, atol=1e-5)

    def test_is_compiled_for_the_shapes_of_its_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            image = openbuda.load_image(openbuda.compile_to_image(self.module, f"{folder}/net.tti", sample_inputs=(self.x,)))
            self.assertEqual(image.get_input_shapes(), {"x": (64, 32)})
            results = openbuda.run_inference(image, [(self.x,), (-self.x,)], mode="fp32")
            np.testing.assert_allclose(results[0][0], self.y, rtol=1e-4, atol=1e-5)
            with self.assertRaises(TypeError):
                openbuda.compile_to_image(self.module)

    def test_tells_the_device_that_it_was_compiled_for(self):
        self.assertIsInstance(self.module, openbuda.Module)
        self.assertIsNone(self.module.get_device())
        for device in ("n150", "e150"):
            self.module.run(self.x, device=device)
            self.assertEqual(self.module.get_device(), device)

    def test_results_within_are_outputs_when_asked(self):
        handle = self.module.insert_tapout_queue_for_op("first.product")
        self.assertEqual(handle, "first.product.tapout")
        outputs = self.module.evaluate(self.x)
        np.testing.assert_allclose(np.maximum(outputs[handle], 0), self.hidden, rtol=1e-4, atol=1e-5)
        self.module.insert_tapout_queue_for_op("no.such.op")
        with self.assertRaisesRegex(KeyError, "first.product"):
            self.module.evaluate(self.x)

    def test_parameters(self):
        self.assertEqual([p.get_name() for p in self.module.get_parameters()], ["first.weight", "first.bias", "second.weight", "second.bias"])
        self.assertEqual(self.module.get_parameters(submodules=False), [])
        with self.assertRaisesRegex(ValueError, "shape"):
            self.module.first.set_parameter("weight", data(3, 3))
        with self.assertRaisesRegex(KeyError, "weight"):
            self.module.first.get_parameter("wieght")
        with self.assertRaises(KeyError):
            self.module.load_parameter_dict({"third.bias": data(1, 1)})
        with self.assertRaisesRegex(RuntimeError, "forward"):
            op.Relu("", self.module.first.weight)

    def test_what_is_wrong_names_the_op(self):
        with self.assertRaisesRegex(openbuda.Error, "bad"):
            outputs_of(lambda v: op.Matmul("bad", v, data(7, 7)), self.x)
        with self.assertRaisesRegex(openbuda.Error, "twice"):
            outputs_of(lambda v: op.Relu("twice", op.Relu("twice", v)), self.x)


@unittest.skipIf(torch is None, "no PyTorch")
class Frameworks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 48), torch.nn.ReLU(), torch.nn.Linear(48, 8))
        self.x = torch.from_numpy(data(64, 32))

    def test_torch_modules_are_exported(self):
        with tempfile.TemporaryDirectory() as folder:
            for model in (self.net, openbuda.PyTorchModule("net", self.net)):
                path = openbuda.compile_to_image(model, f"{folder}/net.tti", sample_inputs=(self.x,))
                ((y,),) = openbuda.run_inference(openbuda.load_image(path), [(self.x,)], mode="fp32")
                np.testing.assert_allclose(y, self.net(self.x).detach().numpy(), rtol=1e-4, atol=1e-5)
            with self.assertRaises(TypeError):
                openbuda.compile_to_image(self.net)
            with self.assertRaises(TypeError):
                openbuda.compile_to_image(42)

    def test_parameters_of_torch_modules(self):
        module = openbuda.PyTorchModule("net", self.net)
        np.testing.assert_allclose(module.forward(self.x).detach(), self.net(self.x).detach())
        self.assertEqual([p.name for p in module.get_parameters()], ["0.weight", "0.bias", "2.weight", "2.bias"])
        module.set_parameters(**{"2.bias": np.full(8, 3, np.float32)})
        np.testing.assert_array_equal(module.get_parameters()[3].value, np.full(8, 3, np.float32))
        module.add_parameter("further", openbuda.Parameter(2, 2))
        self.assertIn("further", dict(self.net.named_parameters()))
        with self.assertRaisesRegex(KeyError, "2.bias"):
            module.set_parameters(bias=0)

    def test_onnx_modules(self):
        with tempfile.TemporaryDirectory() as folder:
            onnx = openbuda.PyTorchModule("net", self.net).export(folder, (self.x,))
            path = openbuda.compile_to_image(openbuda.OnnxModule("net", None, onnx), f"{folder}/net.tti")
            ((y,),) = openbuda.run_inference(openbuda.load_image(path), [(self.x,)], mode="fp32")
            np.testing.assert_allclose(y, self.net(self.x).detach().numpy(), rtol=1e-4, atol=1e-5)
            try:
                import onnx as library
            except ImportError:
                self.skipTest("no onnx")
            again = openbuda.compile_to_image(library.load(onnx), f"{folder}/again.tti")
            self.assertEqual(openbuda.load_image(again).get_output_shapes(), openbuda.load_image(path).get_output_shapes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
