# SPDX-License-Identifier: Apache-2.0
"""Ops of modules, with the names and arguments of PyBuda's API reference.

`name` is unique in its module; an empty one is made up. Operands are tensors, parameters, arrays or numbers.
"""
from .module import Traced, current_trace


def _one(name, op, *inputs, **attributes):
    return current_trace().op(name, op, inputs, **attributes)[0]


# ---- general

def Matmul(name, operandA, operandB, bias=None):
    """The product of the last two axes; `bias` is added to it."""
    return _one(name, "matmul", operandA, operandB, *([] if bias is None else [bias]))


def Add(name, operandA, operandB):
    """The sum; shapes are broadcast as NumPy does."""
    return _one(name, "add", operandA, operandB)


def Subtract(name, operandA, operandB):
    """The difference; shapes are broadcast as NumPy does."""
    return _one(name, "subtract", operandA, operandB)


def Multiply(name, operandA, operandB):
    """The product, element by element; shapes are broadcast as NumPy does."""
    return _one(name, "multiply", operandA, operandB)


def Identity(name, operandA, unsqueeze=None, unsqueeze_dim=None):
    """With `unsqueeze` an axis of size one is put in: at `unsqueeze_dim`, or in front."""
    if unsqueeze is None and unsqueeze_dim is None:
        return _one(name, "identity", operandA)
    return _one(name, "unsqueeze", operandA, dims=[0 if unsqueeze_dim is None else unsqueeze_dim])


def Buffer(name, operandA):
    """The operand as it is, as an op of its own: a place between two ops that may be put on cores."""
    return _one(name, "buffer", operandA)


def ReduceSum(name, operandA, dim):
    """Sums along the axis `dim`, which stays with size one."""
    return _one(name, "reduce_sum", operandA, dims=[dim], keep_dims=True)


def ReduceAvg(name, operandA, dim):
    """Means along the axis `dim`, which stays with size one."""
    return _one(name, "reduce_avg", operandA, dims=[dim], keep_dims=True)


def Constant(name, *, constant):
    """A number, as a tensor."""
    import numpy
    trace = current_trace()
    return Traced(trace, trace.graph.constant(trace.name_of(name, "constant"), numpy.float32(constant)))


# ---- transformations

def HSlice(name, operandA, slices):
    """Cuts the last axis into `slices` equal parts, along the third axis from the end."""
    return _one(name, "hslice", operandA, slices=slices)


def VSlice(name, operandA, slices):
    """Cuts the second axis from the end into `slices` equal parts, along the third one."""
    return _one(name, "vslice", operandA, slices=slices)


def HStack(name, operandA, slices=-1):
    """The opposite of HSlice; -1: all of the third axis from the end."""
    return _one(name, "hstack", operandA, slices=slices)


def VStack(name, operandA, slices=-1):
    """The opposite of VSlice; -1: all of the third axis from the end."""
    return _one(name, "vstack", operandA, slices=slices)


def Reshape(name, operandA, shape):
    """The same elements, in row-major order, in another shape."""
    return _one(name, "reshape", operandA, shape=list(shape))


def Transpose(name, operandA, dim0, dim1):
    """The axes `dim0` and `dim1` exchanged."""
    order = list(range(len(operandA.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return _one(name, "transpose", operandA, perm=order)


def Index(name, operandA, dim, start, stop=None, stride=1):
    """Elements `start`, `start` + `stride`, … before `stop` of the axis `dim`."""
    return _one(name, "index", operandA, dim=dim, start=start, stop=stop, stride=stride)


def Select(name, operandA, dim, index, stride=0):
    """Of the axis `dim` the part that begins at `index`, or (begin, length), again every `stride` elements."""
    start, length = (index, 1) if isinstance(index, int) else index
    return _one(name, "select", operandA, dim=dim, start=start, length=length, stride=stride)


def Pad(name, operandA, pad, mode="constant", channel_last=False):
    """`pad` is (left, right) or (left, right, top, bottom), of the last two axes, or of those before the channels."""
    left, right, top, bottom = (*pad, 0, 0)[:4]
    rank, columns = len(operandA.shape), -2 if channel_last else -1
    before, after = [0] * rank, [0] * rank
    before[columns], after[columns] = left, right
    if rank >= 1 - columns:
        before[columns - 1], after[columns - 1] = top, bottom
    if mode == "constant":
        return _one(name, "pad", operandA, before=before, after=after, value=0.0)
    return _one(name, "pad_continued", operandA, before=before, after=after, mode={"replicate": "edge"}.get(mode, mode))


def Concatenate(name, *operands, axis):
    """The operands one after the other along `axis`."""
    return _one(name, "concatenate", *operands, dim=axis)


def BinaryStack(name, operandA, operandB, dim):
    """Both operands interleaved along `dim`."""
    return _one(name, "binary_stack", operandA, operandB, dim=dim)


def Heaviside(name, operandA, operandB):
    """0 where the first operand is negative, 1 where it is positive, the second operand where it is zero."""
    return _one(name, "heaviside", operandA, operandB)


# ---- activations and mathematics

def Relu(name, operandA, threshold=0.0, mode="min"):
    """Elements below `threshold` become 0; with mode 'max' all are kept between 0 and the threshold."""
    return _one(name, "relu", operandA, threshold=float(threshold), mode=mode)


def Gelu(name, operandA, approximate="none"):
    """x times the normal distribution's probability of less than x; `approximate` is 'none' or 'tanh'."""
    return _one(name, "gelu", operandA, **({} if approximate == "none" else {"approximate": approximate}))


def Sigmoid(name, operandA):
    """1 / (1 + exp(-x))."""
    return _one(name, "sigmoid", operandA)


def Exp(name, operandA):
    """The exponential."""
    return _one(name, "exp", operandA)


def Reciprocal(name, operandA):
    """1 / x."""
    return _one(name, "reciprocal", operandA)


def Sqrt(name, operandA):
    """The square root."""
    return _one(name, "sqrt", operandA)


def Log(name, operandA):
    """The natural logarithm."""
    return _one(name, "log", operandA)


def Abs(name, operandA):
    """The absolute value."""
    return _one(name, "abs", operandA)


def Clip(name, operandA, min, max):
    """Elements are kept between `min` and `max`."""
    return _one(name, "clip", operandA, min=float(min), max=float(max))


def Max(name, operandA, operandB):
    """The larger element of both operands."""
    return _one(name, "maximum", operandA, operandB)


def Argmax(name, operandA, dim=None):
    """The place of the largest element along `dim`, or of all."""
    return _one(name, "argmax", operandA, dim=dim)


# ---- convolutions

def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def _padding(padding, sizes, kernel, stride, dilation):
    """[top, left, bottom, right] of a number, of [left, right, top, bottom], or of 'same': ceil(size / stride) results, more padding at the end."""
    if padding == "same":
        whole = [max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0) for size, k, s, d in zip(sizes, kernel, stride, dilation)]
        return [w // 2 for w in whole] + [w - w // 2 for w in whole]
    if isinstance(padding, int):
        return [padding] * 4
    if len(padding) != 4:
        raise ValueError("padding is a number, 'same', or [left, right, top, bottom]")
    left, right, top, bottom = padding
    return [top, left, bottom, right]


def _windows(name, op, activations, further, kernel, stride, padding, dilation, channel_last, attributes, results=1):
    """A sliding window over [samples, channels, rows, columns], or over [samples, rows, columns, channels]."""
    trace = current_trace()
    stride, dilation = _pair(stride), _pair(dilation)
    # Only a name that was given can be the stem of further ones.
    stem = name or trace.name_of("", op).split(".")[-1]
    x = activations
    if channel_last:
        x = _one(stem + ".channels_first", "transpose", x, perm=[0, 3, 1, 2])
    attributes.update(stride=stride, padding=_padding(padding, x.shape[2:], kernel, stride, dilation))
    if dilation != [1, 1] or op != "avg_pool2d":
        attributes["dilation"] = dilation
    out = trace.op(stem + ".windows" if channel_last else stem, op, [x, *further], **attributes)[:results]
    if channel_last:
        out = [_one(stem if i == 0 else f"{stem}.{i}", "transpose", y, perm=[0, 2, 3, 1]) for i, y in enumerate(out)]
    return out[0] if results == 1 else tuple(out)


def Conv2d(name, activations, weights, bias=None, stride=1, padding="same", dilation=1, groups=1, channel_last=False):
    """A convolution over [samples, channels, rows, columns]; weights are [out, in / groups, rows, columns]. `padding` is 'same', a number, or [left, right, top, bottom]."""
    return _windows(name, "conv2d", activations, [weights] if bias is None else [weights, bias], weights.shape[2:], stride, padding, dilation,
                    channel_last, {"groups": groups})


def Conv2dTranspose(name, activations, weights, bias=None, stride=1, padding="same", dilation=1, groups=1, channel_last=False):
    """`padding` is cut off the result; 'same': the result is `stride` times as large as the activations."""
    strides, dilations, kernel = _pair(stride), _pair(dilation), weights.shape[2:]
    if padding == "same":
        whole = [(k - 1) * d + 1 - s for k, s, d in zip(kernel, strides, dilations)]
        if min(whole) < 0:
            raise ValueError("padding 'same' of a transposed convolution wants a kernel that is not smaller than the stride")
        top, left = (w // 2 for w in whole)
        padding = [left, whole[1] - left, top, whole[0] - top]
    return _windows(name, "conv2d_transpose", activations, [weights] if bias is None else [weights, bias], kernel, strides, padding, dilations,
                    channel_last, {"groups": groups})


def MaxPool2d(name, activations, kernel_size, stride=1, padding="same", dilation=1, ceil_mode=False, return_indices=False,
              max_pool_add_sub_surround=False, max_pool_add_sub_surround_value=1.0, channel_last=False):
    """The padding is smaller than all data, with and without max_pool_add_sub_surround. With return_indices also the places of the maxima."""
    attributes = {"kernel": _pair(kernel_size), "ceil_mode": ceil_mode, **({"indices": "row_major"} if return_indices else {})}
    return _windows(name, "max_pool2d", activations, [], _pair(kernel_size), stride, padding, dilation, channel_last, attributes,
                    2 if return_indices else 1)


def AvgPool2d(name, activations, kernel_size, stride=1, padding="same", ceil_mode=False, count_include_pad=True, divisor_override=None,
              channel_last=False):
    """Means over windows of `kernel_size`."""
    attributes = {"kernel": _pair(kernel_size), "ceil_mode": ceil_mode, "count_include_pad": count_include_pad,
                  **({"divisor_override": float(divisor_override)} if divisor_override else {})}
    return _windows(name, "avg_pool2d", activations, [], _pair(kernel_size), stride, padding, 1, channel_last, attributes)


# ---- networks

def Softmax(name, operandA, *, dim, stable=True):
    """exp(x) over its sum along `dim`; `stable` subtracts the largest element first."""
    return _one(name, "softmax", operandA, dim=dim, stable=stable)


def Layernorm(name, operandA, weights, bias, dim=-1, epsilon=1e-5):
    """Along the last axis; another one is brought there and back."""
    rank = len(operandA.shape)
    if dim in (-1, rank - 1):
        return _one(name, "layernorm", operandA, weights, bias, epsilon=epsilon)
    stem = name or current_trace().name_of("", "layernorm").split(".")[-1]
    order = list(range(rank))
    order[dim], order[-1] = order[-1], order[dim]
    turned = _one(stem + ".last", "transpose", operandA, perm=order)
    return _one(stem, "transpose", _one(stem + ".norm", "layernorm", turned, weights, bias, epsilon=epsilon), perm=order)
