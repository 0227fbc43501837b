"""Compilation of files and of modules."""
from . import _native
from .module import PyBudaModule


def compile_to_image(model, output="", device="n150", frontend="", dims=None, values=None, options=None, sample_inputs=None, **more):
    """Compiles a model into an image; gives the image's path.

    `model` is a file, or a PyBudaModule, whose inputs have the shapes and types of `sample_inputs`. Options are those of the optimizer and the
    balancer, as keywords or, where a name is no identifier (op.NAME.grid), in the dictionary `options`.
    """
    if isinstance(model, PyBudaModule):
        if sample_inputs is None:
            raise TypeError("a module is compiled for the shapes of its inputs: give sample_inputs")
        source, path = model.trace(*sample_inputs), ""
    else:
        source, path = None, str(model)
    return _native.compile_to_image(source, path, str(output), device, frontend, dims or {}, values or {}, options or {}, more)
