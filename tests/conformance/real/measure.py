# SPDX-License-Identifier: Apache-2.0
"""How far outputs are from what the reference gives, and whether that is near enough."""
import dataclasses
import math

import numpy as np

LEAST_CORRELATION = 0.99
SMALL = 64  # elements; a correlation of fewer says little
RELATIVE, ABSOLUTE = 0.02, 1e-3  # of an output that is small or constant


@dataclasses.dataclass
class Difference:
    """correlation is None where it is not defined: one of both is constant or not finite. error: the largest, as a part of the largest expected
    value, or as it is where all expected values are 0."""
    correlation: float
    error: float
    right: bool


def correlate(actual, expected):
    a, e = (values.astype(np.float64).ravel() for values in (actual, expected))
    if not (np.isfinite(a).all() and np.isfinite(e).all()):
        return None
    a, e = a - a.mean(), e - e.mean()
    scale = math.sqrt(float(a @ a) * float(e @ e))
    return float(a @ e) / scale if scale > 0 else None


def same_winners(actual, expected, limit):
    """The largest value of each row is at the same place wherever the two largest expected ones are further apart than the limit."""
    rows = expected.reshape(-1, expected.shape[-1]) if expected.ndim else expected.reshape(1, 1)
    if rows.shape[1] < 2:
        return True
    two = np.sort(rows, axis=1)[:, -2:]
    clear = two[:, 1] - two[:, 0] > limit
    return bool((actual.reshape(rows.shape).argmax(1) == rows.argmax(1))[clear].all())


def compare(actual, expected):
    """Integers and booleans must be equal; fewer than 64 numbers, or equal ones, near; others correlate."""
    if actual.shape != expected.shape:
        return Difference(None, math.inf, False)
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        largest = float(np.max(np.where(a == e, 0, np.abs(a - e)), initial=0))
    largest = math.inf if math.isnan(largest) else largest
    scale = float(np.max(np.abs(e), initial=0))
    correlation = correlate(a, e)
    if not np.issubdtype(expected.dtype, np.floating):
        right = largest == 0
    elif expected.size < SMALL or np.all(e == e.flat[0]):
        limit = RELATIVE * scale + ABSOLUTE
        right = largest <= limit and same_winners(a, e, limit)
    else:
        right = correlation is not None and correlation >= LEAST_CORRELATION
    return Difference(correlation, largest / scale if scale > 0 else largest, right)


def pair(actual, expected):
    """Outputs of both by name, where the names are the same, otherwise by position: TensorFlow Lite has names of tensors and of signatures."""
    if set(actual) == set(expected):
        return [(actual[name], expected[name]) for name in expected]
    if len(actual) != len(expected):
        raise ValueError(f"{len(actual)} outputs instead of {len(expected)}")
    return list(zip(actual.values(), expected.values()))


def worst(differences, sizes):
    """Of all outputs: the least correlation that is defined, of those with enough elements if there are any; the largest error; whether all are right."""
    defined = [(d.correlation, size) for d, size in zip(differences, sizes) if d.correlation is not None]
    large = [correlation for correlation, size in defined if size >= SMALL]
    correlations = large or [correlation for correlation, _ in defined]
    return Difference(min(correlations, default=None), max(d.error for d in differences), all(d.right for d in differences))
