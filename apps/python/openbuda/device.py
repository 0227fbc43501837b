# SPDX-License-Identifier: Apache-2.0
"""Devices: what modules are placed on. They form a pipeline in the order in which they are made (pipeline.py)."""
import collections

import numpy

from . import reference
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

    has_image = False  # load_image gave it one
    scheduler = None

    def __init__(self, name, mp_context=None):
        self.name, self.modules, self.loss_module = name, [], None
        self.microbatch_count = 1
        # Microbatches that wait, and gradients of results; what is done with the results of one, and with the gradients of its inputs.
        self._inputs, self._targets, self._gradients = collections.deque(), collections.deque(), collections.deque()
        self._hand_on = self._hand_back = lambda results: None
        self._trains, self._trace, self._evaluated = False, None, None
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
            inputs = self._inputs.popleft()
            self._hand_on(self._train_forward(inputs, self._next_targets()) if self._trains else self._forward(inputs))

    def backward(self, loop_count, zero_grad):
        """Takes so many microbatches that forward has run, with the gradients that the next device gives, and adds up those of the parameters."""
        if not self._trains:
            raise RuntimeError(f"device '{self.name}' was not prepared for training: initialize_pipeline(training=True)")
        for number in range(loop_count):
            if self.loss_module is None and not self._gradients:
                raise RuntimeError(f"device '{self.name}': no gradients of its results wait; the next device gives them")
            incoming = None if self.loss_module is not None else self._gradients.popleft()
            outgoing = self._train_backward(incoming, zero_grad and number == 0)
            if self._trace is not None:
                self._trace.put((incoming, outgoing))
            self._hand_back(outgoing)

    def _next_targets(self):
        if self.loss_module is None:
            return ()
        if not self._targets:
            raise RuntimeError(f"device '{self.name}': no targets wait for its loss; push_to_target_inputs gives it some")
        return self._targets.popleft()

    def set_debug_gradient_trace_queue(self, q):
        """A queue that gets, in each backward, the gradients of the results, None where the device has the loss, and those of the inputs."""
        self._trace = q

    def sync(self):
        """Calls have done their work when they return, so that there is nothing to wait for."""

    def shutdown_device(self):
        """Lets go of what is open, and of inputs that wait."""
        for waiting in (self._inputs, self._targets, self._gradients):
            waiting.clear()

    def generate(self, loop_count, write_index):
        """Tokens are generated by a TTDevice, which keeps keys and values."""
        raise NotImplementedError(f"device '{self.name}' keeps no keys and values of earlier positions; a TTDevice does, with the image of a model that has such states")

    # ---- evaluation on the host

    def cpueval_forward(self, inputs, parameters, save_for_backward, targets=()):
        """The results on the host, with these parameters; of a device with a loss, and targets, that."""
        self._need_modules()
        results, kept = reference.forward(self, inputs, parameters, save_for_backward, targets)
        self._evaluated = kept if save_for_backward else None
        return results

    def cpueval_backward(self, bw_inputs, parameters):
        """After cpueval_forward with save_for_backward: gradients of the inputs in order, and of the parameters by name."""
        if self._evaluated is None:
            raise RuntimeError(f"device '{self.name}': cpueval_forward() comes before, with save_for_backward")
        kept, self._evaluated = self._evaluated, None
        return reference.backward(kept, bw_inputs)

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

    def pop_parameter_checkpoint(self):
        """The same; they stay where they are."""
        return self.get_parameter_checkpoint()

    def get_parameter_gradients(self):
        """What the gradients of its parameters have added up to, by name."""
        raise RuntimeError(f"device '{self.name}' was not prepared for training: initialize_pipeline(training=True)")

    def optimize(self):
        """A step of its optimizer; it has none."""

    def step_schedule(self):
        """The next learning rate, if it has a schedule."""
        if self.scheduler is not None:
            self.scheduler.step()

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
