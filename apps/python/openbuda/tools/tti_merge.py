# SPDX-License-Identifier: Apache-2.0
"""Merging of images; as a program it is the tool tti-merge."""
from .._native import merge_models

__all__ = ["merge_models"]
