# SPDX-License-Identifier: Apache-2.0
"""Compilation of files and of modules."""
import difflib
import os
import tempfile
import warnings
from collections.abc import Mapping

from . import _native
from .frameworks import module_of, named_shapes, samples
from .module import PyBudaModule

_ARGUMENTS = ("model", "output", "device", "frontend", "dims", "values", "options", "sample_inputs", "input_shapes", "value_ranges")


def compile_to_image(model, output="", device="n150", frontend="", dims=None, values=None, options=None, sample_inputs=None, input_shapes=None, value_ranges=None, **more):
    """Compiles a model into an image; gives the image's path.

    `model` is a file, the folder of a SavedModel of TensorFlow, a PyBudaModule, a torch.nn.Module, a torch.jit.ScriptModule, or an ONNX ModelProto.
    `sample_inputs` are arrays or tensors, by place (a tuple, a list, or the only one) or by name (a dictionary): modules are compiled for their shapes
    and types, and so are files, for which they are given by name. `input_shapes` gives shapes only: {"x": (1, 3, 224, 224)}, or with a type
    {"tokens": ((7, 16), "I64")}, as --input-shape does. `dims` and `values` are those of --dim and --value.
    `value_ranges` promises that all elements of inputs are in a range, {"ids": (0, 50256)}, as --value-range does: a run checks it.
    Options are those of the optimizer and the balancer, as keywords or, where a name is no identifier (op.NAME.grid), in the dictionary `options`.
    """
    shapes = dict(input_shapes or {})

    def compiled(source, path, output=str(output)):
        try:
            return _native.compile_to_image(source, path, output, device, frontend, dims or {}, values or {}, shapes, value_ranges or {}, options or {}, more)
        except _native.Error as error:
            for name in more:
                near = difflib.get_close_matches(name, _ARGUMENTS, 1, 0.75)
                if near and error.diagnostics[0]["code"] == "CL002":
                    raise TypeError(f"compile_to_image() has no argument '{name}'; did you mean '{near[0]}'?") from error
            if any("--input-shape" in d["hint"] for d in error.diagnostics):
                error.add_note("in Python: input_shapes={'NAME': (1, 3, 224, 224)}, or sample_inputs={'NAME': array}")
            if any("--dim" in d["hint"] for d in error.diagnostics):
                error.add_note("in Python: dims={'NAME': 1}")
            raise

    if isinstance(model, (str, os.PathLike)):
        if sample_inputs is not None:
            if not isinstance(sample_inputs, dict):
                raise TypeError("the sample inputs of a file are given by name: sample_inputs={'x': x}")
            shapes = {**named_shapes(sample_inputs), **shapes}
        folder = os.path.normpath(model)
        if not os.path.isdir(folder):
            return compiled(None, os.fspath(model))
        return compiled(None, os.path.join(folder, "saved_model.pb"), str(output) or os.path.basename(folder) + ".tti")
    module = model if isinstance(model, PyBudaModule) else module_of(model)
    if module is None:
        if isinstance(model, Mapping):
            raise TypeError("the model is a dictionary: parameters without the code of a module, which takes them by load_state_dict")
        raise TypeError(f"the model is of type {type(model).__name__}, neither a file nor a module")
    if sample_inputs is None and module.wants_samples:
        raise TypeError("a module is compiled for the shapes of its inputs: give sample_inputs")
    with tempfile.TemporaryDirectory(prefix="openbuda-") as folder:
        if isinstance(module, PyBudaModule):
            image = compiled(module.trace(*samples(sample_inputs, module.forward)), "")
        else:
            path = module.export(folder, sample_inputs)
            shapes = {**module.shapes(sample_inputs), **shapes}
            image = compiled(None, path)
            taken = _native.load_image(image).get_input_shapes() if module.input_names else {}
            for name in (name for name in module.input_names if name not in taken):
                warnings.warn(f"input '{name}' of forward() changes no output, and the image has no such input", stacklevel=2)
    module._device = device
    return image
