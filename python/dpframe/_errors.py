# SPDX-License-Identifier: Apache-2.0
"""What the program reports, as exceptions."""

import json


class Error(Exception):
    """A command failed. The text names place, problem and remedy; the parts are None where they are not known."""

    def __init__(self, message, file=None, line=None, key=None, value=None, exit_code=1, remedy=None):
        super().__init__(message)
        self.file = file
        self.line = line
        self.key = key
        self.value = value
        self.remedy = remedy
        self.exit_code = exit_code


class RunError(Error):
    """The run failed: no memory, no room on the disk. Exit code 1; after an interruption minus the signal's number."""


class ConfigurationError(Error):
    """The configuration or the call is wrong. Exit code 2."""


class DataError(Error):
    """The data is wrong. Exit code 3."""


class PluginError(Error):
    """A plugin is wrong. Exit code 4."""


class MissingPackageError(Error, ImportError):
    """A package of Python that this needs is not installed. Nothing has been done."""


def missing_package(what, missing):
    """The exception for a package that cannot be imported."""
    return MissingPackageError(f"{what}: install it (Debian: python3-{missing.name})")


# Options that messages of the program name, as they are called here.
_IN_PYTHON = (("--data FILE", "data="), ('--user "', 'user "'), ("--all makes", "user = None makes"))


def _in_python(text):
    for option, name in _IN_PYTHON:
        text = text.replace(option, name) if text else text
    return text


_BY_CODE = {1: RunError, 2: ConfigurationError, 3: DataError, 4: PluginError}


def from_program(exit_code, stderr):
    """The exception for an exit code and what was written to standard error; warnings may come first."""
    kind = _BY_CODE.get(exit_code, RunError)
    for text in reversed(stderr.splitlines()):
        try:
            parts = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            continue
        return kind(_in_python(parts["message"]), parts["file"], parts["line"], parts["key"], parts["value"], exit_code,
                    _in_python(parts.get("remedy")))
    return kind(stderr.strip() or f"dpframe ended with exit code {exit_code}", exit_code=exit_code)
