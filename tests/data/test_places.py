"""Places: what is remote, what is refused, and what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcifr.data.files import StoragePlace, is_remote
from lcifr.errors import LcifrError


@pytest.mark.parametrize("text", ["s3://bucket/a/b", "gs://bucket/a", "s3:/bucket/a/b", "S3://bucket/a"])
def test_a_uri_is_remote_however_pathlib_folds_it(text: str) -> None:
    assert is_remote(text)
    assert is_remote(Path(text))
    assert StoragePlace.of(Path(text)) == StoragePlace.of(text)
    assert "://" in StoragePlace.of(Path(text)).text


@pytest.mark.parametrize("text", ["people.parquet", "/data/a", "C:/data/a", "a:b", "./s3:/x"])
def test_a_path_is_not(text: str) -> None:
    assert not is_remote(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://key:hidden@bucket/a",
        "s3://key@bucket/a",
        "s3://bucket/a?secret_key=hidden",
        "s3://b/a?access_key=hidden",
        "abfs://c/a?account_key=hidden",
        "abfs://c/a?sv=2024&sig=hidden",
    ],
)
def test_credentials_in_a_uri_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(LcifrError, match="holds credentials") as refused:
        StoragePlace.of(text)
    assert "hidden" not in str(refused.value)


def test_the_digest_of_a_local_place_is_that_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one").write_text("1")
    first = StoragePlace.of(tmp_path / "a").digest()
    (tmp_path / "a/one").write_text("1")
    assert StoragePlace.of(tmp_path / "a").digest() == first
    (tmp_path / "a/one").write_text("2")
    assert StoragePlace.of(tmp_path / "a").digest() != first
    with pytest.raises(LcifrError, match="no such file"):
        StoragePlace.of(tmp_path / "b").digest()


def test_two_names_in_a_store_are_never_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A # begins what a URI leaves aside, and other signs are written with %, with an endpoint and without."""
    with pytest.raises(LcifrError, match="%23"):
        StoragePlace.of("s3://bucket/run#2")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert StoragePlace.of("s3://bucket/run%232").path == "bucket/run#2"
    assert StoragePlace.of("S3://bucket/a") == StoragePlace.of("s3://bucket/a")
