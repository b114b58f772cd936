# SPDX-License-Identifier: Apache-2.0
"""What is asked of a finished run: lists, predictions, neighbours, metrics, comparisons, pages."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from . import _frames, _program

RunLike = Union[str, "os.PathLike[str]"]  # a Run is one, too


class Recommendation(NamedTuple):
    """An item of a user's list. A list is private: for its own user's eyes. name: of [data] item-names, or ""."""

    user: str
    item: str
    rank: int
    score: float
    name: str = ""


class Prediction(NamedTuple):
    """value is None where the model does not know the user or the item."""

    user: str
    item: str
    value: Optional[float]
    name: str = ""


class Similar(NamedTuple):
    """weight: a cosine of factors, or a recommender's weight."""

    item: str
    similar: str
    rank: int
    weight: float
    name: str = ""


class Rows(list):
    """A list of named tuples, that becomes a pandas DataFrame on request."""

    def to_frame(self):
        columns = self[0]._fields if self else None
        return _frames.pandas().DataFrame(list(self), columns=columns)


def _table(printed: str) -> List[Dict[str, Any]]:
    """JSON Lines. A line feed alone ends a line: other line ends of Unicode may be part of an id."""
    return [json.loads(line) for line in printed.split("\n") if line]


def _data_of(run: RunLike) -> Mapping[str, str]:
    """[data] of the run's configuration."""
    with open(Path(run) / "run.json", encoding="utf-8") as stream:
        return json.load(stream)["config"].get("data", {})


def _lines(path: Path, ids: Iterable[Any]) -> Path:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        stream.writelines(f"{name}\n" for name in ids)
    return path


def _records(run: RunLike, data: Any, directory: Path, values: bool) -> Any:
    """The path of a file of records, which is written if they are not in one."""
    if isinstance(data, (str, os.PathLike)):
        return Path(data)
    path = directory / "records.txt"
    _frames.write_like(data, path, _data_of(run), values)
    return path


def recommend(
    run: RunLike,
    user: Any = None,
    n: int = 10,
    *,
    data: Any = None,
    candidates: Optional[Iterable[Any]] = None,
    exclude: Optional[Iterable[Any]] = None,
) -> Rows:
    """
    The n best unseen items of a user, or, with user = None, of every user: Rows of Recommendation.

    data: for these records in place of those of the run: a DataFrame of user, item, and rating and time where the
    run has them, tuples of these, or the path of a file in the run's own form. candidates: among these items alone.
    exclude: without these. A list is private: its own user alone may see it.
    """
    with tempfile.TemporaryDirectory(prefix="dpframe-") as temporary:
        place = Path(temporary)
        arguments: List[Any] = ["recommend", Path(run), "-n", n, "--json", "--output"]
        listed = place / "lists.jsonl"
        arguments += [listed, "--all"] if user is None else [listed, "--user", user]
        if data is not None:
            arguments += ["--data", _records(run, data, place, True)]
        if candidates is not None:
            arguments += ["--candidates", _lines(place / "candidates.txt", candidates)]
        if exclude is not None:
            arguments += ["--exclude", _lines(place / "exclude.txt", exclude)]
        _program.call(arguments)
        printed = listed.read_bytes().decode("utf-8", "surrogateescape")
    return Rows(
        Recommendation(row["user"], row["item"], row["rank"], float(row["score"]), row.get("name", ""))
        for row in _table(printed)
    )


def predict(run: RunLike, pairs: Any) -> Rows:
    """
    Predictions for pairs of user and item, in their order: Rows of Prediction.

    pairs: a DataFrame of user and item, tuples, or the path of a file in the run's own form. Private: computed from
    the users' own factors and records.
    """
    with tempfile.TemporaryDirectory(prefix="dpframe-") as temporary:
        path = _records(run, pairs, Path(temporary), False)
        printed = _program.call(["predict", Path(run), path, "--json", "--format", "jsonl"])
    return Rows(
        Prediction(row["user"], row["item"], row["prediction"], row.get("name", ""))
        for row in _table(printed)
    )


def similar(run: RunLike, item: Any, n: int = 10) -> Rows:
    """The n items that are most similar to an item, by the model alone: Rows of Similar."""
    rows = _table(_program.call(["similar", Path(run), "--item", item, "-n", n, "--json", "--format", "jsonl"]))
    return Rows(
        Similar(row["item"], row["similar"], row["rank"], float(row.get("cosine", row.get("weight"))), row.get("name", ""))
        for row in rows
    )


def evaluate(run: RunLike, data: Any = None, settings: Optional[Mapping[str, Any]] = None) -> Dict[str, float]:
    """
    Metrics of a finished run on its own test part, or on other records (as in recommend). settings: keys of
    [evaluate], such as {"evaluate.metrics": "ndcg", "evaluate.top-k": 5}. Private: not covered by the guarantee.
    """
    with tempfile.TemporaryDirectory(prefix="dpframe-") as temporary:
        arguments: List[Any] = ["evaluate", Path(run), "--json"]
        if data is not None:
            arguments += ["--data", _records(run, data, Path(temporary), True)]
        for key, value in (settings or {}).items():
            arguments += ["-o", f"{key}={_program._text(value)}"]
        return json.loads(_program.call(arguments))


def compare(baseline: RunLike, *runs: RunLike) -> Rows:
    """
    Finished runs against the first one, user by user, as `dpframe compare` prints them: a dictionary for each run and
    metric, with "difference", "low", "high" (95 %), "p", "p_holm", "wins", "losses" and "verdict"; "why_not" says why
    there is no p. Private: computed from test records.
    """
    printed = _program.call(["compare", *map(Path, (baseline, *runs)), "--json"])
    return _Dictionaries(json.loads(printed))


class _Dictionaries(Rows):
    def to_frame(self):
        return _frames.pandas().DataFrame(list(self))


def page(run: RunLike, output: Optional[RunLike] = None) -> Path:
    """
    Writes one HTML file that recommends in a browser from the released model, as `dpframe page` does; by default into
    release/ of the run. Returns its path.
    """
    place = Path(output) if output is not None else Path(run) / "release" / "page.html"
    _program.call(["page", Path(run), "--output", place, "--json"])
    return place


def report(directory: RunLike) -> Path:
    """Writes the page of a run or a sweep. Returns its path."""
    _program.call(["report", Path(directory), "--json"])
    place = Path(directory)
    page = place / "private" / "report.html"
    return page if page.exists() else place / "report.html"
