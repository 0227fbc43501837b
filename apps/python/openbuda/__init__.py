# SPDX-License-Identifier: Apache-2.0
"""Compile models for tile-grid chips, and run them without hardware.

    image = openbuda.load_image(openbuda.compile_to_image("digits.onnx"))
    with image.open("golden") as session:
        outputs = session.run({"image": images})

Ctrl-C ends every call within a fraction of a second (PyTorch's exporter, which compile_to_image calls for its modules, in its own time). Sessions and
backends may be shared by threads.
"""
from . import _built
_built.check()
from . import op
from ._native import (Backend, Error, Generator, Session, TTIImage, __version__, detect_available_devices, load_image, merge_models, run_inference, targets)
from .compile import compile_to_image
from .frameworks import JaxModule, OnnxModule, PyTorchModule, TFGraphDefModule, TFLiteModule, TFModule, TorchScriptModule
from .module import Module, Parameter, PyBudaModule, Tensor

__all__ = ["Backend", "Error", "Generator", "JaxModule", "Module", "OnnxModule", "Parameter", "PyBudaModule", "PyTorchModule", "Session", "TFGraphDefModule", "TFLiteModule", "TFModule", "TTIImage", "Tensor", "TorchScriptModule", "__version__",
           "compile_to_image", "detect_available_devices", "load_image", "merge_models", "op", "run_inference", "targets"]
