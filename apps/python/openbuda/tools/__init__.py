# SPDX-License-Identifier: Apache-2.0
"""Tools of PyBuda's guide."""
