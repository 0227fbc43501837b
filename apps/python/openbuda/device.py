# SPDX-License-Identifier: Apache-2.0
"""Devices: what modules are placed on. They form a pipeline in the order in which they are made (pipeline.py)."""
import collections

import numpy

from .module import Module
from .pipeline import current
from .tensor import Tensor, plain


def _given(tensors):
    """What push_to_inputs was given, as one dictionary or tuple: several tensors, or a tuple, a list, a dictionary, or the only tensor."""
    if len(tensors) == 1 and isinstance(tensors[0], dict):
        return dict(tensors[0])
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        return tuple(tensors[0])
    return tuple(tensors)


class Device:
    """A device with modules, which run one after the other. CPUDevice and TTDevice are the kinds that there are."""

    def __init__(self, name, mp_context=None):
        self.name, self.modules, self.loss_module = name, [], None
        self.microbatch_count = 1
        # Microbatches that wait, and what is done with the results of one.
        self._inputs, self._targets = collections.deque(), collections.deque()
        self._hand_on = lambda results: None
        current().add(self)

    def __repr__(self):
        return f"{type(self).__name__}('{self.name}')"

    # ---- modules

    def place_module(self, module):
        """A module, or several, which run one after the other."""
        modules = list(module) if isinstance(module, (tuple, list)) else [module]
        for given in modules:
            if not isinstance(given, Module):
                raise TypeError(f"device '{self.name}': {given!r} is of type {type(given).__name__} and no module; a torch.nn.Module is placed as PyTorchModule('NAME', module)")
        self.modules += modules
        for given in modules:
            given._device = self
        self._changed()

    def remove_modules(self):
        """Nothing is on the device any more."""
        for module in self.modules:
            module._device = None
        self.modules.clear()
        self._changed()

    def place_loss_module(self, module):
        """The module that computes the loss of the last module's results and the targets; of the last device of a pipeline."""
        self.loss_module = module
        self._changed()

    def remove_loss_module(self):
        """Results are outputs again."""
        self.loss_module = None
        self._changed()

    def _changed(self):
        """What was compiled is not what is placed any more."""

    # ---- inputs

    def push_to_inputs(self, *tensors):
        """One microbatch: in order, as several tensors, a tuple or a list, or by name, as a dictionary."""
        self._inputs.append(_given(tensors))
        current().admit(0)

    def push_to_target_inputs(self, *tensors):
        """The targets of one microbatch, in the order in which the loss takes them."""
        self._targets.append(_given(tensors))
        current().admit(0)

    def get_first_inputs(self, peek=False):
        """The size of a microbatch, and the inputs of the first one that waits."""
        if not self._inputs:
            raise RuntimeError(f"device '{self.name}': no inputs were pushed")
        first = self._inputs[0] if peek else self._inputs.popleft()
        tensors = tuple(first.values()) if isinstance(first, dict) else first
        return (int(plain(tensors[0]).shape[0]) if tensors and plain(tensors[0]).shape else 1), tensors

    def get_first_targets(self):
        """The targets of the first microbatch that waits."""
        if not self._targets:
            raise RuntimeError(f"device '{self.name}': no targets were pushed")
        return self._targets[0]

    # ---- work

    def compile_for(self, training, microbatch_size=0, microbatch_count=1):
        """How many microbatches are on their way between forward and backward."""
        self.microbatch_count = microbatch_count

    def forward(self, loop_count):
        """Takes so many microbatches from those that wait, and hands the results on."""
        for _ in range(loop_count):
            if not self._inputs:
                raise RuntimeError(f"device '{self.name}': no inputs wait; push_to_inputs gives it some")
            self._hand_on(self._forward(self._inputs.popleft()))

    def sync(self):
        """Calls have done their work when they return, so that there is nothing to wait for."""

    def shutdown_device(self):
        """Lets go of what is open, and of inputs that wait."""
        self._inputs.clear()
        self._targets.clear()

    # ---- parameters

    def get_parameter_checkpoint(self):
        """The parameters of its modules, by name."""
        self._need_modules()
        return {p.name: Tensor(numpy.array(p.value)) for module in self.modules for p in _parameters(self, module)}

    def update_parameters(self, parameters):
        """Gives its modules other parameters, by name."""
        own = {p.name: module for module in self.modules for p in _parameters(self, module)}
        for name, value in parameters.items():
            if name not in own:
                raise KeyError(f"device '{self.name}' has no parameter '{name}'; it has {', '.join(own)}")
            own[name].load_parameter_dict({name: plain(value)})
        self._changed()

    def _forward(self, inputs):
        raise NotImplementedError(f"device '{self.name}' is of no kind that computes: CPUDevice and TTDevice are")

    def _need_modules(self):
        if not self.modules:
            raise RuntimeError(f"device '{self.name}' has no module; place_module places one")


def _parameters(device, module):
    if not hasattr(module, "get_parameters"):
        raise NotImplementedError(f"device '{device.name}': the parameters of module '{module.get_name()}' are those of its file; modules of openbuda.op and of PyTorch can change theirs")
    return module.get_parameters()


def _without_commands(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(f"Device.{name}: a device of PyBuda is a process that is sent commands; here a device works in the process that calls it, and has none")
    method.__name__ = name
    method.__doc__ = "Devices are not processes here: an error that says so."
    return method


for _name in ("push_to_command_queue", "get_command_queue_response", "get_next_command", "run_next_command", "run", "dc_transfer_thread", "dc_transfer"):
    setattr(Device, _name, _without_commands(_name))


def results_of(values):
    """What a device gives, as tensors."""
    return [value if isinstance(value, Tensor) else Tensor(value) for value in values]
