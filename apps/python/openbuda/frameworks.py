# SPDX-License-Identifier: Apache-2.0
"""Models of other frameworks, as modules."""
import inspect
import pathlib

from .module import _TYPES, Module, Parameter
from .tensor import Tensor, plain


def samples(given, forward):
    """Sample inputs in the order of a function's parameters: of a dictionary, a tuple, a list, or the only one."""
    if not isinstance(given, dict):
        return tuple(given) if isinstance(given, (tuple, list)) else (given,)
    names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for name in given:
        if name not in names:
            raise TypeError(f"the module has no input '{name}'; it has {', '.join(names)}")
    taken = [name for name in names if name in given]
    if taken != names[:len(taken)]:
        raise TypeError(f"sample_inputs lacks '{next(n for n, t in zip(names, taken + [None]) if n != t)}', which comes before others")
    return tuple(given[name] for name in taken)


def named_shapes(arrays):
    """Shape and type of each array, by name."""
    import numpy
    out = {}
    for name, given in arrays.items():
        array = numpy.asarray(plain(given))
        out[name] = tuple(array.shape), {"float64": "F32"}.get(array.dtype.name) or _TYPES[array.dtype.name]
    return out


def _names_of_outputs(value, prefix=""):
    """Names of a result's tensors, as TorchScript's importer has them too: the keys of dictionaries, and output_N."""
    if isinstance(value, dict):
        return [name for key, part in value.items() for name in _names_of_outputs(part, f"{prefix}.{key}" if prefix else str(key))]
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        stem = f"{prefix}_" if prefix else "output_"
        names = [f"{prefix}{'.' if prefix else ''}{field}" for field in fields] if fields else [f"{stem}{i}" for i in range(len(value))]
        return [name for part, own in zip(value, names) for name in _names_of_outputs(part, own)]
    return [] if value is None else [prefix or "output_0"]


def _tensors_of(value):
    """The tensors of a result, in the order of their names."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors_of(part)]
    return [] if value is None else [value]


class PyTorchModule(Module):
    """A torch.nn.Module. On the host it runs as it is; to be compiled it is exported by PyTorch to ONNX, or traced where PyTorch's exporter lacks an operator."""

    is_wrapped = False  # its parameters have the prefix "module." in what was exported last

    def __init__(self, name, module, redirect_forward=True):
        self.name, self.module = name, module
        self.input_names, self._traced_shapes = (), {}
        if redirect_forward:
            self.forward = module.forward

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def backward(self, *args):
        """Tuples of a result of forward() and its gradient: parameters get theirs."""
        import torch
        torch.autograd.backward([result for result, _ in args], [gradient for _, gradient in args])

    def add_parameter(self, name, parameter, prepend_name=False):
        import torch
        value = torch.as_tensor(parameter.value if isinstance(parameter, Parameter) else parameter)
        self.module.register_parameter(f"{self.name}_{name}" if prepend_name else name, torch.nn.Parameter(value, requires_grad=False))

    def set_parameters(self, **kwargs):
        """Values by name, as PyTorch has them; with underscores for dots, too."""
        import torch
        known = dict(self.module.named_parameters())
        known.update({name.replace(".", "_"): value for name, value in known.items()})
        for name, value in kwargs.items():
            if name not in known:
                raise KeyError(f"module '{self.name}' has no parameter '{name}'; it has {', '.join(n for n, _ in self.module.named_parameters())}")
            with torch.no_grad():
                known[name].copy_(torch.as_tensor(value))

    def load_parameter_dict(self, data):
        """Values by name."""
        self.set_parameters(**data)

    def get_parameters(self):
        return [Parameter(value, requires_grad=value.requires_grad, name=name) for name, value in self.module.named_parameters()]

    def export(self, folder, sample_inputs, training=False):
        """Writes ONNX (where PyTorch cannot, TorchScript) for the shapes of these inputs; gives the file. For training parameters keep their names, and
        dropout and normalisations their mode."""
        import torch
        path = pathlib.Path(folder, f"{self.name}.onnx")
        forward = type(self.module).forward
        inputs = tuple(torch.as_tensor(x.value() if isinstance(x, Tensor) else x) for x in samples(sample_inputs, self.module.forward))
        # The outermost forward() of a module may take what it likes: names are those of its first parameters.
        names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD][1:]
        names = names[:len(inputs)] if len(names) >= len(inputs) else [f"input_{i}" for i in range(len(inputs))]
        was_training = self.module.training
        self.module.eval()
        kept = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False} if training else {}
        try:
            with torch.no_grad():
                result = self.module(*inputs)
            outputs = _names_of_outputs(result)
            other = next((type(part).__name__ for part in _tensors_of(result) if not isinstance(part, torch.Tensor)), None)
            if other or not outputs:
                raise TypeError(f"forward() of module '{self.name}' returns {'a value of type ' + other if other else 'no tensor'}; a model returns tensors")
            # The names must differ from those of inputs.
            outputs = [f"{name}.output" if name in names else name for name in outputs]
            is_flat = isinstance(result, torch.Tensor) or (isinstance(result, (tuple, list)) and all(isinstance(x, torch.Tensor) for x in result))
            self.is_wrapped = not is_flat
            model = self.module if is_flat else _flat(self.module)
            model.train(training)
            self.input_names, self._traced_shapes = names, {}
            try:
                torch.onnx.export(model, inputs, str(path), input_names=names, output_names=outputs, opset_version=13, **kept)
            except Exception as refusal:  # of PyTorch's exporter, which has errors of many types
                if training:
                    raise
                path = path.with_suffix(".pt")
                self._trace(names, inputs, outputs, path, refusal)
        finally:
            self.module.train(was_training)
        return str(path)

    def _trace(self, names, inputs, outputs, path, refusal):
        """Writes TorchScript with the same names; where that fails too, the exporter's refusal is the error."""
        import torch
        try:
            with torch.no_grad():
                torch.jit.trace(_named(self.module, names, outputs), inputs, check_trace=False, strict=False).save(str(path))
        except Exception:
            raise refusal from None
        self._traced_shapes = named_shapes(dict(zip(names, inputs)))

    def shapes(self, sample_inputs):
        return self._traced_shapes


def _flat(module):
    """A module whose dictionaries and nested results are one tuple."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *inputs):
            return tuple(_tensors_of(self.module(*inputs)))

    return Flat()


def _named(module, inputs, outputs):
    """A module whose parameters have these names, and whose result is a dictionary with these."""
    import torch

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *given):
            return dict(zip(outputs, _tensors_of(self.module(*given))))

    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", *inputs)]
    Named.forward.__signature__ = inspect.Signature(parameters)  # by which PyTorch names what it traces
    return Named()


class TorchScriptModule(Module):
    """A torch.jit.ScriptModule, as torch.jit.load(), script() and trace() give it. It is compiled as it is, without PyTorch's exporter."""

    def __init__(self, name, module):
        self.name, self.module = name, module

    def names(self):
        """Of the inputs of forward()."""
        return [argument.name for argument in self.module.forward.schema.arguments][1:]

    def export(self, folder, sample_inputs):
        path = pathlib.Path(folder, f"{self.name}.pt")
        self.module.save(str(path))
        return str(path)

    def shapes(self, sample_inputs):
        if isinstance(sample_inputs, dict):
            return named_shapes(sample_inputs)
        given = tuple(sample_inputs) if isinstance(sample_inputs, (tuple, list)) else (sample_inputs,)
        names = self.names()
        if len(given) > len(names):
            raise TypeError(f"the module has {len(names)} inputs, {', '.join(names)}; sample_inputs has {len(given)}")
        return named_shapes(dict(zip(names, given)))


class OnnxModule(Module):
    """A model in ONNX: a file, or a ModelProto."""

    wants_samples = False

    def __init__(self, name, module=None, onnx_path=""):
        self.name, self.module, self.onnx_path = name, module, onnx_path

    def export(self, folder, sample_inputs=None):
        if self.onnx_path:
            return self.onnx_path
        path = pathlib.Path(folder, f"{self.name}.onnx")
        path.write_bytes(self.module.SerializeToString())
        return str(path)


class TFLiteModule(Module):
    """A model in TensorFlow Lite: a file, or its bytes."""

    wants_samples = False

    def __init__(self, name, module):
        self.name, self.module = name, module

    def export(self, folder, sample_inputs=None):
        if not isinstance(self.module, (bytes, bytearray, memoryview)):
            return str(self.module)
        path = pathlib.Path(folder, f"{self.name}.tflite")
        path.write_bytes(self.module)
        return str(path)


class TFGraphDefModule(Module):
    """A frozen graph of TensorFlow: a file, a GraphDef, or its bytes (as text, too)."""

    wants_samples = False

    def __init__(self, name, module):
        self.name, self.module = name, module

    def export(self, folder, sample_inputs=None):
        content = self.module.SerializeToString() if hasattr(self.module, "SerializeToString") else self.module
        if not isinstance(content, (bytes, bytearray, memoryview)):
            return str(content)
        path = pathlib.Path(folder, f"{self.name}.pb")
        path.write_bytes(content)
        return str(path)


class _Unavailable:
    """A framework that Debian does not have, so that there is nothing here with which its models could be exported."""

    framework = export = ""

    def __init__(self, name, module=None, *args, **kwargs):
        raise NotImplementedError(f"module '{name}': Debian has no {self.framework}, so its models are compiled from files: write one with {self.export}, and give "
                                  f"TFLiteModule('{name}', '{name}.tflite') or OnnxModule('{name}', onnx_path='{name}.onnx') to compile_to_image")


class TFModule(_Unavailable):
    framework, export = "TensorFlow", "tf.lite.TFLiteConverter or tf2onnx, or give compile_to_image the folder that tf.saved_model.save wrote"


class JaxModule(_Unavailable):
    framework, export = "JAX", "jax2tf and tf.lite.TFLiteConverter"


def module_of(model):
    """A model of a framework as one of the modules above; None for something else."""
    if isinstance(model, type):
        raise TypeError(f"the model is the class {model.__name__}; a module is an object of it: {model.__name__}(...)")
    if isinstance(model, (PyTorchModule, TorchScriptModule, OnnxModule, TFLiteModule, TFGraphDefModule)):
        return model
    if type(model).__module__.partition(".")[0] in ("tensorflow", "keras"):
        return TFModule(getattr(model, "name", "model"))
    if type(model).__module__.startswith("onnx") and hasattr(model, "SerializeToString"):
        return OnnxModule(model.graph.name or "model", model)
    if type(model).__module__.startswith("torch.jit"):
        # Loaded ones have lost their class, and keep its name.
        name = getattr(model, "original_name", "") or type(model).__name__
        return TorchScriptModule(name.lower(), model)
    if hasattr(model, "named_parameters") and callable(model):
        return PyTorchModule(type(model).__name__.lower(), model, redirect_forward=False)
    return None
