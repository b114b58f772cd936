# SPDX-License-Identifier: Apache-2.0
"""Directories of results."""

import csv
import io
import json
from pathlib import Path

from . import _guarantee, _program


def _numpy():
    try:
        import numpy
    except ImportError as missing:
        raise ImportError("factors are NumPy arrays: install numpy (Debian: python3-numpy)") from missing
    return numpy


def _pandas():
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("data frames need pandas: install it (Debian: python3-pandas)") from missing
    return pandas


def read_table(path):
    """A CSV file of results as a pandas DataFrame."""
    return _pandas().read_csv(path)


class Run:
    """The results of one run. Files are read when they are asked for."""

    def __init__(self, directory):
        self.directory = Path(directory)
        with open(self.directory / "run.json", encoding="utf-8") as stream:
            self.info = json.load(stream)

    def __repr__(self):
        return f"<dpframe.Run {self.directory} {self.metrics}>"

    @property
    def metrics(self):
        """Test metrics by name. Private: not covered by the guarantee."""
        return self.info["metrics"]

    @property
    def baselines(self):
        """Metrics of the models that the run was compared with: {"popularity": {...}, ...}."""
        return self.info.get("baselines", {})

    @property
    def data(self):
        """Exact counts of users, items and records. Private: do not publish them."""
        with open(self.directory / "private" / "data.json", encoding="utf-8") as stream:
            return json.load(stream)

    @property
    def guarantee(self):
        """The statement, as a Guarantee."""
        return _guarantee.from_json(self.info["guarantee"])

    @property
    def config(self):
        """The resolved configuration: {"section": {"key": "value"}}."""
        return self.info["config"]

    def _side(self, name):
        for side in ("release", "private"):
            path = self.directory / side / name
            if path.exists():
                return path
        raise FileNotFoundError(f"{self.directory} has no {name}: this kind of model does not write it")

    def _ids(self, name):
        with open(self._side(name), encoding="utf-8", newline="\n") as stream:
            return stream.read().splitlines()

    @property
    def item_ids(self):
        return self._ids("item_ids.txt")

    @property
    def user_ids(self):
        return self._ids("user_ids.txt")

    @property
    def item_factors(self):
        """float32, items x columns, rows in the order of item_ids."""
        return _numpy().load(self._side("item_factors.npy"))

    @property
    def user_factors(self):
        """float32, users x columns, rows in the order of user_ids. Private unless users are released."""
        return _numpy().load(self._side("user_factors.npy"))

    @property
    def released_metrics(self):
        """Metrics with noise, which the guarantee covers: {name: {"value", "noise", "averaged_over"}}. All in
        `metrics` are private."""
        return self.info.get("released_metrics", {})

    def recommend(self, user, n=10):
        """The n best unseen items of a user: [(item id, score), ...]. It reads the user's own records."""
        printed = _program.call(["recommend", self.directory, "--user", user, "-n", n])
        return [(row["item"], float(row["score"])) for row in csv.DictReader(io.StringIO(printed))]

    def to_frame(self):
        """Metrics beside those of the baselines, as a DataFrame: a row for each model."""
        rows = {"this run": self.metrics, **self.baselines}
        return _pandas().DataFrame.from_dict(rows, orient="index")


def load(directory):
    """The Run of a directory that `dpframe -c` wrote."""
    return Run(directory)
