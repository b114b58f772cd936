# SPDX-License-Identifier: Apache-2.0
"""Calls of the program."""

import json
import os
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

from . import _errors, _guarantee, _results


def _executable():
    path = os.environ.get("DPFRAME") or shutil.which("dpframe")
    if not path:
        raise _errors.RunError(
            "the program dpframe was not found: install it, or set the environment variable DPFRAME to its path"
        )
    return path


def _text(value):
    """A Python value as it stands in a configuration."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(part) for part in value)
    return str(value)


def call(arguments):
    """Runs the program; returns what it printed. Raises Error."""
    done = subprocess.run(
        [_executable(), *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise _errors.from_program(done.returncode, done.stderr)
    return done.stdout


def _configured(config, settings):
    overrides = []
    for key, value in (settings or {}).items():
        overrides += ["-o", f"{key}={_text(value)}"]
    return ["-c", str(config), *overrides]


def run(config, settings=None, output=None):
    """
    Trains and evaluates. settings: {"section.key": value}, over the file. output: the directory of results;
    without it a temporary one, which goes with the Run. Returns a Run.
    """
    temporary = tempfile.mkdtemp(prefix="dpframe-") if output is None else None
    try:
        call(["run", *_configured(config, settings), "-O", output or Path(temporary) / "run", "--json"])
        result = _results.Run(output or Path(temporary) / "run")
    except BaseException:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary:
        weakref.finalize(result, shutil.rmtree, temporary, ignore_errors=True)
    return result


def sweep(config, settings=None, output=None, jobs=None, resume=False):
    """
    Runs every point of a sweep. Returns a pandas DataFrame of results.csv: a row for each point and metric.
    """
    with tempfile.TemporaryDirectory(prefix="dpframe-") as temporary:
        directory = Path(output or Path(temporary) / "sweep")
        arguments = ["run", *_configured(config, settings), "-O", directory, "--json"]
        if jobs:
            arguments += ["--jobs", jobs]
        if resume:
            arguments.append("--resume")
        call(arguments)
        return _results.read_table(directory / "results.csv")


def account(config, settings=None):
    """The privacy statement, without training. Returns a Guarantee."""
    return _guarantee.from_json(json.loads(call(["account", *_configured(config, settings), "--json"])))


def check(config, settings=None):
    """Validates a configuration as `dpframe check` does. Returns its Guarantee; raises Error if it is wrong."""
    call(["check", *_configured(config, settings), "--json"])
    return account(config, settings)
