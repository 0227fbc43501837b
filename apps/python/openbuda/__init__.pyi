"""Compile models for tile-grid chips, and run them without hardware."""
import os
import queue
from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type, Union, overload

import numpy

from . import config as config, loss as loss, op as op, optimizers as optimizers, schedulers as schedulers
from .config import (add_cpu_fallback_ops as add_cpu_fallback_ops, add_schedule_constraint as add_schedule_constraint, configure_mixed_precision as configure_mixed_precision,
                     insert_buffering_nop as insert_buffering_nop, insert_fracture_group as insert_fracture_group, insert_nop as insert_nop, override_dram_queue_placement as override_dram_queue_placement,
                     override_op_placement as override_op_placement, override_op_size as override_op_size, remove_cpu_fallback_ops as remove_cpu_fallback_ops, set_chip_break as set_chip_break,
                     set_configuration_options as set_configuration_options, set_epoch_break as set_epoch_break)
from .cpu_device import CPUDevice as CPUDevice
from .device import Device as Device
from .formats import (BackendDevice as BackendDevice, BackendType as BackendType, DataFormat as DataFormat, DeviceMode as DeviceMode, DRAMPlacementAlgorithm as DRAMPlacementAlgorithm,
                      MathFidelity as MathFidelity, PerfTraceLevel as PerfTraceLevel)
from .frameworks import JaxModule as JaxModule, OnnxModule as OnnxModule, PyTorchModule as PyTorchModule, TFGraphDefModule as TFGraphDefModule, TFLiteModule as TFLiteModule, TFModule as TFModule, TorchScriptModule as TorchScriptModule
from .image import TTDeviceImage as TTDeviceImage
from .module import Module as Module, Parameter as Parameter, PyBudaModule as PyBudaModule
from .pybudaglobal import pybuda_reset as pybuda_reset
from .run import (error_raised as error_raised, get_intermediates_queue as get_intermediates_queue, get_parameter_checkpoint as get_parameter_checkpoint,
                  get_parameter_gradients as get_parameter_gradients, initialize_pipeline as initialize_pipeline, run_backward as run_backward, run_forward as run_forward, run_optimizer as run_optimizer,
                  run_schedulers as run_schedulers, run_training as run_training, shutdown as shutdown, update_device_parameters as update_device_parameters)
from .tensor import Tensor as Tensor
from .tt_device import TTDevice as TTDevice

__version__: str

Array = Any  # a NumPy array, a tensor of PyTorch, or what numpy.asarray takes
Inputs = Union[Mapping[str, Array], Sequence[Array], Array]
Shape = tuple[int, ...]
Port = tuple[str, str, Shape]

class Error(RuntimeError):
    """What the toolchain refused; .diagnostics has the errors as dictionaries."""
    diagnostics: list[dict[str, Any]]

def compile_to_image(model: Any, output: Union[str, os.PathLike[str]] = "", device: str = "n150", frontend: str = "", dims: Optional[Mapping[str, int]] = None, values: Optional[Mapping[str, Array]] = None,
                     options: Optional[Mapping[str, Any]] = None, sample_inputs: Optional[Inputs] = None, input_shapes: Optional[Mapping[str, Any]] = None,
                     value_ranges: Optional[Mapping[str, Any]] = None, **more: Any) -> str:
    """Compiles a model into an image; gives the image's path."""

def load_image(path: Union[str, os.PathLike[str]]) -> TTIImage:
    """The image of a file."""

def merge_models(model_bin_location: Union[str, os.PathLike[str]], models: Sequence[str], arch: str = "wormhole_b0", merged_model_location: Union[str, os.PathLike[str]] = "merged_model.tti", switch_chans_if_capacity_hit: bool = True,
                 overlap_dynamic_queues: bool = True) -> dict[str, str]:
    """Merges the images MODEL.tti of a folder into one for one device; gives its path and the memory profile."""

@overload
def run_inference(module: TTIImage, inputs: Sequence[Inputs], *, target: str = "golden", device: str = "", **options: Any) -> list[Any]:
    """Runs an image for each of the inputs."""

@overload
def run_inference(module: Optional[Module] = None, inputs: Sequence[Inputs] = [], input_count: int = 1, output_queue: Optional[queue.Queue[Any]] = None, _sequential: bool = False,
                  _perf_trace: bool = False, _verify_cfg: Any = None) -> queue.Queue[Any]:
    """Runs so many inputs through the devices, as soon as they are pushed; gives the queue of the results."""

def detect_available_devices() -> list[str]:
    """The boards that targets can simulate."""

def targets() -> list[str]:
    """The names of the installed targets."""

class TTIImage:
    """A compiled model."""
    @staticmethod
    def load_from_disk(path: Union[str, os.PathLike[str]]) -> TTIImage: ...
    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arch(self) -> str: ...
    @property
    def models(self) -> list[str]: ...
    def get_input_shapes(self) -> dict[str, Shape]: ...
    def get_output_shapes(self) -> dict[str, Shape]: ...
    def open(self, target: str = "golden", device: str = "", **options: Any) -> Session: ...
    def open_backend(self, target: str = "golden", device: str = "", **options: Any) -> Backend: ...

class _Closing:
    def remove_modules(self) -> None: ...
    def close(self) -> None: ...
    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], traceback: Optional[TracebackType]) -> None: ...

class Session(_Closing):
    """Models on a device, called with all of their inputs. Threads may share one: their calls wait for each other."""
    def __enter__(self) -> Session: ...
    def models(self) -> list[str]: ...
    def run(self, inputs: Inputs, model: str = "") -> dict[str, numpy.ndarray]: ...
    def inputs(self, model: str = "") -> list[Port]: ...
    def outputs(self, model: str = "") -> list[Port]: ...

class Backend(_Closing):
    """An image on a device, whose queues are pushed and popped, from any thread, while its programs run."""
    def __enter__(self) -> Backend: ...
    def push(self, input: str, batch: Array, timeout: Optional[float] = None, model: str = "") -> None: ...
    def pop(self, output: str, timeout: Optional[float] = None, model: str = "") -> numpy.ndarray: ...
    def get(self, output: str, timeout: Optional[float] = None, model: str = "") -> numpy.ndarray: ...
    def start(self, turns: int = 1, model: str = "") -> None: ...
    def run(self, turns: int = 1, timeout: Optional[float] = None, model: str = "") -> None: ...
    def wait(self, timeout: Optional[float] = None) -> None: ...
    def cancel(self) -> None: ...
    def queues(self) -> list[str]: ...
    def queue_state(self, queue: str) -> dict[str, int]: ...

class Generator:
    """Generates tokens with models that keep the keys and values of earlier positions."""
    def __init__(self, session: Session, decode: str = "", prefill: str = "", token: str = "token", position: str = "position", logits: str = "logits") -> None: ...
    def prefill(self, tokens: Sequence[int], write_index: int = 0) -> int: ...
    def generate(self, loop_count: int, write_index: int, tokens_per_iter: int, token_id: int) -> list[int]: ...
