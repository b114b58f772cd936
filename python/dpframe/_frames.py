# SPDX-License-Identifier: Apache-2.0
"""Records from pandas to files that the program reads."""

from . import _results


def write_csv(frame, path, columns=None):
    """
    Writes the columns of a DataFrame (user, item, then rating and time where there are any; all by default) as a
    CSV file with a header. Configure [data] format = csv, path and header = yes.
    """
    chosen = frame[list(columns)] if columns else frame
    if chosen.shape[1] < 2:
        raise ValueError("records need at least two columns: user and item")
    if chosen.isna().any().any():
        raise ValueError("the frame has missing values: drop them, or fill them, before it is written")
    chosen.to_csv(path, index=False)


def convert_parquet(source, path, columns=None):
    """A Parquet file as CSV, through pandas and the engine that it has (pyarrow or fastparquet)."""
    write_csv(_results._pandas().read_parquet(source), path, columns)
