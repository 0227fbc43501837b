#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch and their names, what the module says of itself: frameworks_test.py BUILD_DIR SOURCE_DIR. Exit 77 without NumPy or PyTorch."""
import collections
import inspect
import pathlib
import sys
import tempfile
import unittest
import warnings

BUILD, SOURCE = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
sys.path.insert(0, str(BUILD / "lib/python3/dist-packages"))
try:
    import numpy as np
    import torch
except ImportError:
    print("no NumPy or PyTorch")
    sys.exit(77)
import openbuda
from openbuda import _built


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Two(torch.nn.Module):
    def forward(self, x, y):
        return x + y, x * y


class Names(torch.nn.Module):
    def forward(self, x):
        return {"sum": x + 1, "more": (x * 2, {"deep": x * 3}), "nothing": None}


Fields = collections.namedtuple("Fields", "left right")


class Tuples(torch.nn.Module):
    def forward(self, x):
        return Fields(x + 1, x * 2)


def exported(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return openbuda.compile_to_image(*arguments, **options)


class Frameworks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.folder.name)
        torch.manual_seed(1)

    def tearDown(self):
        self.folder.cleanup()

    def compiled(self, model, samples, **options):
        return openbuda.load_image(exported(model, self.work / "m.tti", sample_inputs=samples, **options))

    def computes(self, image, inputs, expected, atol=1e-4):
        with image.open("golden", mode="fp32") as session:
            outputs = session.run(inputs)
        self.assertEqual(list(outputs), list(expected))
        for name, want in expected.items():
            np.testing.assert_allclose(outputs[name], np.asarray(want, np.float32), rtol=1e-4, atol=atol)

    def test_names_of_outputs(self):
        x, y, net = torch.randn(4, 8), torch.randn(4, 8), Net()
        self.computes(self.compiled(net, x), x, {"output_0": net(x).detach()})
        self.computes(self.compiled(Two(), (x, y)), (x, y), {"output_0": x + y, "output_1": x * y})
        self.computes(self.compiled(Names(), x), {"x": x}, {"sum": x + 1, "more_0": x * 2, "more_1.deep": x * 3})
        self.computes(self.compiled(Tuples(), x), x, {"left": x + 1, "right": x * 2})

    def test_results_that_are_no_tensors_are_refused(self):
        class Gives(torch.nn.Module):
            def __init__(self, what):
                super().__init__()
                self.what = what

            def forward(self, x):
                return self.what(x)

        for what, says in ((lambda x: None, "returns no tensor"), (lambda x: {"a": x, "b": 3}, "returns a value of type int")):
            with self.assertRaisesRegex(TypeError, says):
                openbuda.compile_to_image(Gives(what), str(self.work / "none.tti"), sample_inputs=(torch.zeros(2, 3),))
        self.assertFalse((self.work / "none.tti").exists())

    def test_inputs_without_an_effect_are_told(self):
        class Half(torch.nn.Module):
            def forward(self, x, spare):
                return x + 1

        x = torch.randn(2, 3)
        with self.assertWarnsRegex(UserWarning, "input 'spare' of forward"):
            image = openbuda.load_image(openbuda.compile_to_image(Half(), self.work / "m.tti", sample_inputs=(x, x)))
        self.computes(image, {"x": x}, {"output_0": x + 1})

    def test_what_pytorchs_exporter_lacks_is_traced(self):
        class Lacks(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x, y):
                return {"x": self.attention(x, x, x)[0], "rest": (torch.tril(y), [x + y.sum(), None])}

        x, y, net = torch.randn(2, 5, 8), torch.randn(4, 4), Lacks().eval()
        with torch.no_grad():  # the fast path of attention, which has no ONNX
            want, (lower, (moved, _)) = net(x, y).values()
            image = self.compiled(net, (x, y))
        self.assertEqual(image.get_input_shapes(), {"x": (2, 5, 8), "y": (4, 4)})
        self.computes(image, (x, y), {"x.output": want, "rest_0": lower, "rest_1_0": moved})

    def test_names_of_outputs_are_those_of_torchscript(self):
        x = torch.randn(2, 3)
        y = torch.randn(2, 3)
        traced = torch.jit.trace(Two(), (x, y))
        self.assertEqual(self.compiled(Two(), (x, y)).get_output_shapes(), self.compiled(traced, (x, y)).get_output_shapes())

    def test_torchscript_modules(self):
        x, net = torch.randn(4, 8), Net().eval()
        want = {"output_0": net(x).detach()}
        torch.jit.script(net).save(str(self.work / "net.pt"))
        for module in (torch.jit.script(net), torch.jit.trace(net, x), torch.jit.load(str(self.work / "net.pt"))):
            self.computes(self.compiled(module, x), x, want)
            self.computes(self.compiled(module, {"x": x}), x, want)

    def test_torchscript_files_with_shapes(self):
        x, net = torch.randn(4, 8), Net().eval()
        path = self.work / "net.pt"
        torch.jit.script(net).save(str(path))
        for options in ({"input_shapes": {"x": (4, 8)}}, {"input_shapes": {"x": ((4, 8), "F32")}}, {"sample_inputs": {"x": x}}):
            self.computes(openbuda.load_image(openbuda.compile_to_image(path, self.work / "m.tti", **options)), x, {"output_0": net(x).detach()})
        with self.assertRaises(openbuda.Error) as caught:
            openbuda.compile_to_image(path, self.work / "m.tti")
        self.assertIn("input_shapes=", "".join(caught.exception.__notes__))
        with self.assertRaisesRegex(TypeError, "by name"):
            openbuda.compile_to_image(path, sample_inputs=(x,))
        with self.assertRaisesRegex(ValueError, "no type 'float32'"):
            openbuda.compile_to_image(path, input_shapes={"x": ((4, 8), "float32")})
        with self.assertRaisesRegex(TypeError, "tuple of sizes"):
            openbuda.compile_to_image(path, input_shapes={"x": "4,8"})

    def test_bfloat16(self):
        x, net = torch.randn(4, 8), Net().bfloat16().eval()
        image = self.compiled(net, x.bfloat16())
        self.computes(image, x.bfloat16(), {"output_0": net(x.bfloat16()).detach().float()}, atol=0.05)

    def test_samples_by_name(self):
        x, y = torch.randn(2, 3), torch.randn(2, 3)
        image = self.compiled(Two(), {"y": y, "x": x})
        self.assertEqual(image.get_input_shapes(), {"x": (2, 3), "y": (2, 3)})
        with self.assertRaisesRegex(TypeError, "no input 'z'; it has x, y"):
            self.compiled(Two(), {"z": x})
        with self.assertRaisesRegex(TypeError, "lacks 'x'"):
            self.compiled(Two(), {"y": y})


class Surface(unittest.TestCase):
    """What the module says of itself."""

    def test_version(self):
        self.assertRegex(openbuda.__version__, r"^\d+\.\d+\.\d+$")

    def test_everything_has_a_docstring(self):
        for name in openbuda.__all__:
            thing = getattr(openbuda, name)
            self.assertTrue(inspect.getdoc(thing), name)
            if inspect.isclass(thing) and thing.__module__ == "openbuda._native":
                for member in dir(thing):
                    if not member.startswith("_"):
                        self.assertTrue(inspect.getdoc(getattr(thing, member)), f"{name}.{member}")
        for name, function in inspect.getmembers(openbuda.op, inspect.isfunction):
            if not name.startswith("_") and name != "current_trace":
                self.assertTrue(inspect.getdoc(function), f"op.{name}")

    def test_stubs_have_what_the_module_has(self):
        import ast
        folder = SOURCE / "apps/python/openbuda"
        declared = {}
        for node in ast.parse((folder / "__init__.pyi").read_text()).body:
            if isinstance(node, ast.ClassDef):
                declared[node.name] = {part.name for part in node.body if isinstance(part, ast.FunctionDef)} | {base.id for base in node.bases if isinstance(base, ast.Name)}
            elif isinstance(node, ast.FunctionDef):
                declared[node.name] = [a.arg for a in node.args.args]
            elif isinstance(node, ast.ImportFrom):
                declared.update({alias.asname: None for alias in node.names if alias.asname})
            elif isinstance(node, ast.AnnAssign):
                declared[node.target.id] = None
        self.assertEqual(set(openbuda.__all__) - set(declared), set())
        for name in ("Session", "Backend", "Generator", "TTIImage"):
            own = {member for member in dir(getattr(openbuda, name)) if not member.startswith("_")}
            self.assertEqual(own - declared[name] - declared["_Closing"], set(), name)
            self.assertEqual({d for d in declared[name] if not d.startswith("_")} - own, set(), name)
        self.assertEqual(declared["compile_to_image"], [p.name for p in inspect.signature(openbuda.compile_to_image).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD])

    def test_stubs_of_ops_have_their_arguments(self):
        import ast
        body = ast.parse((SOURCE / "apps/python/openbuda/op.pyi").read_text()).body
        declared = {f.name: [a.arg for a in (*f.args.args, *filter(None, [f.args.vararg]), *f.args.kwonlyargs)] for f in body if isinstance(f, ast.FunctionDef)}
        real = {name: list(inspect.signature(f).parameters) for name, f in inspect.getmembers(openbuda.op, inspect.isfunction) if not name.startswith("_") and name != "current_trace"}
        self.assertEqual(declared, real)

    def test_another_python_is_told_which_one_it_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "_native.cpython-39-x86_64-linux-gnu.so").touch()
            with self.assertRaisesRegex(ImportError, r"built for CPython 3\.9, and this is cpython 3\..*run it with python3\.9"):
                _built.check(pathlib.Path(folder))
            pathlib.Path(folder, "_native.cpython-39-x86_64-linux-gnu.so").unlink()
            with self.assertRaisesRegex(ImportError, "not complete"):
                _built.check(pathlib.Path(folder))

    def test_arguments_that_are_mistyped(self):
        with self.assertRaisesRegex(TypeError, "no argument 'devcie'; did you mean 'device'"):
            openbuda.compile_to_image(str(SOURCE / "share/examples/digits/digits.onnx"), devcie="n150")

    def test_inputs_by_place_closing_and_text(self):
        with tempfile.TemporaryDirectory() as folder:
            image = openbuda.load_image(openbuda.compile_to_image(str(SOURCE / "share/examples/digits/digits.onnx"), f"{folder}/digits.tti"))
            self.assertEqual(repr(image), f"<openbuda.TTIImage '{folder}/digits.tti' for wormhole_b0: digits>")
            x = np.load(SOURCE / "share/examples/digits/digits.images.npz")["image"]
            with image.open() as session:
                self.assertEqual(repr(session), "<openbuda.Session of digits on n150>")
                want = session.run({"image": x})["probabilities"]
                for given in (x, (x,), [x], torch.as_tensor(x)):
                    np.testing.assert_array_equal(session.run(given)["probabilities"], want)
                with self.assertRaisesRegex(ValueError, "the model has 1 input, image; 2 arrays were given"):
                    session.run([x, x])
            self.assertEqual(repr(session), "<openbuda.Session, closed>")
            session.close()
            with self.assertRaisesRegex(ValueError, "removed"):
                session.run(x)
            with image.open_backend() as backend:
                self.assertIn("image", backend.queues())
            with self.assertRaisesRegex(ValueError, "removed"):
                backend.queues()

    def test_a_model_is_no_image(self):
        with self.assertRaisesRegex(openbuda.Error, r"it is a model; an image is made of it by openbuda\.compile_to_image"):
            openbuda.load_image(str(SOURCE / "share/examples/digits/digits.onnx"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
