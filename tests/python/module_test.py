#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module: module_test.py BUILD_DIR SOURCE_DIR. Exit 77 without NumPy."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

BUILD, SOURCE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
sys.path.insert(0, str(BUILD / "lib/python3/dist-packages"))
try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)
import openbuda

DIGITS = SOURCE / "share/examples/digits"
MODELS = SOURCE / "tests/models"


def arrays(path):
    with np.load(path) as file:
        return dict(file)


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.path = openbuda.compile_to_image(str(DIGITS / "digits.onnx"), str(cls.work / "digits.tti"), device="n150")
        cls.image = openbuda.load_image(cls.path)
        cls.images, cls.expected = arrays(DIGITS / "digits.images.npz")["image"], arrays(DIGITS / "digits.expected.npz")["probabilities"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def refused(self, code, call, *arguments, **options):
        with self.assertRaises(openbuda.Error) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.diagnostics[0]["code"], code)
        self.assertIn(code, str(caught.exception))
        return caught.exception.diagnostics[0]

    def test_paths(self):
        for image in (openbuda.load_image(pathlib.Path(self.path)), openbuda.TTIImage.load_from_disk(pathlib.Path(self.path))):
            self.assertEqual(image.path, self.path)

    def test_inputs_of_run_inference(self):
        x = arrays(DIGITS / "digits.images.npz")["image"][:3]
        self.assertEqual([r[0].shape for r in openbuda.run_inference(self.image, (x, x[:2]))], [(3, 10), (2, 10)])
        with self.assertRaisesRegex(TypeError, r"one alone is \[x\]"):
            openbuda.run_inference(self.image, x)
        with self.assertRaisesRegex(TypeError, "load_image"):
            openbuda.run_inference(pathlib.Path(self.path), [x])

    def test_what_is_no_input(self):
        with self.image.open("golden") as session:
            with self.assertRaisesRegex(TypeError, "an array of object cannot be an input"):
                session.run(None)
        with self.assertRaisesRegex(ValueError, "it is closed"):
            session.run(arrays(DIGITS / "digits.images.npz")["image"])

    def test_image_is_that_of_the_driver(self):
        subprocess.run([BUILD / "bin/buda", "compile", DIGITS / "digits.onnx", "-o", "driver.tti", "-q"], cwd=self.work, check=True)
        self.assertEqual(pathlib.Path(self.path).read_bytes(), (self.work / "driver.tti").read_bytes())

    def test_image_tells_what_it_is(self):
        image = openbuda.TTIImage.load_from_disk(self.path)
        self.assertEqual((image.name, image.arch, image.models), ("digits", "wormhole_b0", ["digits"]))
        self.assertEqual(image.get_input_shapes(), {"image": (64, 64)})
        self.assertEqual(image.get_output_shapes(), {"probabilities": (64, 10)})

    def test_boards_and_targets_are_told(self):
        self.assertIn("n150", openbuda.detect_available_devices())
        self.assertIn("golden", openbuda.targets())

    def test_session_computes(self):
        session = self.image.open("golden", mode="fp32")
        self.assertEqual(session.inputs(), [("image", "F32", (64, 64))])
        outputs = session.run({"image": self.images})
        np.testing.assert_allclose(outputs["probabilities"], self.expected, rtol=1e-4, atol=1e-5)
        self.assertEqual(outputs["probabilities"].dtype, np.float32)
        # Other types, orders in memory and strides are taken as NumPy has them.
        again = session.run({"image": np.asfortranarray(self.images.astype(np.float64))})
        np.testing.assert_array_equal(again["probabilities"], outputs["probabilities"])
        every_other = session.run({"image": self.images[::2]})
        np.testing.assert_allclose(every_other["probabilities"], outputs["probabilities"][::2], rtol=1e-5)

    def test_rows_that_depend_on_each_other_are_as_many_as_compiled(self):
        model = self.work / "centre.graph.json"
        model.write_text("""{"schema": "buda.graph/1", "name": "centre", "level": "tensor", "nodes": [
            {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [3, 5]}]},
            {"name": "mean", "op": "reduce_avg", "inputs": ["x"], "attrs": {"dims": [0]}},
            {"name": "y", "op": "subtract", "inputs": ["x", "mean"]}, {"name": "out", "op": "output", "inputs": ["y"]}]}""")
        session = openbuda.load_image(openbuda.compile_to_image(str(model), str(self.work / "centre.tti"))).open("golden", mode="fp32")
        three = np.arange(15, dtype=np.float32).reshape(3, 5)
        np.testing.assert_allclose(session.run(three)["out"], three - three.mean(0), atol=1e-5)
        for rows in (2, 6):
            self.assertIn("'mean'", self.refused("RT027", session.run, np.zeros((rows, 5), np.float32))["message"])

    def test_run_inference_takes_tuples_and_dictionaries(self):
        batches = [self.images[:64], self.images[64:128]]
        by_place = openbuda.run_inference(self.image, [(b,) for b in batches], mode="fp32")
        by_name = openbuda.run_inference(self.image, [{"image": b} for b in batches], mode="fp32")
        for i in range(2):
            np.testing.assert_array_equal(by_place[i][0], by_name[i]["probabilities"])
            np.testing.assert_allclose(by_place[i][0], self.expected[64 * i:64 * i + 64], rtol=1e-4, atol=1e-5)
        with self.assertRaises(ValueError):
            openbuda.run_inference(self.image, [(batches[0], batches[0])])

    def test_frameworks_that_are_not_there_are_refused(self):
        for module in (openbuda.TFModule, openbuda.JaxModule):
            with self.assertRaisesRegex(NotImplementedError, "TFLiteConverter.*OnnxModule"):
                module("net", None)

    def test_models_in_tensorflow_lite_are_read_as_such(self):
        # No table of the format lies at the offset that the first bytes name.
        with tempfile.TemporaryDirectory() as folder:
            self.refused("TF002", openbuda.compile_to_image, openbuda.TFLiteModule("net", b"\x1c\0\0\0TFL3" + bytes(64)), f"{folder}/net.tti")

    def test_graphs_of_tensorflow_are_read_as_such(self):
        text = b'''node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: 1 } dim { size: 32 } } } } }
                  node { name: "y" op: "Relu" input: "x" }'''
        with tempfile.TemporaryDirectory() as folder:
            path = openbuda.compile_to_image(openbuda.TFGraphDefModule("net", text), f"{folder}/net.tti")
            x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 32)
            np.testing.assert_allclose(openbuda.run_inference(openbuda.load_image(path), [(x,)], mode="fp32")[0][0], np.maximum(x, 0))
            self.refused("GF001", openbuda.compile_to_image, openbuda.TFGraphDefModule("net", b"node { name: "), f"{folder}/net.tti")

    def test_segments_of_the_host_run_with_the_model(self):
        class Middle(openbuda.PyBudaModule):
            def __init__(self):
                super().__init__("middle")
                self.v, self.w = (openbuda.Parameter(np.random.default_rng(i).standard_normal((16, 16)).astype(np.float32)) for i in (1, 2))

            def forward(self, x):
                return openbuda.op.Matmul("out", openbuda.op.Sigmoid("bend", openbuda.op.Matmul("in", x, self.v)), self.w)

        middle, x = Middle(), np.random.default_rng(3).standard_normal((4, 8, 16)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = openbuda.compile_to_image(middle, f"{folder}/middle.tti", sample_inputs=(x[0],), cpu_fallback_ops="sigmoid")
            backend = openbuda.load_image(path).open_backend("golden", mode="fp32")
        for batch in x[:2]:
            backend.push("x", batch)
        backend.run(2, timeout=20)
        for batch in x[:2]:
            np.testing.assert_allclose(backend.pop("middle.output", timeout=20), 1 / (1 + np.exp(-batch @ middle.v.value)) @ middle.w.value, rtol=1e-3, atol=1e-3)
        backend.remove_modules()
        with self.assertRaisesRegex(ValueError, "removed"):
            backend.push("x", x[0])

    def test_ranges_are_promised_and_checked(self):
        text = """{"schema": "buda.graph/1", "name": "ids", "level": "tensor", "nodes": [
            {"name": "ids", "op": "input", "types": [{"dtype": "I64", "shape": [5]}]},
            {"name": "stop", "op": "constant", "value": "stop"},
            {"name": "same", "op": "equal", "inputs": ["ids", "stop"]},
            {"name": "out", "op": "output", "inputs": ["same"]}],
            "tensors": [{"name": "stop", "dtype": "I64", "shape": [], "values": [50256]}]}"""
        model, path = self.work / "ids.graph.json", str(self.work / "ids.tti")
        model.write_text(text)
        openbuda.compile_to_image(str(model), path, value_ranges={"ids": (0, 50256)})
        subprocess.run([BUILD / "bin/buda", "compile", model, "-o", "ids.driver.tti", "--value-range", "ids=0:50256", "-q"], cwd=self.work, check=True)
        self.assertEqual(pathlib.Path(path).read_bytes(), (self.work / "ids.driver.tti").read_bytes())
        backend = openbuda.load_image(path).open_backend("golden")
        backend.push("ids", np.array([50256, 50255, 0, 50256, 48208]))
        self.assertIn("the element 60000 at [3]", self.refused("RT026", backend.push, "ids", np.array([0, 1, 2, 60000, 3]))["message"])
        backend.run(1, timeout=20)
        np.testing.assert_array_equal(backend.pop("out", timeout=20), [True, False, False, True, False])
        self.assertEqual(self.refused("IP003", openbuda.compile_to_image, str(model), path, value_ranges={"idz": (0, 5)})["hint"], "did you mean 'ids'?")
        self.refused("IP003", openbuda.compile_to_image, str(model), path, value_ranges={"ids": (5, 4)})

    def test_backend_is_pushed_and_popped_by_threads(self):
        backend = self.image.open_backend("golden", mode="fp32")
        backend.start(5)

        def push():
            for i in range(5):
                backend.push("image", self.images[64 * i:64 * i + 64], timeout=20)

        thread = threading.Thread(target=push)
        thread.start()
        for i in range(5):
            np.testing.assert_allclose(backend.get("probabilities", timeout=20), self.expected[64 * i:64 * i + 64], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(backend.pop("probabilities", timeout=20), self.expected[64 * i:64 * i + 64], rtol=1e-4, atol=1e-5)
        thread.join()
        backend.wait(20)
        self.refused("RT051", backend.pop, "probabilities", timeout=0.01)
        self.assertEqual(backend.queue_state("probabilities")["waiting"], 0)

    def test_merged_models_run_on_one_device(self):
        inputs, expected = arrays(MODELS / "mlp.inputs.npz"), arrays(MODELS / "mlp.outputs.npz")
        openbuda.compile_to_image(str(MODELS / "mlp.onnx"), str(self.work / "mlp.tti"))
        merged = openbuda.merge_models(str(self.work), ["digits", "mlp"], merged_model_location=str(self.work / "both.tti"))
        self.assertIn("DRAM", merged["memory_profile"])
        session = openbuda.load_image(merged["path"]).open(mode="fp32")
        self.assertEqual(session.models(), ["digits", "mlp"])
        got = session.run(inputs, model="mlp")
        for name, array in expected.items():
            np.testing.assert_allclose(got[name], array, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(session.run({"image": self.images}, model="digits")["probabilities"], self.expected, rtol=1e-4, atol=1e-5)

    def test_options_have_all_of_their_names(self):
        for options in ({"default_df_override": "Bfp8_b"}, {"default_df": "Bfp8_b"}, {"options": {"default-df": "Bfp8_b"}}):
            path = openbuda.compile_to_image(str(DIGITS / "digits.onnx"), str(self.work / "small.tti"), **options)
            self.assertNotEqual(pathlib.Path(path).read_bytes(), pathlib.Path(self.path).read_bytes())
        openbuda.compile_to_image(str(DIGITS / "digits.onnx"), str(self.work / "small.tti"), microbatch=4, enable_auto_fusing=False,
                                  options={"op._probabilities_Softmax.exp.grid": [1, 1], "effort": 2})

    def test_what_is_wrong_is_told(self):
        self.refused("IO001", openbuda.load_image, str(self.work / "none.tti"))
        found = self.refused("CL002", openbuda.compile_to_image, str(DIGITS / "digits.onnx"), default_dff="Bfp8_b")
        self.assertIn("default-df", found["hint"])
        self.refused("PL001", self.image.open, "goldn")
        self.refused("RT020", self.image.open().run, {"picture": self.images})
        (self.work / "bad.onnx").write_bytes(b"nothing")
        self.assertEqual(self.refused("ON001", openbuda.compile_to_image, str(self.work / "bad.onnx"))["fault"], "input")
        with self.assertRaises(TypeError):
            self.image.open().run({"image": np.array(["a"])})
        self.assertFalse((self.work / "bad.tti").exists())

    def test_generator_wants_a_model_that_generates(self):
        self.refused("RT070", openbuda.Generator, self.image.open())

    def test_warnings_are_warnings_of_python(self):
        (self.work / "nan.graph.json").write_text("""{"schema": "buda.graph/1", "name": "nan", "level": "tensor", "nodes": [
            {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [4, 4]}]}, {"name": "r", "op": "relu", "inputs": ["x"]},
            {"name": "d", "op": "is_nan", "inputs": ["r"]}, {"name": "out", "op": "output", "inputs": ["d"]}]}""")
        with self.assertWarnsRegex(UserWarning, "PA060"):
            openbuda.compile_to_image(str(self.work / "nan.graph.json"), str(self.work / "w.tti"))


class Page(unittest.TestCase):
    def test_what_the_tutorial_shows_works(self):
        text = (SOURCE / "docs/tutorial/python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        if importlib.util.find_spec("torch") is None:
            blocks = [block for block in blocks if "torch" not in block]
        self.assertGreater(len(blocks), 3)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(DIGITS, f"{folder}/digits")
            os.chdir(f"{folder}/digits")
            try:
                names = {}
                for block in blocks:
                    exec(compile(block.replace("/tmp/", folder + "/"), "python.md", "exec"), names)
            finally:
                os.chdir(before)


class Generation(unittest.TestCase):
    def test_tokens_are_those_of_pytorch(self):
        export = SOURCE / "share/examples/generate/export.py"
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            if subprocess.run([sys.executable, "-c", "import torch, onnx"], capture_output=True).returncode != 0:
                self.skipTest("no PyTorch")
            subprocess.run([sys.executable, export, "gpt"], cwd=work, check=True, capture_output=True)
            for model in ("decode", "prefill"):
                openbuda.compile_to_image(str(work / f"gpt/{model}.onnx"), str(work / f"{model}.tti"), enable_link_past_cache_ios=True)
            openbuda.merge_models(str(work), ["decode", "prefill"], merged_model_location=str(work / "gpt.tti"))
            session = openbuda.load_image(str(work / "gpt.tti")).open("golden", mode="fp32")
            prompt, expected = ([int(word) for word in line.split()] for line in (work / "gpt/tokens.txt").read_text().splitlines()[:2])
            generator = openbuda.Generator(session, decode="decode", prefill="prefill")
            tokens = [generator.prefill(prompt)]
            tokens += generator.generate(len(expected) - 1, len(prompt), 1, tokens[0])
            self.assertEqual(tokens, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
