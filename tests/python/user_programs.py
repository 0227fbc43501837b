# SPDX-License-Identifier: Apache-2.0
"""What tests of PyBuda's user programs have in common: modules, and how results are compared. Imported after BUILD_DIR is the first argument; exit 77 without NumPy or PyTorch."""
import pathlib
import queue
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "lib/python3/dist-packages"))
try:
    import numpy as np
    import torch
except ImportError:
    print("no NumPy or no PyTorch")
    sys.exit(77)
import openbuda as pybuda
from openbuda.tensor import plain


class Two(pybuda.PyBudaModule):
    """Two inputs, two outputs."""

    def __init__(self, name):
        super().__init__(name)
        self.weights1 = pybuda.Parameter(torch.rand(32, 32), requires_grad=True)
        self.weights2 = pybuda.Parameter(torch.rand(32, 32), requires_grad=True)

    def forward(self, act1, act2):
        m1 = pybuda.op.Matmul("matmul1", act1, self.weights1)
        m2 = pybuda.op.Matmul("matmul2", act2, self.weights2)
        return m1 + m2, m2

    def expected(self, act1, act2):
        m1, m2 = act1 @ torch.from_numpy(self.weights1.value), act2 @ torch.from_numpy(self.weights2.value)
        return m1 + m2, m2


class TorchTwo(torch.nn.Module):
    """The same in PyTorch."""

    def __init__(self):
        super().__init__()
        self.weights1 = torch.nn.Parameter(torch.rand(32, 32))
        self.weights2 = torch.nn.Parameter(torch.rand(32, 32))

    def forward(self, act1, act2):
        m1, m2 = torch.matmul(act1, self.weights1), torch.matmul(act2, self.weights2)
        return m1 + m2, m2


class TorchTwoIn(torch.nn.Module):
    """Two inputs, one output."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.rand(32, 32) / 16)

    def forward(self, act1, act2):
        return torch.matmul(act1, self.weights) + act2


def pair():
    return torch.rand(4, 32, 32), torch.rand(4, 32, 32)


class Programs(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        pybuda.pybuda_reset()

    def near(self, got, expected):
        self.assertEqual(len(got), len(expected))
        for tensor, other in zip(got, expected):
            np.testing.assert_allclose(np.asarray(plain(tensor), np.float32), other.detach().numpy(), rtol=0.02, atol=0.1)

    def nothing_more(self, results):
        with self.assertRaises(queue.Empty):
            results.get_nowait()


class One(pybuda.PyBudaModule):
    """Two inputs, one output."""

    def __init__(self, name):
        super().__init__(name)
        self.weights1 = pybuda.Parameter(torch.rand(32, 32) - 0.5, requires_grad=True)
        self.weights2 = pybuda.Parameter(torch.rand(32, 32) - 0.5, requires_grad=True)

    def forward(self, act1, act2):
        return pybuda.op.Matmul("matmul1", act1, self.weights1) + pybuda.op.Matmul("matmul2", act2, self.weights2)

    def in_torch(self):
        """Its parameters for PyTorch, and what it computes of them."""
        weights = {p.name: torch.tensor(p.value, requires_grad=True) for p in self.get_parameters()}
        first, second = weights.values()
        return weights, lambda a, b: a @ first + b @ second


class TorchOne(torch.nn.Module):
    """The second stage of a pipeline."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(32, 32)

    def forward(self, act):
        return self.layer(act)
