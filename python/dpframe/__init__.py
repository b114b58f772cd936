# SPDX-License-Identifier: Apache-2.0
"""Run dpframe from Python: the installed program does the work, this package starts it and reads its files."""

from ._errors import ConfigurationError, DataError, Error, PluginError, RunError
from ._frames import convert_parquet, write_csv
from ._guarantee import Condition, Guarantee, Proof
from ._program import account, check, run, sweep
from ._results import Run, load

__all__ = [
    "Condition",
    "ConfigurationError",
    "DataError",
    "Error",
    "Guarantee",
    "PluginError",
    "Proof",
    "Run",
    "RunError",
    "account",
    "check",
    "convert_parquet",
    "load",
    "run",
    "sweep",
    "write_csv",
]
__version__ = "0.1.0"
