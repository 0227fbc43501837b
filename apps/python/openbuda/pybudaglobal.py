# SPDX-License-Identifier: Apache-2.0
"""The state of a program."""
from . import config, pipeline


def pybuda_reset():
    """Ends all devices, and forgets the configuration."""
    pipeline.renew()
    config._clear_global_compiler_config()
