# SPDX-License-Identifier: Apache-2.0
"""Long tests in slices: BUDA_SLICE=I/N is slice I of N, counted from 0. CI runs another one each time, and `make long` without it everything."""
import os

INDEX, COUNT = (int(part) for part in os.environ.get("BUDA_SLICE", "0/1").split("/"))


def of_turn(items):
    """The items of this slice: every COUNTth, for what costs alike often stands together."""
    return list(items)[INDEX % COUNT::COUNT]


def share(count):
    """Of so many random samples those of one slice, rounded up."""
    return -(-count // COUNT)
