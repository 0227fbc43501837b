"""Compilation of files and of modules."""
import os
import tempfile

from . import _native
from .frameworks import PyTorchModule, module_of
from .module import PyBudaModule


def compile_to_image(model, output="", device="n150", frontend="", dims=None, values=None, options=None, sample_inputs=None, **more):
    """Compiles a model into an image; gives the image's path.

    `model` is a file, the folder of a SavedModel of TensorFlow, a PyBudaModule, a torch.nn.Module, or an ONNX ModelProto. Modules have inputs with the shapes and types of `sample_inputs`.
    Options are those of the optimizer and the balancer, as keywords or, where a name is no identifier (op.NAME.grid), in the dictionary `options`.
    """
    def compiled(source, path, output=output):
        return _native.compile_to_image(source, path, str(output), device, frontend, dims or {}, values or {}, options or {}, more)

    if isinstance(model, (str, os.PathLike)):
        folder = os.path.normpath(model)
        if not os.path.isdir(folder):
            return compiled(None, str(model))
        return compiled(None, os.path.join(folder, "saved_model.pb"), output or os.path.basename(folder) + ".tti")
    module = model if isinstance(model, PyBudaModule) else module_of(model)
    if module is None:
        raise TypeError(f"a {type(model).__name__} is neither a file nor a module")
    if sample_inputs is None and isinstance(module, (PyBudaModule, PyTorchModule)):
        raise TypeError("a module is compiled for the shapes of its inputs: give sample_inputs")
    with tempfile.TemporaryDirectory() as folder:
        image = compiled(module.trace(*sample_inputs), "") if isinstance(module, PyBudaModule) else compiled(None, module.export(folder, sample_inputs))
    module._device = device
    return image
