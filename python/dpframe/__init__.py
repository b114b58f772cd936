# SPDX-License-Identifier: Apache-2.0
"""Run dpframe from Python: the installed program does the work, this package starts it and reads its files."""

from ._errors import ConfigurationError, DataError, Error, MissingPackageError, PluginError, RunError
from ._frames import convert_parquet, write_csv
from ._guarantee import Condition, Guarantee, Proof
from ._model import Model
from ._program import Progress, account, check, run, start, sweep
from ._results import Run, load
from ._saved import Prediction, Recommendation, Rows, Similar, compare, evaluate, page, predict, recommend, report, similar

__all__ = [
    "Condition",
    "ConfigurationError",
    "DataError",
    "Error",
    "Guarantee",
    "Model",
    "MissingPackageError",
    "PluginError",
    "Prediction",
    "Progress",
    "Proof",
    "Recommendation",
    "Rows",
    "Run",
    "RunError",
    "Similar",
    "account",
    "check",
    "compare",
    "convert_parquet",
    "evaluate",
    "load",
    "page",
    "predict",
    "recommend",
    "report",
    "run",
    "similar",
    "start",
    "sweep",
    "write_csv",
]
__version__ = "0.1.0"
