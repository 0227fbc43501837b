"""Models of other frameworks, as modules."""
import pathlib

from .module import Module, Parameter


class PyTorchModule(Module):
    """A torch.nn.Module. On the host it runs as it is; to be compiled it is exported to ONNX by PyTorch."""

    def __init__(self, name, module, redirect_forward=True):
        self.name, self.module = name, module
        if redirect_forward:
            self.forward = module.forward

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

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

    def get_parameters(self):
        return [Parameter(value, requires_grad=value.requires_grad, name=name) for name, value in self.module.named_parameters()]

    def export(self, folder, sample_inputs):
        """Writes ONNX for the shapes of these inputs; gives the file."""
        import inspect
        import torch
        path = pathlib.Path(folder, f"{self.name}.onnx")
        inputs = tuple(torch.as_tensor(x) for x in sample_inputs)
        # The outermost forward() of a module may take what it likes: names are those of its first parameters.
        names = [p.name for p in inspect.signature(type(self.module).forward).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD][1:]
        names = names[:len(inputs)] if len(names) >= len(inputs) else [f"input_{i}" for i in range(len(inputs))]
        was_training = self.module.training
        self.module.eval()
        try:
            torch.onnx.export(self.module, inputs, str(path), input_names=names, opset_version=13)
        finally:
            self.module.train(was_training)
        return str(path)


class OnnxModule(Module):
    """A model in ONNX: a file, or a ModelProto."""

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
    if isinstance(model, (PyTorchModule, OnnxModule, TFLiteModule, TFGraphDefModule)):
        return model
    if type(model).__module__.partition(".")[0] in ("tensorflow", "keras"):
        return TFModule(getattr(model, "name", "model"))
    if type(model).__module__.startswith("onnx") and hasattr(model, "SerializeToString"):
        return OnnxModule(model.graph.name or "model", model)
    if hasattr(model, "named_parameters") and callable(model):
        return PyTorchModule(type(model).__name__.lower(), model, redirect_forward=False)
    return None
