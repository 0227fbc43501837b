# SPDX-License-Identifier: Apache-2.0
"""Compile models for tile-grid chips, and run them without hardware.

    image = openbuda.load_image(openbuda.compile_to_image("digits.onnx"))
    with image.open("golden") as session:
        outputs = session.run({"image": images})

The same under the names of PyBuda's API reference, so that its programs run with `import openbuda as pybuda`:

    tt0 = openbuda.TTDevice("tt0", module=openbuda.PyTorchModule("net", net))
    tt0.push_to_inputs(images)
    outputs = openbuda.run_inference().get()

Ctrl-C ends every call within a fraction of a second (PyTorch's exporter, which compile_to_image calls for its modules, in its own time). Sessions and
backends may be shared by threads.
"""
import sys

from . import _built
_built.check()
from . import config, loss, op, optimizers, schedulers
from ._native import Backend, Error, Generator, Session, TTIImage, __version__, detect_available_devices, load_image, merge_models, targets
from .compile import compile_to_image
from .config import (_get_global_compiler_config, add_cpu_fallback_ops, add_schedule_constraint, configure_mixed_precision, insert_buffering_nop, insert_fracture_group, insert_nop,
                     override_dram_queue_placement, override_op_placement, override_op_size, remove_cpu_fallback_ops, set_chip_break, set_configuration_options, set_epoch_break)
from .cpu_device import CPUDevice
from .device import Device
from .formats import BackendDevice, BackendType, DataFormat, DeviceMode, DRAMPlacementAlgorithm, MathFidelity, PerfTraceLevel
from .frameworks import JaxModule, OnnxModule, PyTorchModule, TFGraphDefModule, TFLiteModule, TFModule, TorchScriptModule
from .image import TTDeviceImage
from .module import Module, Parameter, PyBudaModule
from .pybudaglobal import pybuda_reset
from .run import (error_raised, get_intermediates_queue, get_parameter_checkpoint, get_parameter_gradients, initialize_pipeline, run_backward, run_forward, run_inference, run_optimizer,
                  run_schedulers, run_training, shutdown, update_device_parameters)
from .tensor import Tensor
from .tt_device import TTDevice

# Names of PyBuda's op.loss.
op.loss = loss
sys.modules[__name__ + ".op.loss"] = loss


def __getattr__(name):
    """Parts that need PyTorch are imported when they are asked for."""
    if name == "torch_schedulers":
        import importlib
        return importlib.import_module(__name__ + ".torch_schedulers")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = ["Backend", "BackendDevice", "BackendType", "CPUDevice", "DRAMPlacementAlgorithm", "DataFormat", "Device", "DeviceMode", "Error", "Generator", "JaxModule", "MathFidelity", "Module", "OnnxModule",
           "Parameter", "PerfTraceLevel", "PyBudaModule", "PyTorchModule", "Session", "TFGraphDefModule", "TFLiteModule", "TFModule", "TTDevice", "TTDeviceImage", "TTIImage", "Tensor", "TorchScriptModule",
           "__version__", "add_cpu_fallback_ops", "add_schedule_constraint", "compile_to_image", "config", "configure_mixed_precision", "detect_available_devices", "error_raised",
           "get_intermediates_queue", "get_parameter_checkpoint", "get_parameter_gradients", "initialize_pipeline", "insert_buffering_nop", "insert_fracture_group", "insert_nop", "load_image", "loss", "merge_models", "op", "optimizers",
           "override_dram_queue_placement", "override_op_placement", "override_op_size", "pybuda_reset", "remove_cpu_fallback_ops", "run_backward", "run_forward", "run_inference", "run_optimizer", "run_schedulers", "run_training", "schedulers", "set_chip_break",
           "set_configuration_options", "set_epoch_break", "shutdown", "targets", "update_device_parameters"]
