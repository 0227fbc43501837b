# SPDX-License-Identifier: Apache-2.0
"""Schedules of PyTorch's optimizers, on a CPUDevice."""
import torch


class TorchLearningRateScheduler(torch.optim.lr_scheduler._LRScheduler):
    """A base: a subclass says in get_lr() what the learning rates of all groups are next. Unlike PyTorch's it sets none when it is made."""

    def __init__(self, optimizer):
        self.optimizer, self.last_epoch = optimizer, 0
        self.base_lrs = [group["lr"] for group in optimizer.param_groups]

    def step(self, epoch=None):
        """Sets the next learning rates."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate

    def get_lr(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")
