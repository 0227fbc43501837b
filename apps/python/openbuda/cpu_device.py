# SPDX-License-Identifier: Apache-2.0
"""The host's processor as a device: PyTorch modules run on it as they are."""
from .device import Device, results_of
from .frameworks import PyTorchModule, samples
from .tensor import Tensor


def torch_of(value):
    """A tensor of PyTorch."""
    import torch
    return value.value() if isinstance(value, Tensor) else torch.as_tensor(value)


def tensors_of(value):
    """A module's results as a tuple."""
    if isinstance(value, dict):
        value = tuple(value.values())
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class CPUDevice(Device):
    """The host's processor. Modules are PyTorchModules."""

    has_image = False

    def __init__(self, name, optimizer_f=None, scheduler_f=None, mp_context=None, retain_backward_graph=False, module=None, input_dtypes=None):
        super().__init__(name, mp_context)
        self.optimizer_f, self.scheduler_f, self.retain_backward_graph, self.input_dtypes = optimizer_f, scheduler_f, retain_backward_graph, input_dtypes
        if module is not None:
            self.place_module(module)

    def place_module(self, module):
        modules = list(module) if isinstance(module, (tuple, list)) else [module]
        for given in modules:
            if not isinstance(given, PyTorchModule):
                raise TypeError(f"device '{self.name}': a CPUDevice runs PyTorchModules, and {given!r} is of type {type(given).__name__}; TTDevice runs modules of all kinds")
        super().place_module(modules)

    def _arguments(self, inputs):
        """Inputs as tensors of PyTorch, in the order of the first module's parameters."""
        if isinstance(inputs, dict):
            inputs = samples(inputs, self.modules[0].module.forward)
        tensors = [torch_of(value) for value in inputs]
        return [t if dtype is None else t.to(dtype) for t, dtype in zip(tensors, self.input_dtypes or [None] * len(tensors))] + tensors[len(self.input_dtypes or tensors):]

    def _forward(self, inputs):
        import torch
        self._need_modules()
        with torch.no_grad():
            values = self._arguments(inputs)
            for module in self.modules:
                was_training = module.module.training
                module.module.eval()
                try:
                    values = tensors_of(module.forward(*values))
                finally:
                    module.module.train(was_training)
        return results_of(values)
