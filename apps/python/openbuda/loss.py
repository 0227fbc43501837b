# SPDX-License-Identifier: Apache-2.0
"""Losses on a device: modules of a prediction and targets, and what autograd has in place of them."""
from . import op
from .module import PyBudaModule


class L1Loss(PyBudaModule):
    """The size of the difference: its mean, with reduction 'sum' its sum; 'none' is the mean of all elements, too, since a training minimises one number."""

    def __init__(self, name, reduction="avg"):
        if reduction not in ("avg", "sum", "none"):
            raise ValueError(f"loss '{name}': the reduction is 'avg', 'sum' or 'none', not '{reduction}'")
        super().__init__(name)
        self.reduction = reduction

    def forward(self, prediction, labels):
        difference = op.Abs("abs", op.Subtract("sub", prediction, labels))
        return op.Multiply("sum", difference, float(_elements(prediction.shape))) if self.reduction == "sum" else difference


class CrossEntropyLoss(PyBudaModule):
    """Of logits along the last axis, and probabilities of classes; the mean over all rows. The largest logit is subtracted first, so that nothing overflows."""

    def forward(self, predictions, labels):
        logarithms = op._one("log_softmax", "log_softmax", predictions, dim=-1)
        return op.Multiply("losses", op.ReduceSum("token_losses", op.Multiply("word_losses", logarithms, labels), -1), -1.0)


def _elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def spec_of(module, rank):
    """The loss of autograd that is this module, for a prediction of this rank; empty: none is."""
    if isinstance(module, CrossEntropyLoss):
        return "cross_entropy"
    torch_loss = getattr(module, "module", None)
    kind = type(torch_loss).__name__
    if type(torch_loss).__module__ != "torch.nn.modules.loss":
        return ""
    reduction = torch_loss.reduction
    if kind == "KLDivLoss":
        return "kl_div" + (":batchmean=1" if reduction == "batchmean" else "") if reduction in ("mean", "batchmean") and not torch_loss.log_target else ""
    if reduction != "mean" or getattr(torch_loss, "weight", None) is not None:
        return ""
    if kind in ("CrossEntropyLoss", "NLLLoss"):
        # PyTorch's classes are the second axis, ours the last one.
        if rank != 2 or torch_loss.ignore_index != -100:
            return ""
        smoothing = getattr(torch_loss, "label_smoothing", 0.0)
        return "nll" if kind == "NLLLoss" else "cross_entropy" + (f":label_smoothing={smoothing!r}" if smoothing else "")
    if kind == "BCEWithLogitsLoss":
        weight = torch_loss.pos_weight
        return "bce_with_logits" if weight is None else f"bce_with_logits:pos_weight={float(weight)!r}" if weight.numel() == 1 else ""
    return {"L1Loss": "l1", "MSELoss": "mse", "SmoothL1Loss": f"smooth_l1:beta={getattr(torch_loss, 'beta', 1.0)!r}", "HuberLoss": f"huber:delta={getattr(torch_loss, 'delta', 1.0)!r}",
            "BCELoss": "bce"}.get(kind, "")


def target_of(spec, target, prediction_shape):
    """A target as the step takes it: numbers of classes become probabilities, of which -100 counts for nothing."""
    import numpy
    if not spec.startswith(("cross_entropy", "nll")) or target.dtype.kind not in "iu" or tuple(target.shape) == tuple(prediction_shape):
        return target.astype(numpy.float32)
    classes = prediction_shape[-1]
    counted = target != -100
    if counted.any() and not (0 <= target[counted].min() and target[counted].max() < classes):
        raise ValueError(f"the target has the class {int(target[counted].max() if target[counted].max() >= classes else target[counted].min())}, and the prediction {classes} classes, from 0")
    rows = numpy.zeros((*target.shape, classes), numpy.float32)
    rows[counted, target[counted]] = target.size / max(int(counted.sum()), 1)
    return rows.reshape(prediction_shape)
