# SPDX-License-Identifier: Apache-2.0
"""A module's training step on a device: compiled from the module, a loss and an optimizer; its phases run one by one."""
import pathlib
import re
import tempfile

import numpy

from . import _native
from .compile import compile_to_image
from .frameworks import PyTorchModule, TorchScriptModule, samples
from .loss import spec_of, target_of
from .module import PyBudaModule
from .tensor import plain


def predictions(module, inputs):
    """What the module gives on the host for these inputs."""
    if isinstance(module, PyBudaModule):
        return list(module.evaluate(*inputs).values())
    import torch
    from .cpu_device import tensors_of
    with torch.no_grad():
        return [t.numpy() for t in tensors_of(module.module(*(torch.as_tensor(x) for x in inputs)))]


def names_of_inputs(module, inputs):
    """The names that inputs in order have in what is compiled; empty where its file says them."""
    if isinstance(module, PyBudaModule):
        return list(module._by_name(inputs))
    return list(getattr(module, "input_names", ()))


def _trainable(module, optimizer):
    """Names of the parameters that are trained, and of those that are not."""
    own = module.get_parameters()
    chosen = None if optimizer is None or optimizer.parameters is None else {p if isinstance(p, str) else p.get_name() for p in optimizer.parameters}
    trained = [p.name for p in own if p.requires_grad and (chosen is None or p.name in chosen)]
    return trained, [p.name for p in own if p.name not in trained]


class HostLoss:
    """A loss that the host computes: a module of PyTorch, which gives the gradients of its predictions."""

    def __init__(self, module):
        self.module = module

    def forward(self, predictions, targets):
        """The loss, and what backward() takes."""
        import torch
        leaves = [torch.as_tensor(numpy.array(plain(p))).requires_grad_(True) for p in predictions]
        loss = self.module.forward(*leaves, *(torch.as_tensor(plain(t)) for t in targets))
        return float(loss.detach()), (leaves, loss)

    @staticmethod
    def backward(kept):
        leaves, loss = kept
        loss.backward()
        return [numpy.zeros(tuple(leaf.shape), numpy.float32) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]


class TrainingStep:
    """The step of one module. `loss_module` None: the next device gives the gradients of its outputs."""

    def __init__(self, module, loss_module, optimizer, inputs, targets, image_path, compile_options, microbatch_count):
        if isinstance(module, TorchScriptModule) or not isinstance(module, (PyBudaModule, PyTorchModule)):
            raise NotImplementedError(f"module '{module.get_name()}' is a {type(module).__name__}, whose parameters are those of its file; modules of openbuda.op and of PyTorch are trained here, files by `buda train`")
        self.module, self.optimizer, self._is_wrapped = module, optimizer, False
        arrays = [plain(x) for x in samples(inputs, module.forward if isinstance(module, PyBudaModule) else module.module.forward)]
        loss_graph, self.spec, self.host_loss = self._loss_of(loss_module, arrays, targets)
        trained, frozen = _trainable(module, optimizer)
        if not trained:
            raise ValueError(f"module '{module.get_name()}' has no parameter that requires a gradient")
        with tempfile.TemporaryDirectory(prefix="openbuda-") as folder:
            made, path = (module.trace(*arrays), "") if isinstance(module, PyBudaModule) else (None, module.export(folder, tuple(arrays), training=True))
            self._names = names_of_inputs(module, arrays)
            self._is_wrapped = isinstance(module, PyTorchModule) and module.is_wrapped
            step = str(pathlib.Path(folder, f"{module.get_name()}.train.graph.json"))
            prefix = "module." if self._is_wrapped else ""
            regex = f"^({'|'.join(re.escape(prefix + name) for name in frozen)})$" if frozen else ""
            _native.write_training_step(made, path, step, {}, self.spec, loss_graph, "sgd:lr=0" if optimizer is None else optimizer.spec(), regex)
            self.image = compile_to_image(step, str(image_path), queue_entries=str(max(microbatch_count, 2)), **compile_options)
        self.session, self.sums, self._kept, self._shapes = None, {}, [], _native.load_image(self.image).get_output_shapes()

    def _loss_of(self, loss_module, arrays, targets):
        """A graph, a text, or a loss of the host; of the three one, or none."""
        self.prediction_shape = None
        if loss_module is None:
            return None, "", None
        shapes = [array.shape for array in predictions(self.module, arrays)]
        self.prediction_shape = shapes[0]
        spec = spec_of(loss_module, len(shapes[0])) if len(shapes) == 1 else ""
        if spec:
            return None, spec, None
        if isinstance(loss_module, PyBudaModule):
            if len(shapes) != 1:
                raise ValueError(f"loss '{loss_module.get_name()}' takes one prediction, and module '{self.module.get_name()}' has {len(shapes)} outputs")
            return loss_module.trace(numpy.zeros(shapes[0], numpy.float32), *(plain(t) for t in targets)), "", None
        if not isinstance(loss_module, PyTorchModule):
            raise TypeError(f"a loss is a PyTorchModule or a PyBudaModule, not a {type(loss_module).__name__}")
        return None, "", HostLoss(loss_module)

    def open(self, target, options):
        self.session = _native.TrainingSession.open(self.image, target, **options)

    def close(self):
        if self.session is not None:
            self.session.close()
            self.session = None

    def output_shapes(self):
        """Of the model's outputs, in their order."""
        return [self._shapes[name] for name in self.session.outputs()]

    # ---- phases

    def forward(self, inputs, targets):
        """Outputs, and the loss where there is one."""
        names = self.session.inputs()
        arrays = inputs if isinstance(inputs, dict) else dict(zip(self._names or names, inputs))
        given = {name: plain(arrays[name]) for name in names}
        of_targets = self.session.targets()
        if of_targets and len(of_targets) != len(targets):
            raise ValueError(f"the loss takes {len(of_targets)} targets; {len(targets)} were pushed")
        for name, value in zip(of_targets, targets):
            given[name] = target_of(self.spec, plain(value), self.prediction_shape) if self.spec else plain(value)
        outputs, loss = self.session.forward(given)
        results = [outputs[name] for name in self.session.outputs()]
        kept = None
        if self.host_loss is not None:
            loss, kept = self.host_loss.forward(results, targets)
        self._kept.append(kept)
        return results, loss

    def backward(self, gradients, begins):
        """Takes the gradients of the outputs, if the next device gives them; gives those of the inputs."""
        if not self._kept:
            raise RuntimeError(f"module '{self.module.get_name()}': no microbatch waits for backward; run_forward comes before")
        kept = self._kept.pop(0)
        if self.host_loss is not None:
            gradients = self.host_loss.backward(kept)
        of_outputs = dict(zip(self.session.gradients(), self._float_ones(gradients))) if self.session.gradients() else {}
        of_parameters, of_inputs = self.session.backward(of_outputs, begins)
        for name, gradient in of_parameters.items():
            self.sums[name] = gradient if begins or name not in self.sums else self.sums[name] + gradient
        return [of_inputs.get(name) for name in self._names or self.session.inputs()]

    @staticmethod
    def _float_ones(gradients):
        """Gradients of outputs of floating-point numbers: others have none."""
        return [numpy.asarray(plain(g), numpy.float32) for g in gradients if g is not None]

    def optimize(self):
        """Changes the parameters, if the device has an optimizer."""
        if self.optimizer is not None:
            self.session.optimize(self.optimizer.rate_factor())

    # ---- parameters

    def parameters(self):
        return {self._own(name): value for name, value in self.session.parameters().items()}

    def set_parameters(self, values):
        prefix = {self._own(name): name for name in self.session.parameters()}
        self.session.set_parameters({prefix[name]: numpy.asarray(plain(value), numpy.float32) for name, value in values.items() if name in prefix})

    def gradients(self):
        return {self._own(name): value for name, value in self.sums.items()}

    def states(self):
        """What the optimizer keeps, by parameter and name."""
        names = sorted(self.parameters(), key=len, reverse=True)
        out = {name: {} for name in self.parameters()}
        for state, value in self.session.states().items():
            state = self._own(state)
            owner = next((name for name in names if state.startswith(name + ".")), None)
            if owner:
                out[owner][state[len(owner) + 1:]] = value
        return out

    def _own(self, name):
        """The module's name of a parameter: a module of PyTorch with nested results is exported within another."""
        return name[len("module."):] if self._is_wrapped and name.startswith("module.") else name
