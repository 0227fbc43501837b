# SPDX-License-Identifier: Apache-2.0
"""Optimizers that run on a device, under the names of PyBuda. Each is one of autograd's (docs/tools/autograd.md)."""


class Optimizer:
    """How a device changes its parameters. `parameters` are those that are trained, None: all that require a gradient; device_params says that they are the device's."""

    kind = ""

    def __init__(self, learning_rate, parameters=None, device_params=False):
        if learning_rate < 0:
            raise ValueError(f"a learning rate of {learning_rate} is below 0")
        if device_params and parameters is not None:
            raise ValueError("device_params says that the parameters are those of the device; `parameters` names others")
        self.learning_rate, self.parameters, self.device_params = learning_rate, parameters, device_params
        # What schedules multiply is a factor of this rate.
        self._first_rate = learning_rate or 1.0

    def get_type(self):
        """The name that autograd has for it."""
        return self.kind

    def numbers(self):
        """Its numbers but for the learning rate, by autograd's keys."""
        return {}

    def spec(self):
        """As autograd --optimizer has it."""
        return ",".join([f"{self.kind}:lr={self._first_rate!r}", *(f"{key}={float(value)!r}" for key, value in self.numbers().items())])

    def rate_factor(self):
        """By which the present learning rate is larger than that of the compiled step."""
        return self.learning_rate / self._first_rate

    def set_optimizer_parameters(self, learning_rate=None):
        """Another learning rate, from the next step on."""
        if learning_rate is not None:
            self.learning_rate = float(learning_rate)

    def set_parameters_to_optimize(self, parameters):
        """The parameters that are trained."""
        self.parameters = parameters

    def get_optimizer_params(self, parameter_name=None, is_buda=False):
        """What a step is told from outside, by name."""
        from .tensor import Tensor
        import numpy
        return {"lr": Tensor(numpy.full((1,), self.learning_rate, numpy.float32))}

    def get_pytorch_optimizer(self, parameters, lr=None):
        """The optimizer of PyTorch that computes the same, of parameters by name."""
        self.set_optimizer_parameters(lr)
        return self._of_torch(list(parameters.values()))

    def _of_torch(self, parameters):
        raise NotImplementedError(f"PyTorch has no optimizer {type(self).__name__}")


class SGD(Optimizer):
    """Takes the learning rate times the gradient away."""

    kind = "sgd"

    def _of_torch(self, parameters):
        import torch
        return torch.optim.SGD(parameters, self.learning_rate)


class Adam(Optimizer):
    """Adam; with enable_adam_w weight decay shrinks the parameter by itself."""

    def __init__(self, learning_rate, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.0, bias_correction=True, parameters=None, device_params=False, enable_adam_w=False):
        super().__init__(learning_rate, parameters, device_params)
        self.beta1, self.beta2, self.epsilon, self.weight_decay, self.bias_correction, self.enable_adam_w = beta1, beta2, epsilon, weight_decay, bias_correction, enable_adam_w
        if not bias_correction and weight_decay and not enable_adam_w:
            raise NotImplementedError("Adam without bias correction has no weight decay here; AdamW has")

    @property
    def kind(self):
        # LAMB with a ratio of 1 is Adam without correction, with AdamW's decay.
        return "lamb" if not self.bias_correction else "adamw" if self.enable_adam_w else "adam"

    def numbers(self):
        whole = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, "decay": self.weight_decay}
        return whole if self.bias_correction else {**whole, "least_ratio": 1, "most_ratio": 1}

    def _of_torch(self, parameters):
        import torch
        if not self.bias_correction:
            raise NotImplementedError("PyTorch's Adam corrects its moments")
        kind = torch.optim.AdamW if self.enable_adam_w else torch.optim.Adam
        return kind(parameters, self.learning_rate, (self.beta1, self.beta2), self.epsilon, self.weight_decay)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter by itself."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, bias_correction=True, parameters=None, device_params=False):
        super().__init__(learning_rate, beta1, beta2, eps, weight_decay, bias_correction, parameters, device_params, enable_adam_w=True)


class LAMB(Optimizer):
    """Adam's step, scaled by the ratio of the norms of parameter and step."""

    kind = "lamb"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, correction=False, clip_value=(0.0, 10.0), parameters=None, device_params=False):
        super().__init__(learning_rate, parameters, device_params)
        self.beta1, self.beta2, self.eps, self.weight_decay, self.correction, self.clip_value = beta1, beta2, eps, weight_decay, correction, clip_value

    def numbers(self):
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.eps, "decay": self.weight_decay, "correction": int(self.correction), "least_ratio": self.clip_value[0], "most_ratio": self.clip_value[1]}


class LARS(Optimizer):
    """SGD whose rate is scaled by the ratio of the norms of parameter and gradient."""

    kind = "lars"

    def __init__(self, learning_rate=0.001, momentum=0.9, nesterov=False, dampening=0.0, weight_decay=0.01, lars_coeff=0.001, parameters=None, device_params=False, epsilon=1e-8):
        super().__init__(learning_rate, parameters, device_params)
        if nesterov or dampening:
            raise NotImplementedError("LARS has neither Nesterov's momentum nor dampening here; PyBuda takes both, and computes without them")
        self.momentum, self.nesterov, self.dampening, self.weight_decay, self.lars_coeff, self.epsilon = momentum, nesterov, dampening, weight_decay, lars_coeff, epsilon

    def numbers(self):
        return {"momentum": self.momentum, "decay": self.weight_decay, "coefficient": self.lars_coeff, "epsilon": self.epsilon}
