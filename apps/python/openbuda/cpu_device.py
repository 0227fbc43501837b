# SPDX-License-Identifier: Apache-2.0
"""The host's processor as a device: PyTorch modules run on it as they are."""
import collections

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

    def __init__(self, name, optimizer_f=None, scheduler_f=None, mp_context=None, retain_backward_graph=False, module=None, input_dtypes=None):
        super().__init__(name, mp_context)
        self.optimizer_f, self.scheduler_f, self.retain_backward_graph, self.input_dtypes = optimizer_f, scheduler_f, retain_backward_graph, input_dtypes
        self.optimizer, self.scheduler, self._between = None, None, collections.deque()
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

    def compile_for(self, inputs, compiler_cfg=None, targets=(), microbatch_size=0, microbatch_count=1, verify_cfg=None):
        """Nothing is compiled for the host; gives tensors of the shapes of the results."""
        super().compile_for(bool(targets), microbatch_size, microbatch_count)
        return tuple(self._forward(inputs))

    def _of_tensorflow(self, *args, **kwargs):
        """Debian has no TensorFlow: an error that says so."""
        raise NotImplementedError(f"device '{self.name}': Debian has no TensorFlow, so that no module of it runs on the host")

    compile_for_pt, forward_pt, cpueval_forward_pt = compile_for, Device.forward, Device.cpueval_forward
    compile_for_tf = forward_tf = cpueval_forward_tf = _of_tensorflow

    # ---- training

    def _whole(self):
        """Its modules as one of PyTorch."""
        import torch
        modules = [module.module for module in self.modules]
        return modules[0] if len(modules) == 1 else torch.nn.ModuleList(modules)

    def _start_training(self, inputs, targets):
        """Makes its optimizer; gives results of the shapes that forward gives."""
        if self.optimizer is None and self.optimizer_f is not None:
            self.optimizer = self.optimizer_f(self._whole())
            self.scheduler = self.scheduler_f(self.optimizer) if self.scheduler_f is not None else None
        return self._forward(inputs)

    def _train_forward(self, inputs, targets):
        import torch
        self._need_modules()
        arguments = [t.detach().clone().requires_grad_(True) if t.is_floating_point() else t for t in self._arguments(inputs)]
        values = tuple(arguments)
        for module in self.modules:
            module.module.train()
            values = tensors_of(module.forward(*values))
        loss = None
        if self.loss_module is not None:
            loss = self.loss_module.forward(*values, *(torch_of(t) for t in targets))
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                raise TypeError(f"loss '{self.loss_module.get_name()}' gives {loss!r}; a loss is one number")
        self._between.append((arguments, values, loss))
        return float(loss.detach()) if loss is not None else results_of(t.detach() for t in values)

    def _train_backward(self, gradients, begins):
        import torch
        if not self._between:
            raise RuntimeError(f"device '{self.name}': no microbatch waits for backward; run_forward comes before")
        arguments, values, loss = self._between.popleft()
        if begins:
            self._whole().zero_grad(set_to_none=True)
        if loss is not None:
            loss.backward(retain_graph=self.retain_backward_graph)
        else:
            pairs = [(value, torch_of(gradient)) for value, gradient in zip(values, gradients) if gradient is not None and value.requires_grad]
            torch.autograd.backward([v for v, _ in pairs], [g.to(v.dtype).reshape(v.shape) for v, g in pairs], retain_graph=self.retain_backward_graph)
        return [None if not a.is_floating_point() else torch.zeros_like(a) if a.grad is None else a.grad for a in arguments]

    def optimize(self):
        """A step of its optimizer, if it has one."""
        if self.optimizer is not None:
            self.optimizer.step()

    def get_parameter_gradients(self):
        if not self._trains:
            return super().get_parameter_gradients()
        return {name: Tensor(value.grad.detach().clone()) for name, value in self._whole().named_parameters() if value.grad is not None}

    def shutdown_device(self):
        super().shutdown_device()
        self._between.clear()

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
