# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of dpframe (PEP 517) with the standard library alone, so that it installs without a network."""

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dpframe"
SUMMARY = "Run dpframe, a framework for differentially private matrix-factorization recommenders, from Python"


def _version():
    """The package's own __version__, without importing it."""
    for line in (PACKAGE / "__init__.py").read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__ = "):
            return line.split('"')[1]
    raise ValueError(f"{PACKAGE / '__init__.py'} has no line __version__ = \"...\"")


def _metadata():
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: dpframe",
            f"Version: {_version()}",
            f"Summary: {SUMMARY}",
            "License: Apache-2.0",
            "Requires-Python: >=3.9",
            "Provides-Extra: numpy",
            "Requires-Dist: numpy; extra == 'numpy'",
            "Provides-Extra: pandas",
            "Requires-Dist: numpy; extra == 'pandas'",
            "Requires-Dist: pandas; extra == 'pandas'",
            "",
        ]
    ).encode()


def _write_wheel(directory, files):
    """files: (name in the archive, bytes). Times are fixed, so equal sources make equal wheels."""
    info = f"dpframe-{_version()}.dist-info"
    files = files + [
        (f"{info}/METADATA", _metadata()),
        (f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: dpframe_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    ]
    record = []
    name = f"dpframe-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
            wheel.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
        record.append(f"{info}/RECORD,,")
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), "\n".join(record) + "\n")
    return name


def _sources():
    return sorted(path for path in PACKAGE.iterdir() if path.suffix == ".py" or path.name == "py.typed")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [(f"dpframe/{path.name}", path.read_bytes()) for path in _sources()])


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that points at this directory (PEP 660)."""
    return _write_wheel(wheel_directory, [("dpframe.pth", f"{ROOT}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    top = f"dpframe-{_version()}"
    paths = [ROOT / "pyproject.toml", Path(__file__).resolve(), *_sources()]
    with tarfile.open(Path(sdist_directory) / f"{top}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            archive.add(path, f"{top}/{path.relative_to(ROOT)}")
        entry = tarfile.TarInfo(f"{top}/PKG-INFO")
        entry.size = len(_metadata())
        archive.addfile(entry, io.BytesIO(_metadata()))
    return f"{top}.tar.gz"
