#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyBuda's user guide runs: guide_test.py BUILD_DIR GUIDE. Exit 77 without the guide, NumPy or PyTorch.

Every Python block of the guide is run as it is, but for `import pybuda`, which is openbuda, and for the model from the network, which is a small one of the same interface. What a block takes for granted (a
module, inputs, a class that it does not import) stands before it here, and what must come of it behind it. Three blocks are no Python; what is changed in them is said beside them.
"""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import textwrap
import types
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "lib/python3/dist-packages"))
GUIDE = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
try:
    import numpy as np
    import torch
except ImportError:
    print("no NumPy or no PyTorch")
    sys.exit(77)
if GUIDE is None or not GUIDE.is_file():
    print("the guide is not there")
    sys.exit(77)
import openbuda


def blocks_of(text):
    """The Python blocks in their order, without their indentation."""
    lines, out = text.splitlines(), []
    for i, line in enumerate(lines):
        if line.strip() != ".. code-block:: python":
            continue
        indent, block = len(line) - len(line.lstrip()), []
        for following in lines[i + 1:]:
            if following.strip() and len(following) - len(following.lstrip()) <= indent:
                break
            block.append(following)
        out.append(textwrap.dedent("\n".join(block)).strip() + "\n")
    return out


BLOCKS = blocks_of(GUIDE.read_text())
NAMES = ("import openbuda as pybuda, torch\n"
         "from openbuda import BackendDevice, BackendType, CPUDevice, PyTorchModule, TTDevice, TTDeviceImage\n")


class Encoder(torch.nn.Module):
    """With the interface of the encoder of a BertModel."""

    def __init__(self, size):
        super().__init__()
        self.attention = torch.nn.Linear(size, 3 * size)
        self.norm = torch.nn.LayerNorm(size)
        self.output = torch.nn.Linear(size, size)

    def forward(self, hidden_states, attention_mask=None, head_mask=None):
        q, k, v = self.attention(hidden_states).chunk(3, -1)
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        return {"last_hidden_state": self.norm(hidden_states + self.output(weights @ v))}


class BertModel:
    """In place of the one from the network."""

    loaded = None

    @staticmethod
    def from_pretrained(name):
        torch.manual_seed(3)
        BertModel.loaded = types.SimpleNamespace(encoder=Encoder(64).eval(), config=types.SimpleNamespace(hidden_size=64))
        return BertModel.loaded


class Pair(openbuda.PyBudaModule):
    """A module of two inputs."""

    def __init__(self, name):
        super().__init__(name)
        self.weights = openbuda.Parameter(np.random.default_rng(1).uniform(-1, 1, (32, 32)).astype(np.float32))

    def forward(self, act1, act2):
        return openbuda.op.Matmul("product", act1, self.weights) + act2


class Guide(unittest.TestCase):
    ran = set()

    def setUp(self):
        openbuda.pybuda_reset()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def play(self, number, before="", replaced=(), names=None):
        """Runs a block; gives its names. `replaced`: pairs of texts, each with its reason beside it."""
        block = BLOCKS[number]
        for old, new in replaced:
            self.assertIn(old, block)
            block = block.replace(old, new)
        block = re.sub(r"^import pybuda$", "import openbuda as pybuda", block, flags=re.M)
        block = re.sub(r"^from pybuda\.", "from openbuda.", block, flags=re.M)
        names = {} if names is None else names
        exec(NAMES + before, names)
        exec(compile(block, f"block {number} of the guide", "exec"), names)
        Guide.ran.add(number)
        return names

    def near(self, got, expected, atol=0.05):
        np.testing.assert_allclose(np.asarray(got, np.float32), expected.detach().numpy(), atol=atol, rtol=0.05)

    def test_quick_start(self):
        library = types.ModuleType("transformers")
        library.BertModel, library.BertConfig = BertModel, object
        sys.modules["transformers"] = library
        self.addCleanup(sys.modules.pop, "transformers")
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            names = self.play(0)
        self.assertIn("Tensor(tensor([[[", told.getvalue())
        names["tt0"].push_to_inputs(names["input"])
        (result,) = openbuda.run_inference().get()
        self.near(result, BertModel.loaded.encoder(names["input"])["last_hidden_state"], 0.1)

    def test_devices_and_modules(self):
        names = self.play(1)
        self.assertEqual([device.name for device in openbuda.pipeline.current().devices], ["tt0", "cpu0"])
        names["mod"] = Pair("mod")
        self.play(2, names=names)
        self.assertIs(names["mod"].get_device(), names["tt0"])
        openbuda.shutdown()
        names = self.play(3, before="tt0 = TTDevice('tt0')\n")
        x = torch.rand(32, 64)
        names["tt0"].push_to_inputs(x)
        self.near(openbuda.run_inference().get()[0], names["tt0"].modules[0].module(x))

    def test_inputs_are_pushed(self):
        names = self.play(4, before="from __main__ import Pair\ntt0 = TTDevice('tt0', module=Pair('pair'))\ninput0, input1 = torch.rand(4, 32, 32), torch.rand(4, 32, 32)\n")
        (result,) = openbuda.run_inference().get()
        self.near(result, names["input0"] @ torch.from_numpy(names["tt0"].modules[0].weights.value) + names["input1"])

    def test_training_loop(self):
        names = self.play(5, before="from __main__ import Pair\ntt0 = TTDevice('tt0', module=Pair('pair'), optimizer=pybuda.optimizers.SGD(learning_rate=0.5, device_params=True))\n"
                          "tt0.place_loss_module(pybuda.op.loss.L1Loss('l1'))\ninputs = (torch.rand(4, 32, 32), torch.rand(4, 32, 32))\n"
                          "checkpoints = pybuda.initialize_pipeline(training=True, sample_inputs=inputs, sample_targets=(torch.zeros(4, 32, 32),))\n"
                          "tt0.push_to_inputs(inputs)\ntt0.push_to_target_inputs(torch.zeros(4, 32, 32))\n")
        (checkpoint,) = names["checkpoints"].get()
        module = names["tt0"].modules[0]
        weights = torch.tensor(module.weights.value, requires_grad=True)
        a, b = names["inputs"]
        (a @ weights + b).abs().mean().backward()
        # The device begins with the weights in 16 bits.
        first = torch.from_numpy(module.weights.value).to(torch.bfloat16).to(torch.float32)
        np.testing.assert_allclose(checkpoint["pair.weights"].value() - first, -0.5 * weights.grad, atol=0.05 * float(weights.grad.abs().max()))

    def test_fallback(self):
        names = self.play(6)
        self.assertIs(names["compiler_cfg"].enable_tvm_cpu_fallback, True)
        names["module_with_unsupported_ops"] = torch.nn.Sequential(torch.nn.Embedding(5000, 32), torch.nn.Linear(32, 32))
        self.play(7, before="tt0 = TTDevice('tt0')\n", names=names)
        self.play(8, before="input_tokens = torch.randint(5000, (1, 32))\n", names=names)
        self.near(names["output"][0], names["module_with_unsupported_ops"](names["input_tokens"]))

    def test_results(self):
        before = "from __main__ import Pair as PyBudaTestModule\ninput1, input2 = torch.rand(4, 32, 32), torch.rand(4, 32, 32)\n"
        names = self.play(9, before)
        self.assertEqual(names["output"][0].shape, (4, 32, 32))
        # The block before has taken the output that this one looks at.
        again = before + "output_q = pybuda.run_inference(PyBudaTestModule('run_again'), inputs=[(input1, input2)])\n"
        try:
            import tensorflow
        except ImportError:
            with self.assertRaisesRegex(NotImplementedError, "tensorflow is not installed"):
                self.play(10, again)
            Guide.ran.add(10)
            names = self.play(10, again, replaced=[("tensorflow", "pytorch")])
            self.assertIsInstance(names["output_in_tf"], torch.Tensor)
        else:
            self.assertIsInstance(self.play(10, again)["output_in_tf"], tensorflow.Tensor)

    # `...` stands for what the reader has.
    OWN = [("tt0.place_module(...)", "tt0.place_module(mod)"), ("sample_inputs=(...)", "sample_inputs=(input1, input2)")]
    READER = "from __main__ import Pair\nmod, training = Pair('mod'), False\ninput1, input2 = torch.rand(1, 128, 32), torch.rand(1, 128, 32)\n"

    def told(self, image):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            image.info()
        return said.getvalue()

    def test_images(self):
        names = self.play(11, self.READER, self.OWN)
        openbuda.pybuda_reset()
        self.play(12, names=names)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.play(13, names=names)
        for line in ("Image Info...", "- Device Name: tt0", "- arch: BackendDevice.Wormhole_B0", "- chip_ids: [0]", "- training: False", "- ordered input shapes: [[1, 128, 32], [1, 128, 32]]"):
            self.assertIn(line, said.getvalue())
        self.play(14, names=names)
        (result,) = names["output_q"].get()
        a, b = names["inputs"]
        self.near(result, a @ torch.from_numpy(names["mod"].weights.value) + b)

    def test_images_for_boards(self):
        self.assertIn("n150", str(self.play(15, self.READER, self.OWN)["device_img"]._description["host_plan"]["device"]))
        openbuda.pybuda_reset()
        told = self.told(self.play(16, self.READER, self.OWN)["device_img"])
        self.assertIn("- harvested rows: 2050", told)
        self.assertIn("- grid size: [8, 12]", told)
        openbuda.pybuda_reset()
        pathlib.Path("wormhole_b0_4x6.yaml").write_text("schema: buda.device/1\nbase: n150\nname: mine\n")
        names = self.play(17, self.READER, [*self.OWN, ("<device-descriptor-path>", ".")])
        self.assertEqual(names["device_img"]._description["host_plan"]["device"], "mine")

    def test_formats(self):
        """The settings reach the compilation: its matmul has the formats and the fidelity of the rules."""
        self.play(18)
        self.play(19)
        named, _ = openbuda.config._get_global_compiler_config().options()
        self.assertEqual((named["default_df_override"], named["default_accumulate_df"], named["default_math_fidelity"]), ("Float16_b", "Float16_b", "HiFi3"))
        device = openbuda.TTDevice("tt0", module=Pair("pair"))
        with self.assertWarnsRegex(UserWarning, "PA036"):  # the model has no attention
            image = device.compile_to_image(img_path="p.tti", sample_inputs=(torch.rand(1, 32, 32), torch.rand(1, 32, 32)))
        import tarfile
        with tarfile.open(image.path) as archive:
            netlist = archive.extractfile("unzipped_tti/pair.yaml").read().decode()
        product = re.search(r"^ *product: \{.*?\}$", netlist, re.M | re.S)[0]
        self.assertIn("math_fidelity: HiFi2", product)
        self.assertIn("out_df: Bfp8_b", product)

    def test_intermediates(self):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            names = self.play(20)
        self.assertEqual(told.getvalue().count("Tensor(tensor("), 2)
        self.assertTrue(openbuda.get_intermediates_queue().empty())
        module = openbuda.pipeline.current().devices[0].modules[0]
        self.near(names["gelu_tensor"], torch.nn.functional.gelu(names["matmul1_tensor"].value()), 0.2)
        self.near(names["output_q"].get()[0], names["gelu_tensor"].value() @ torch.from_numpy(module.weights2.value), 0.2)

    def test_several_chips(self):
        names = self.play(21)
        self.assertEqual(names["tt0"].get_device_config()["chip_ids"], [0, 1, 2])
        openbuda.shutdown()
        # The guide lacks an equals sign.
        names = self.play(22, replaced=[("chip_ids[", "chip_ids=[")])
        self.assertEqual(names["tt0"].get_device_config()["chip_ids"], [0, 2, 3])

    def test_merging(self):
        # A declaration without a body.
        declared = self.play(23, replaced=[("overlap_dynamic_queues = True)", "overlap_dynamic_queues = True): pass")])["merge_models"].__code__
        os.mkdir("device_images_to_merge")
        names = self.play(24, replaced=[('target_arch = "wormhole_b0\n', 'target_arch = "wormhole_b0"\n'),  # a quote is missing
                                        ('["bert_large", "deit", "hrnet", "inception", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3", "resnet", "unet", "vit"]', '["first", "second"]'),
                                        ("# Individual Model Generation Code Goes Here\n", "from __main__ import Pair\nfor name in models_to_merge:\n"
                                         "  import openbuda\n  openbuda.compile_to_image(Pair(name), f'{model_binary_loc}/{name}.tti', sample_inputs=(torch.rand(1, 32, 32), torch.rand(1, 32, 32)))\n")])
        self.assertEqual(openbuda.load_image("multi_model_workload.tti").models, ["first", "second"])
        for name in declared.co_varnames:
            self.assertIn(name, openbuda.merge_models.__doc__)
        del names


class Every(unittest.TestCase):
    def test_every_block_was_run(self):
        self.assertEqual(len(BLOCKS), 25)
        self.assertEqual(sorted(Guide.ran), list(range(len(BLOCKS))))


if __name__ == "__main__":
    loader = unittest.TestLoader()
    suite = unittest.TestSuite([loader.loadTestsFromTestCase(Guide), loader.loadTestsFromTestCase(Every)])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
