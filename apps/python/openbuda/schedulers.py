# SPDX-License-Identifier: Apache-2.0
"""Schedules of learning rates, under the names of PyBuda."""
from .optimizers import Optimizer


class LearningRateScheduler:
    """A base: a subclass says in get_lr() what the learning rate is next. A training steps it after each epoch."""

    def __init__(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"the optimizer is of type {type(optimizer).__name__}, and none of openbuda.optimizers; those of PyTorch have openbuda.torch_schedulers")
        self.optimizer, self.torch_scheduler = optimizer, None

    def step(self):
        """Sets the next learning rate."""
        self.optimizer.set_optimizer_parameters(learning_rate=self.get_lr())

    def get_lr(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def get_scheduler_params(self, parameter_name=None, is_buda=False):
        """What it changes, by name."""
        return self.optimizer.get_optimizer_params(parameter_name, is_buda)

    def get_pytorch_scheduler(self, optimizer):
        """The schedule of an optimizer of PyTorch that is the same."""
        if self.torch_scheduler is None:
            from .torch_schedulers import TorchLearningRateScheduler
            self.torch_scheduler = TorchLearningRateScheduler(optimizer)
        return self.torch_scheduler
