"""Errors of the operating system are said like all others: where, what, and ``Fix:``."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lcifr.errors import no_such_file, system_error


def test_a_missing_file_is_named_and_its_neighbour_offered(tmp_path: Path) -> None:
    """Arrow raises with the path as the only argument, the system with a number and a name."""
    (tmp_path / "people.parquet").touch()
    path = str(tmp_path / "peple.parquet")
    for error in (FileNotFoundError(path), FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)):
        assert str(system_error(error)) == (
            f'{path}: there is no such file. Did you mean "people.parquet"?\nFix: check the path'
        )


@pytest.mark.parametrize("number", [errno.EACCES, errno.EISDIR, errno.ENOTDIR, errno.ENOSPC, errno.EIO])
def test_every_error_of_the_system_says_where_what_and_what_to_do(number: int) -> None:
    said = str(system_error(OSError(number, os.strerror(number), "out/people.csv")))
    assert said.startswith(f"out/people.csv: {os.strerror(number)}\nFix: ")
    assert "\nFix: " in str(system_error(OSError("the store does not answer")))


def test_files_that_programs_keep_for_themselves_are_not_suggested(tmp_path: Path) -> None:
    for name in (".a_frac.lock", "a_frac.lock", "a_frac.csv~", ".a_frac.csv", "a_frac.tmp"):
        (tmp_path / name).touch()
    assert "Did you mean" not in str(no_such_file(tmp_path / "a_frac"))
    (tmp_path / "a_fract").touch()
    assert 'Did you mean "a_fract"?' in str(no_such_file(tmp_path / "a_frac"))
