# SPDX-License-Identifier: Apache-2.0
"""Modules evaluated on the host, with parameters that are given: what PyBuda compares devices with."""
from .frameworks import PyTorchModule
from .module import PyBudaModule
from .tensor import plain


def _torch_of(value):
    import torch
    return torch.as_tensor(plain(value))


def _run(module, values, parameters):
    """The results of one module."""
    if isinstance(module, PyTorchModule):
        from torch.nn.utils.stateless import functional_call
        from .cpu_device import tensors_of
        own = dict(module.module.named_parameters())
        return tensors_of(functional_call(module.module, {name: value for name, value in parameters.items() if name in own}, tuple(values)))
    if isinstance(module, PyBudaModule):
        before = {p.name: p.value for p in module.get_parameters()}
        try:
            module.load_parameter_dict({name: plain(value) for name, value in parameters.items() if name in before})
            return tuple(_torch_of(array) for array in module.evaluate(*values).values())
        finally:
            module.load_parameter_dict(before)
    raise NotImplementedError(f"module '{module.get_name()}' is a {type(module).__name__}: `runner --target cpu` evaluates models of files")


def forward(device, inputs, parameters, save_for_backward, targets):
    """Results, or the loss where the device has one; and what backward() takes."""
    import torch
    if save_for_backward and not all(isinstance(module, PyTorchModule) for module in device.modules):
        raise NotImplementedError(f"device '{device.name}': gradients of modules of openbuda.op are compared by the tool autograd, with --check; here those of PyTorch's modules are")
    given = {name: _torch_of(value).detach().clone().requires_grad_(save_for_backward) for name, value in parameters.items()}
    leaves = [_torch_of(x).detach().clone() for x in inputs]
    for leaf in leaves:
        leaf.requires_grad_(save_for_backward and leaf.is_floating_point())
    with torch.set_grad_enabled(save_for_backward):
        values = tuple(leaves)
        for module in device.modules:
            values = _run(module, values, given)
        if device.loss_module is not None and len(targets):
            values = (device.loss_module.forward(*values, *(_torch_of(t) for t in targets)),)
    return [v.detach() for v in values], (leaves, given, values)


def backward(kept, gradients):
    """Gradients of the inputs in order, and of the parameters by name."""
    import torch
    leaves, parameters, values = kept
    pairs = [(v, _torch_of(g).to(v.dtype).reshape(v.shape)) for v, g in zip(values, gradients) if v.requires_grad]
    torch.autograd.backward([v for v, _ in pairs], [g for _, g in pairs])
    return [leaf.grad for leaf in leaves if leaf.is_floating_point()], {name: p.grad for name, p in parameters.items() if p.grad is not None}
