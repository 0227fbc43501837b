# SPDX-License-Identifier: Apache-2.0
"""Tensors with elements: what devices give, and what they take."""
import numpy

_FRAMEWORKS = ("pytorch", "tensorflow", "jax", "onnx", "tflite", "numpy")


def plain(value):
    """A tensor of ours or of torch as an array; of bfloat16, which NumPy does not have, as one of float32. Anything else as it is."""
    if isinstance(value, Tensor):
        value = value.value()
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()


class Tensor:
    """A tensor whose elements are known. value() is a tensor of PyTorch where that is installed, else an array of NumPy."""

    def __init__(self, value):
        self._value = value if hasattr(value, "detach") else numpy.asarray(plain(value))

    @staticmethod
    def create_from_torch(tensor):
        """One with these elements."""
        return Tensor(tensor)

    def value(self):
        """The elements; always the same object, so that a gradient that is set stays."""
        if not hasattr(self._value, "detach"):
            try:
                import torch
            except ImportError:
                return self._value
            self._value = torch.from_numpy(numpy.array(self._value))
        return self._value

    def has_value(self):
        return True

    @property
    def shape(self):
        return tuple(self._value.shape)

    @property
    def dtype(self):
        return self._value.dtype

    def to_framework(self, framework):
        """The elements as a tensor of a framework: 'pytorch', 'tensorflow', 'jax', 'numpy'; for 'onnx' and 'tflite', which have none, an array."""
        if framework not in _FRAMEWORKS:
            raise ValueError(f"there is no framework '{framework}'; it is one of {', '.join(_FRAMEWORKS)}")
        if framework == "pytorch":
            return self.value()
        array = plain(self._value)
        if framework not in ("tensorflow", "jax"):
            return array
        try:
            if framework == "tensorflow":
                import tensorflow
                return tensorflow.convert_to_tensor(array)
            import jax.numpy
            return jax.numpy.asarray(array)
        except ImportError:
            raise NotImplementedError(f"{framework} is not installed here, so that there are no tensors of it; to_framework('pytorch') and to_framework('numpy') need nothing else") from None

    def __array__(self, dtype=None, copy=None):
        array = plain(self._value)
        return array if dtype is None else array.astype(dtype)

    def __getstate__(self):
        return numpy.array(plain(self._value))

    def __setstate__(self, array):
        self._value = array

    def __repr__(self):
        return f"Tensor({self.value()!r})"


class Results(list):
    """The outputs of one input, in the model's order."""

    def to_framework(self, framework):
        """Each of them as a tensor of a framework; of the only one its tensor."""
        tensors = [tensor.to_framework(framework) for tensor in self]
        return tensors[0] if len(tensors) == 1 else tensors
