# SPDX-License-Identifier: Apache-2.0
"""The calls that run a pipeline of devices, under the names of PyBuda's API reference."""
import os

from . import _native, pipeline
from .pipeline import current
from .tt_device import TTDevice


def _place(module):
    """On the device of an earlier call, the first one without a module, or a new one."""
    devices = current().devices
    placed = next((device for device in devices if module in device.modules), None)
    if placed is None:
        free = next((device for device in devices if isinstance(device, TTDevice) and not device.modules and not device.has_image), None)
        ours = next((device for device in devices if getattr(device, "is_of_run", False)), None)
        placed = free or ours or TTDevice("tt0")
        placed.is_of_run = True
        placed.remove_modules()
        placed.place_module(module)


def _push(inputs):
    device = current().need_devices()[0]
    for given in inputs:
        device.push_to_inputs(given)


def run_inference(module=None, inputs=[], input_count=1, output_queue=None, _sequential=False, _perf_trace=False, _verify_cfg=None, **options):
    """Runs so many inputs through the devices, as soon as they are pushed, 0: as many as come; gives the queue of the results.

    A module is placed on a TTDevice. `inputs` are pushed into the first device: tuples, dictionaries, or single tensors. Each result is the list of a model's outputs.
    Of an image (TTIImage) the results of all inputs are given instead, as a list of arrays; options are `target`, `device`, and those of the target.
    """
    if isinstance(module, _native.TTIImage):
        if isinstance(inputs, (str, dict)) or hasattr(inputs, "shape"):
            raise TypeError("run_inference() of an image takes a list of inputs, each a tuple or a dictionary: one alone is [x]")
        return _native.run_inference(module, list(inputs), **options)
    if isinstance(module, (str, os.PathLike)):
        raise TypeError(f"run_inference() takes an image or a module, and no file: load_image({os.fspath(module)!r}) gives the image")
    if options:
        raise TypeError(f"run_inference() has no argument '{next(iter(options))}' for a module; a TTDevice has what is said of its target")
    if module is not None:
        _place(module)
    pipe = current()
    pipe.prepare(False, output_queue)
    _push(inputs)
    pipe.admit(input_count, forever=input_count == 0)
    return pipe.output_queue


def initialize_pipeline(training, output_queue=None, checkpoint_queue=None, sample_inputs=(), sample_targets=(), microbatch_count=1, d2d_fwd_queues=[], d2d_bwd_queues=[],
                        _sequential=False, _verify_cfg=None, _device_mode=None):
    """Compiles all modules for the sample inputs, or the first ones that were pushed; gives the queue of the outputs, in training that of checkpoints.

    In training the losses of microbatches go into the output queue, if one is given, and microbatch_count is how many run forward before backward.
    """
    pipe = current()
    devices = pipe.prepare(training, output_queue)
    pipe.forward_queues, pipe.backward_queues = list(d2d_fwd_queues), list(d2d_bwd_queues)
    for device in devices:
        device.microbatch_count = microbatch_count
    values = sample_inputs if len(sample_inputs) else devices[0].get_first_inputs(peek=True)[1] if devices[0]._inputs else None
    if values is None:
        raise RuntimeError("modules are compiled for the shapes of their inputs: give sample_inputs, or push inputs into the first device before")
    if training:
        pipe.loss_queue = output_queue
        pipe.checkpoint_queue = checkpoint_queue if checkpoint_queue is not None else pipeline.OutputQueue()
        targets = sample_targets if len(sample_targets) else devices[-1].get_first_targets() if devices[-1]._targets else ()
        for device in devices:
            values = tuple(device._start_training(values if isinstance(values, dict) else tuple(values), targets if device is devices[-1] else ()))
        return pipe.checkpoint_queue
    for device in devices:
        values = tuple(device._forward(values if isinstance(values, dict) else tuple(values)))
    pipe.intermediates_queue = pipeline.OutputQueue()
    return pipe.output_queue


def run_forward(input_count=1, _sequential=False):
    """Runs so many inputs through the devices, as soon as they are pushed; 0: as many as come."""
    pipe = current()
    if not pipe.is_ready:
        raise RuntimeError("initialize_pipeline() was not called, or devices were made after it")
    pipe.admit(input_count, forever=input_count == 0)


def run_backward(input_count=1, zero_grad=False, _sequential=False):
    """Takes so many inputs that run_forward has run through the devices in reverse, and adds up gradients; with zero_grad they begin anew."""
    _prepared_for_training().backward(input_count, zero_grad)


def run_optimizer(checkpoint=False, _sequential=False):
    """A step of the optimizer of each device; with `checkpoint` the parameters go into the checkpoint queue."""
    pipe = _prepared_for_training()
    pipe.optimize()
    if checkpoint:
        pipe.checkpoint()


def run_schedulers(_sequential=False):
    """The next learning rate of each device that has a schedule."""
    for device in _prepared_for_training().need_devices():
        device.step_schedule()


def _prepared_for_training():
    pipe = current()
    if not pipe.is_ready or not pipe.training:
        raise RuntimeError("the pipeline was not prepared for training: initialize_pipeline(training=True), or run_training")
    return pipe


def run_training(epochs=1, steps=1, accumulation_steps=1, microbatch_count=1, checkpoint_queue=None, loss_queue=None, checkpoint_interval=0, _sequential=False, _perf_trace=False, _verify_cfg=None):
    """Trains: in each epoch so many steps, of so many times microbatch_count inputs each; gives the queue of checkpoints, the last of which has the final parameters.

    It goes as far as inputs and targets were pushed, and goes on when further ones are.
    """
    pipe = current()
    devices = pipe.prepare(True)
    pipe.loss_queue = loss_queue
    pipe.checkpoint_queue = checkpoint_queue if checkpoint_queue is not None else pipeline.OutputQueue()
    for device in devices:
        device.microbatch_count = microbatch_count

    def work():
        is_started = False
        for _ in range(epochs):
            for step in range(steps):
                for accumulated in range(accumulation_steps):
                    for _ in range(microbatch_count):
                        while not pipe.has_inputs():
                            yield
                        if not is_started:
                            values, is_started = devices[0]._inputs[0], True
                            for device in devices:
                                values = tuple(device._start_training(values, devices[-1].get_first_targets() if device is devices[-1] else ()))
                        for device in devices:
                            device.forward(1)
                    pipe.backward(microbatch_count, accumulated == 0)
                pipe.optimize()
                if checkpoint_interval and (step + 1) % checkpoint_interval == 0:
                    pipe.checkpoint()
            run_schedulers()
        pipe.checkpoint()

    pipe.begin(work())
    return pipe.checkpoint_queue


def get_parameter_gradients(device=None, _sequential=False):
    """What the gradients of a device's parameters have added up to, or of all devices: a list with a dictionary of tensors by name for each."""
    return [each.get_parameter_gradients() for each in ([device] if device is not None else current().need_devices())]


def get_intermediates_queue():
    """The queue of the results of the ops that set_configuration_options(op_intermediates_to_save=...) named, in that order; a list for each input."""
    return current().intermediates_queue


def get_parameter_checkpoint(device=None, _sequential=False):
    """The parameters of a device, or of all: a list with a dictionary of tensors by name for each."""
    return [each.get_parameter_checkpoint() for each in ([device] if device is not None else current().need_devices())]


def update_device_parameters(device=None, parameters=[], _sequential=False):
    """Gives a device, or all, other parameters: a list with a dictionary by name for each."""
    devices = [device] if device is not None else current().need_devices()
    if len(devices) != len(parameters):
        raise ValueError(f"{len(devices)} device{'s' if len(devices) > 1 else ''} and {len(parameters)} dictionaries of parameters: give one for each")
    for each, values in zip(devices, parameters):
        each.update_parameters(values)


def error_raised():
    """Whether a call has failed, and what was asked of the pipeline is given up."""
    return current().failure is not None


def shutdown():
    """Ends all devices. Programs may begin with other ones."""
    pipeline.renew()
    return True
