"""Compile models for tile-grid chips, and run them without hardware."""
from . import op
from ._native import (Backend, Error, Generator, Session, TTIImage, detect_available_devices, load_image, merge_models, run_inference, targets)
from .compile import compile_to_image
from .frameworks import JaxModule, OnnxModule, PyTorchModule, TFGraphDefModule, TFLiteModule, TFModule
from .module import Module, Parameter, PyBudaModule, Tensor

__all__ = ["Backend", "Error", "Generator", "JaxModule", "Module", "OnnxModule", "Parameter", "PyBudaModule", "PyTorchModule", "Session", "TFGraphDefModule", "TFLiteModule", "TFModule", "TTIImage", "Tensor", "compile_to_image", "detect_available_devices",
           "load_image", "merge_models", "op", "run_inference", "targets"]
