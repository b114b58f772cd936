# SPDX-License-Identifier: Apache-2.0
"""A saved model as NumPy arrays, and its scores: docs/model-state.md in code."""

import json
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional

from . import _errors

FORMAT, VERSION = "dpframe-model", 1


def _numpy():
    try:
        import numpy
    except ImportError as missing:
        raise _errors.missing_package("models are NumPy arrays", missing) from missing
    return numpy


class Model:
    """
    The model of a run: formula, numbers and arrays of model/index.json, and the ids of its items.

    arrays are mapped, not copied: arrays["loadings"] has the shape that docs/model-state.md gives. Needs neither the
    program nor the data that the model was trained on.
    """

    def __init__(self, directory: Any):
        """directory: of the index, for example results/mine/release/model."""
        self.directory = Path(directory)
        with open(self.directory / "index.json", encoding="utf-8") as stream:
            self.index: Dict[str, Any] = json.load(stream)
        if self.index.get("format") != FORMAT or self.index.get("version") != VERSION:
            raise ValueError(f"{self.directory}/index.json is no {FORMAT} of version {VERSION}: train again")
        self.formula: str = self.index["formula"]
        self.scalars: Dict[str, float] = self.index["scalars"]
        self.arrays = {name: self._map(about["file"]) for name, about in self.index["arrays"].items()}

    def _map(self, file: str):
        array = _numpy().load(self.directory / file, mmap_mode="r")
        return array

    def _array(self, name: str):
        array = self.arrays[name]
        return array[:, 0] if array.ndim == 2 and len(self.index["arrays"][name]["axes"]) == 1 else array

    @property
    def item_ids(self) -> List[str]:
        """An id for each row of items. b"\\n" alone ends an id."""
        content = (self.directory / self.index["ids"]).read_bytes()
        return content.decode("utf-8", "surrogateescape").split("\n")[:-1]

    @property
    def item_factors(self):
        """float32, items x columns: what a row of the user is multiplied with. neighbours/1 and plugin/1 have none."""
        np = _numpy()
        if self.formula == "base/1":
            return np.asarray(self._array("base"), np.float32)[:, None]
        if self.formula == "rows/1":
            return self.arrays["items"]
        if self.formula == "ridge/1":
            return np.column_stack([self._array("bias"), self.arrays["loadings"]])
        if self.formula == "ease/1":
            column, undo = self._array("column"), self._array("undo")
            out, span = self.arrays["out"], self.arrays["span"]
            rows = np.zeros((len(column), len(out) + len(span) + 1), np.float32)
            has = column >= 0
            rows[has, : len(out)] = out.T[column[has]] * undo[has, None]
            rows[~has, len(out) : -1] = span.T[~has] * undo[~has, None]
            rows[:, -1] = self._array("popularity")
            return rows
        raise AttributeError(f"a model of the formula {self.formula} has no rows of items")

    def scores(self, items: Iterable[int] = (), values: Optional[Iterable[float]] = None, user: Optional[int] = None):
        """
        float64 scores of all items for somebody with records of these items (rows, not ids), in ascending order, and their
        values; or for a user of the run, where users' rows or reports are part of the model.
        """
        np = _numpy()
        items = np.asarray(list(items), np.int64)
        values = np.ones(len(items)) if values is None else np.asarray(list(values), np.float64)
        formulas = {"base/1": self._base, "rows/1": self._rows, "ridge/1": self._ridge, "ease/1": self._ease}
        if self.formula == "neighbours/1":
            return self._neighbours(items, user)
        if self.formula not in formulas:
            raise NotImplementedError(f"the formula {self.formula} is known to its component alone")
        return formulas[self.formula](items, values, user)

    def _base(self, items, values, user):
        return _numpy().asarray(self._array("base"), "f4").astype("f8")

    def _rows(self, items, values, user):
        if user is None or "users" not in self.arrays:
            raise ValueError("rows of users are part of this model: name a user, and have the users' factors")
        return self.scalars["offset"] + self.arrays["items"].astype("f8") @ self.arrays["users"][user].astype("f8")

    def _ridge(self, items, values, user):
        np, s = _numpy(), self.scalars
        bias, q = self._array("bias").astype("f8"), self.arrays["loadings"].astype("f8")
        variance = self._array("variance").astype("f8") if "variance" in self.arrays else np.zeros(len(bias))
        weight = 1 / (s["residual_variance"] + variance[items])
        own = q[items]
        residual = (values - s["centre"]) / s["unit"] - bias[items]
        t = np.linalg.solve(np.eye(q.shape[1]) + (own.T * weight) @ own, own.T @ (weight * residual))
        return s["centre"] + s["unit"] * (bias + q @ t)

    def _ease(self, items, values, user):
        np, s = _numpy(), self.scalars
        column, rows = self._array("column"), self.item_factors.astype("f8")
        j, z = column[items], np.ones(len(items))
        if s["value_low"] < s["value_high"]:
            part = (values - s["value_low"]) / (s["value_high"] - s["value_low"])
            z = s["lowest_weight"] + (1 - s["lowest_weight"]) * np.clip(part, 0, 1)
        known = j >= 0
        z = z[known] * self._array("weight")[j[known]]
        if not np.any(z):
            return rows[:, -1]
        z = z / np.sqrt(z @ z)
        into = self.arrays["in"][j[known]].astype("f8")
        out = self.arrays["out"].astype("f8").T[j[known]]
        if into.shape[1] == len(self.arrays["span"]) and out.shape[1] == len(self.arrays["weight"]):
            into = np.column_stack([np.arange(out.shape[1]) == j[known][:, None], into])  # factors are the columns
        scores = rows[:, :-1] @ (z @ into)
        own = (into[:, : out.shape[1]] * out).sum(1)  # an item does not predict itself
        scores[items[known]] -= z * own * self._array("undo")[items[known]]
        return scores

    def _neighbours(self, items, user):
        np = _numpy()
        neighbours = self.arrays["neighbours"]
        if "reported" in self.arrays:
            if user is None:
                raise ValueError("the history of this model is what users reported: name a user")
            bits = np.unpackbits(self.arrays["reported"][user], bitorder="little")
            items = np.flatnonzero(bits[: len(neighbours)])
        has = np.zeros(len(neighbours) + 1)
        has[items] = 1
        return (has[np.where(neighbours >= 0, neighbours, -1)] * self.arrays["similarities"]).sum(1)
