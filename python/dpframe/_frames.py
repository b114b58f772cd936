# SPDX-License-Identifier: Apache-2.0
"""Records from Python to files that the program reads."""

import numbers
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _errors

PathLike = Union[str, "os.PathLike[str]"]
ROLES = ("user", "item", "rating", "time")
_HEADER = ("user", "item", "rating", "timestamp")  # names that `column.* = auto` knows
_DELIMITERS = {
    "comma": ",", "tab": "\t", "semicolon": ";", "space": " ", "spaces": " ", "pipe": "|", "double-colon": "::",
}
_FORMATS = {"csv": ",", "tsv": "\t", "recbole": "\t", "movielens-100k": "\t", "movielens-1m": "::"}
_RECBOLE = ("user_id:token", "item_id:token", "rating:float", "timestamp:float")


def pandas():
    """The module, or MissingPackageError with what to install."""
    try:
        import pandas as module
    except ImportError as missing:
        raise _errors.missing_package("data frames need pandas", missing) from missing
    return module


def _is_frame(records: Any) -> bool:
    return hasattr(records, "columns") and hasattr(records, "itertuples")


def _rows(records: Any, columns: Optional[Sequence[str]]) -> List[tuple]:
    """Rows of a DataFrame, or of an iterable of tuples."""
    if _is_frame(records):
        chosen = records[list(columns)] if columns else records
        if chosen.isna().any().any():
            raise ValueError("the frame has missing values: drop them, or fill them, before it is written")
        return list(chosen.itertuples(index=False, name=None))
    return [tuple(row) for row in records]


def _text(value: Any, is_id: bool) -> str:
    """An id or a number. Pandas makes ids of a column with gaps floats: 7.0 is the id 7; 7.5 is none."""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        if is_id and value != int(value):
            raise ValueError(f"{value!r} is no id: ids are texts or whole numbers")
        return str(int(value)) if value == int(value) else repr(float(value))
    return str(value)


def _write(path: PathLike, rows: Iterable[Sequence[str]], delimiter: str, quotes: bool) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        for row in rows:
            fields = []
            for field in row:
                if "\n" in field or "\r" in field:
                    raise ValueError(f"{field!r} has a line end: no id can have one")
                if delimiter in field or (quotes and '"' in field):
                    if not quotes:
                        raise ValueError(f"{field!r} contains the delimiter {delimiter!r} of the run's files")
                    field = '"' + field.replace('"', '""') + '"'
                fields.append(field)
            stream.write(delimiter.join(fields) + "\n")


def write_csv(records: Any, path: PathLike, columns: Optional[Sequence[str]] = None) -> List[str]:
    """
    Writes records as a CSV file with a header. Returns its names.

    records: a pandas DataFrame, of which `columns` (all by default) are user, item, then rating and time where there
    are any, in this order; or an iterable of such tuples. Ids are texts or whole numbers. Configure [data] format =
    csv, header = yes, and column.user, column.item, ... with the names that are returned.
    """
    rows = _rows(records, columns)
    width = len(columns) if columns else len(records.columns) if _is_frame(records) else len(rows[0]) if rows else 2
    if not 2 <= width <= len(ROLES):
        raise ValueError(
            f"{width} columns: records are user, item, then rating and time where there are any; choose with columns="
        )
    if any(len(row) != width for row in rows):
        raise ValueError("all records need as many fields as the first one")
    if columns or _is_frame(records):
        names = [str(name) for name in (columns or records.columns)]
    else:
        names = list(_HEADER[:width])
    body = ([_text(value, place < 2) for place, value in enumerate(row)] for row in rows)
    _write(path, [names, *body], ",", True)
    return names


def settings_of(path: PathLike, names: Sequence[str]) -> Dict[str, Any]:
    """The keys that declare a file of write_csv, whatever the configuration says of its own file."""
    columns = {f"data.column.{role}": name for role, name in zip(ROLES, names)}
    for role in ROLES[len(names):]:
        columns[f"data.column.{role}"] = "none"
    return {"data.format": "csv", "data.delimiter": "", "data.header": True, "data.fields": 0, "data.path": path, **columns}


def _layout(data: Mapping[str, str], form: str, width: int) -> List[Optional[str]]:
    """
    The columns of a line in the run's form: what stands in each, a role or None. Roles that the run does not name, and
    that no record has, are left out.
    """
    named = {role: data.get(f"column.{role}", "auto") for role in ROLES}
    asked = [role for place, role in enumerate(ROLES) if place < width or named[role] not in ("auto", "none")]
    places = {int(named[role]) - 1: role for role in asked if named[role].isdigit()}
    free = (place for place in range(len(ROLES) + max(places, default=0) + 1) if place not in places)
    for role in asked:
        if not named[role].isdigit():
            places[next(free)] = role
    fields = 4 if form == "movielens-100k" or form == "movielens-1m" else int(data.get("fields") or 0)
    return [places.get(place) for place in range(max(fields, max(places) + 1))]


def write_like(records: Any, path: PathLike, data: Mapping[str, str], values: bool) -> None:
    """
    Writes records as [data] of a run describes its files, each field in the run's column. Where a record has none, the
    time is 0 and a rating, which counts as an interaction alone, the largest of the range.
    values: whether the program reads ratings of it.
    """
    form = data.get("format", "csv")
    if form not in _FORMATS:
        raise ValueError(f"a run with [data] format = {form} reads no records from Python: name a file in that format")
    delimiter = data.get("delimiter") or _FORMATS[form]
    delimiter = _DELIMITERS.get(delimiter, delimiter)
    rows = [[_text(value, place < 2) for place, value in enumerate(row)] for row in _rows(records, None)]
    width = max((len(row) for row in rows), default=2)
    reads = data.get("feedback", "explicit") != "implicit" or data.get("threshold", "-inf") != "-inf"
    for row in rows:
        if not 2 <= len(row) <= len(ROLES) or (values and reads and len(row) < 3):
            raise ValueError(f"{tuple(row)!r}: a record is user, item, {'rating' if reads else 'then rating'} and time, "
                             f"the last where there are any")
    layout = _layout(data, form, width)
    inside = data.get("value-max") or "1"  # a rating that nobody reads must lie in the range all the same
    absent = {"rating": "1" if inside == "inf" else inside}
    lines = [
        [row[ROLES.index(role)] if role and ROLES.index(role) < len(row) else absent.get(role, "0") for role in layout]
        for row in rows
    ]
    has_header = form == "recbole" or data.get("header") == "yes" or (
        form in ("csv", "tsv") and any(not n.isdigit() and n not in ("auto", "none") for n in
                                       (data.get(f"column.{role}", "auto") for role in ROLES)))
    usual = _RECBOLE if form == "recbole" else _HEADER
    names = []
    for place, role in enumerate(layout):
        name = data.get(f"column.{role}", "auto") if role else f"field{place + 1}"
        names.append(usual[ROLES.index(role)] if role and (name in ("auto", "none") or name.isdigit()) else name)
    _write(path, [names, *lines] if has_header else lines, delimiter, form == "csv")


def convert_parquet(source: PathLike, path: PathLike, columns: Optional[Sequence[str]] = None) -> List[str]:
    """A Parquet file as CSV, through pandas and the engine that it has (pyarrow or fastparquet). See write_csv."""
    return write_csv(pandas().read_parquet(source), path, columns)
