# SPDX-License-Identifier: Apache-2.0
"""Directories of results."""

import html
import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import _errors, _frames, _guarantee, _model, _saved

PathLike = Union[str, "os.PathLike[str]"]


def _numpy():
    try:
        import numpy
    except ImportError as missing:
        raise _errors.missing_package("factors are NumPy arrays", missing) from missing
    return numpy


def read_table(path: PathLike):
    """A CSV file of results as a pandas DataFrame. An empty field is no value; "NA" and "null" are texts."""
    return _frames.pandas().read_csv(path, keep_default_na=False, na_values=[""])


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


def _up(epsilon: float) -> str:
    """A bound of four digits that is not below this one."""
    shown = f"{epsilon:.4g}"
    return shown if float(shown) >= epsilon else f"{epsilon * 1.000501:.4g}"


class Run:
    """The results of one run. Files are read when they are asked for."""

    def __init__(self, directory: PathLike):
        self.directory = Path(directory)
        if not (self.directory / "run.json").exists():
            what = (f"it holds the runs of a sweep or of folds: name one of {self.directory / 'points'}"
                    if (self.directory / "sweep.json").exists() else "name the output directory of a run that is complete")
            raise FileNotFoundError(f"{self.directory} has no run.json; {what}")
        with open(self.directory / "run.json", encoding="utf-8") as stream:
            self.info: Dict[str, Any] = json.load(stream)

    def __repr__(self) -> str:
        return f"<dpframe.Run {self.directory} {self.metrics}>"

    def __fspath__(self) -> str:
        return str(self.directory)

    def _repr_html_(self) -> str:
        """What a notebook shows: the statement first, then metrics beside other models."""
        statement = self.guarantee
        if statement.best and statement.holds:
            head = (
                f"Proved: epsilon = {_up(statement.epsilon)}, delta = {statement.delta:.3g} for one {statement.unit} "
                f"({statement.adjacency}), against {statement.observer}."
            )
        elif statement.best:
            head = f"Proved of the plan only: epsilon = {_up(statement.epsilon)} for one {statement.unit}."
        else:
            head = "Nothing is proved: " + ", ".join(f"{c.id} {c.title}" for c in statement.failing) + "."
        rows = {"this run": self.metrics, **self.baselines}
        names = list(self.metrics)
        cells = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr><th>{html.escape(model)}</th>"
            + "".join(f"<td>{_number(values.get(name, ''))}</td>" for name in names)
            + "</tr>"
            for model, values in rows.items()
        )
        return (
            f"<p><b>{html.escape(head)}</b> Metrics are private: not covered.</p>"
            f"<table><thead><tr><th></th>{cells}</tr></thead><tbody>{body}</tbody></table>"
        )

    @property
    def metrics(self) -> Dict[str, float]:
        """Test metrics by name. Private: not covered by the guarantee."""
        return self.info["metrics"]

    @property
    def baselines(self) -> Dict[str, Dict[str, float]]:
        """Metrics of the models that the run was compared with: {"popularity": {...}, ...}."""
        return self.info.get("baselines", {})

    @property
    def data(self) -> Dict[str, Any]:
        """Exact counts of users, items and records. Private: do not publish them."""
        with open(self.directory / "private" / "data.json", encoding="utf-8") as stream:
            return json.load(stream)

    @property
    def guarantee(self) -> _guarantee.Guarantee:
        """The statement."""
        return _guarantee.from_json(self.info["guarantee"])

    @property
    def statement(self) -> str:
        """The statement as the program prints it (release/guarantee.txt)."""
        return (self.directory / "release" / "guarantee.txt").read_text(encoding="utf-8")

    @property
    def config(self) -> Dict[str, Dict[str, str]]:
        """The resolved configuration: {"section": {"key": "value"}}."""
        return self.info["config"]

    def _side(self, name: str) -> Path:
        for side in ("release", "private"):
            path = self.directory / side / name
            if path.exists():
                return path
        raise AttributeError(f"{self.directory} has no {name}: this kind of model has none")

    def _ids(self, name: str) -> List[str]:
        """An id a line; b"\\n" alone ends a line, and bytes that are no UTF-8 stay as Python's surrogates."""
        content = self._side(name).read_bytes()
        return content.decode("utf-8", "surrogateescape").split("\n")[:-1]

    @property
    def item_ids(self) -> List[str]:
        return self._ids("item_ids.txt")

    @property
    def item_names(self) -> List[str]:
        """Names of items for people, in the order of item_ids; "" where there is none; [] without [data] item-names."""
        return self._ids("item_names.txt") if "item_names" in self.info["files"] else []

    @property
    def user_ids(self) -> List[str]:
        return self._ids("user_ids.txt")

    @property
    def item_factors(self):
        """float32, items x columns, rows in the order of item_ids. See Model.item_factors for a recommender's."""
        return self.model.item_factors

    @property
    def user_factors(self):
        """float32, users x columns, rows in the order of user_ids. Private unless users are released."""
        return _numpy().load(self._side("user_factors.npy"))

    @property
    def model(self) -> "_model.Model":
        """The saved model: formula, arrays, scores. Released where the arrays of the items are."""
        return _model.Model((self.directory / self.info["files"]["model"]).parent)

    @property
    def released_metrics(self) -> Dict[str, Dict[str, float]]:
        """Metrics with noise, which the guarantee covers: {name: {"value", "noise", "averaged_over"}}. All in
        `metrics` are private."""
        return self.info.get("released_metrics", {})

    def recommend(self, user: Any = None, n: int = 10, **options: Any) -> "_saved.Rows":
        """See dpframe.recommend."""
        return _saved.recommend(self, user, n, **options)

    def predict(self, pairs: Any) -> "_saved.Rows":
        """See dpframe.predict."""
        return _saved.predict(self, pairs)

    def similar(self, item: Any, n: int = 10) -> "_saved.Rows":
        """See dpframe.similar."""
        return _saved.similar(self, item, n)

    def evaluate(self, data: Any = None, settings: Optional[Dict[str, Any]] = None) -> Dict[str, float]:
        """See dpframe.evaluate."""
        return _saved.evaluate(self, data, settings)

    def page(self, output: Any = None) -> Path:
        """See dpframe.page."""
        return _saved.page(self, output)

    def report(self) -> Path:
        """See dpframe.report."""
        return _saved.report(self)

    def to_frame(self):
        """Metrics beside those of the baselines, as a pandas DataFrame: a row for each model."""
        rows = {"this run": self.metrics, **self.baselines}
        return _frames.pandas().DataFrame.from_dict(rows, orient="index")


def load(directory: PathLike) -> Run:
    """The Run of a directory that `dpframe run` wrote."""
    return Run(directory)
