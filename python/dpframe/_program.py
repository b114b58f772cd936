# SPDX-License-Identifier: Apache-2.0
"""Calls of the program."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

from . import _errors, _frames, _guarantee, _results

PathLike = Union[str, "os.PathLike[str]"]
Settings = Optional[Mapping[str, Any]]


@dataclass(frozen=True)
class Progress:
    """How far the program is. total is 0 where it is not known."""

    what: str
    done: int
    total: int


def _executable() -> str:
    path = os.environ.get("DPFRAME") or shutil.which("dpframe")
    if not path:
        raise _errors.RunError(
            "the program dpframe was not found: install it, or set the environment variable DPFRAME to its path"
        )
    return path


def _text(value: Any) -> str:
    """A Python value as it stands in a configuration."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(part) for part in value)
    return str(value)


def _progress_of(line: str) -> Optional[Progress]:
    if not line.startswith('{"progress"'):
        return None
    parts = json.loads(line)["progress"]
    return Progress(parts["what"], parts["done"], parts["total"])


def _listen(stream, kept: List[str], progress: Callable[[Progress], None], failed: List[BaseException]) -> None:
    for line in stream:
        step = _progress_of(line)
        if step is None:
            kept.append(line)
        elif not failed:
            try:
                progress(step)
            except BaseException as problem:  # the caller's: it ends the program, and is raised by call
                failed.append(problem)


def _watched(command: List[Any], progress: Callable[[Progress], None]):
    kept: List[str] = []
    failed: List[BaseException] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape"
    ) as process:
        printed: List[str] = []
        reader = threading.Thread(target=lambda: printed.append(process.stdout.read()))
        reader.start()
        try:
            for line in process.stderr:
                _listen([line], kept, progress, failed)
                if failed:
                    break
        except BaseException as problem:
            failed.append(problem)
        if failed:
            process.terminate()
            process.stderr.read()
        reader.join()
    if failed:
        raise failed[0]
    return process.returncode, printed[0], "".join(kept)


def call(arguments, progress: Optional[Callable[[Progress], None]] = None) -> str:
    """Runs the program; returns what it printed. Raises Error."""
    command = [_executable(), *map(_argument, arguments)]
    if progress:
        code, printed, errors = _watched([*command, b"-v"], progress)
    else:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
        )
        code, printed, errors = done.returncode, done.stdout, done.stderr
    if code != 0:
        raise _errors.from_program(code, errors)
    return printed


def _argument(value: Any) -> Union[str, bytes]:
    """Paths as the system has them; texts, ids among them, as UTF-8 whatever the locale is."""
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    return str(value).encode("utf-8", "surrogateescape")


def _configured(config: PathLike, settings: Settings) -> List[Any]:
    overrides: List[Any] = []
    for key, value in (settings or {}).items():
        overrides += ["-o", f"{key}={_text(value)}"]
    return ["-c", Path(config), *overrides]


@contextlib.contextmanager
def with_records(settings: Settings, data: Any, directory: Optional[Path] = None) -> Iterator[Dict[str, Any]]:
    """The settings by which `data`, a DataFrame or the path of a file, is read. A frame becomes a file in
    `directory`, else in one that goes at the end."""
    if data is None:
        yield dict(settings or {})
        return
    if isinstance(data, (str, os.PathLike)):
        yield {**(settings or {}), "data.path": data}
        return
    with contextlib.ExitStack() as stack:
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpframe-")))
        path = directory / "records.csv"
        columns = _frames.write_csv(data, path)
        yield {**_frames.settings_of(path, columns), **(settings or {})}


def run(
    config: PathLike,
    settings: Settings = None,
    output: Optional[PathLike] = None,
    *,
    data: Any = None,
    progress: Optional[Callable[[Progress], None]] = None,
) -> "_results.Run":
    """
    Trains and evaluates. Returns a Run.

    settings: {"section.key": value}, over the file. output: the directory of results; without it a temporary one,
    which goes with the Run. data: records in place of those of the file: a pandas DataFrame whose columns are user,
    item, and then rating and time where there are any, or the path of a file. progress: called with a Progress while
    it works; an exception in it ends the run.
    """
    temporary = tempfile.mkdtemp(prefix="dpframe-") if output is None else None
    directory = Path(output) if output is not None else Path(str(temporary)) / "run"
    try:
        kept = Path(temporary) if temporary else None
        with with_records(settings, data, kept) as changed:
            call(["run", *_configured(config, changed), "-O", directory, "--json"], progress)
        result = _results.Run(directory)
    except BaseException:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary:
        weakref.finalize(result, shutil.rmtree, temporary, ignore_errors=True)
    return result


def sweep(
    config: PathLike,
    settings: Settings = None,
    output: Optional[PathLike] = None,
    jobs: Optional[int] = None,
    resume: bool = False,
    *,
    data: Any = None,
    progress: Optional[Callable[[Progress], None]] = None,
):
    """Runs every point of a sweep. Returns a pandas DataFrame of results.csv: a row for each point and metric."""
    _frames.pandas()  # before hours of training
    with tempfile.TemporaryDirectory(prefix="dpframe-") as temporary:
        directory = Path(output or Path(temporary) / "sweep")
        with with_records(settings, data) as changed:
            arguments = ["run", *_configured(config, changed), "-O", directory, "--json"]
            if jobs:
                arguments += ["--jobs", jobs]
            if resume:
                arguments.append("--resume")
            call(arguments, progress)
        return _results.read_table(directory / "results.csv")


def account(config: PathLike, settings: Settings = None, *, data: Any = None) -> _guarantee.Guarantee:
    """The privacy statement, without training."""
    with with_records(settings, data) as changed:
        return _guarantee.from_json(json.loads(call(["account", *_configured(config, changed), "--json"])))


def check(config: PathLike, settings: Settings = None, *, data: Any = None) -> _guarantee.Guarantee:
    """Validates a configuration as `dpframe check` does. Returns its Guarantee; raises Error if it is wrong."""
    with with_records(settings, data) as changed:
        call(["check", *_configured(config, changed), "--json"])
        return account(config, changed)


def _stem(name: str) -> str:
    """ratings.csv.gz -> ratings, as the program does."""
    end = name.find(".", 1)
    return name if end < 0 else name[:end]


def start(file: PathLike, output: Optional[PathLike] = None, **facts: Any) -> Path:
    """
    Writes a commented configuration for a file of records, as `dpframe start` does. Returns its path.

    facts: those of `dpframe start --help`, with _ for -: feedback="implicit", users=1000, value_min=1, epsilon=1;
    those with a dot as **{"item-features.categories": "genres"}.
    output: where it is written; by default FILE's name with .ini in the working directory.
    """
    path = Path(output) if output is not None else Path(_stem(Path(file).name) + ".ini")
    given = [f"{name.replace('_', '-')}={_text(value)}" for name, value in facts.items()]
    call(["start", Path(file), *given, "--output", path, "--json"])
    return path
