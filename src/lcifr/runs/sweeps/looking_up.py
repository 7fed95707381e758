"""People looked up in a sweep's folder, for whatever it was that was swept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.folders.run import fitting_together, read_result
from lcifr.runs.folders.settings import RunSettings

if TYPE_CHECKING:
    from lcifr.runs.auditing.certify_result import CertifyResult
    from lcifr.runs.auditing.certifying import CertifyRequest
    from lcifr.runs.events import Listener
    from lcifr.runs.models.certifying import ModelCertifyRequest


def certify_swept(
    folder: Path,
    people: Path,
    options: Mapping[str, Any],
    listener: Listener | None = None,
    *,
    argv: tuple[str, ...] = (),
) -> CertifyResult:
    """Certify new people for the very model and φ that were swept, as the sweep's settings name them.

    Parameters
    ----------
    people : a table. options : ``out``, ``id_column``, ``workers``, ``chunk`` and ``force``, as for ``certify``.
    """
    from lcifr.runs.auditing.certifying import CertifyRequest, certify
    from lcifr.runs.models.certifying import certify_model

    with fitting_together(folder):
        request = _as_swept(folder, people, options)
    if isinstance(request, CertifyRequest):
        return certify(request, listener, argv=argv)
    return certify_model(request, listener, argv=argv)


def _as_swept(folder: Path, people: Path, options: Mapping[str, Any]) -> CertifyRequest | ModelCertifyRequest:
    from lcifr.runs.auditing.certifying import CertifyRequest
    from lcifr.runs.models.certifying import ModelCertifyRequest

    asked = _swept_arguments(folder)
    shared: dict[str, Any] = {**options, "sweep": folder, "arithmetic": asked["arithmetic"]}
    shared["labels"] = options.get("labels") or asked.get("labels") or {}
    if "producer" in asked:
        _refuse_another_formula(folder, asked["phi"])
        producer, consumer = Path(asked["producer"]), Path(asked["consumer"])
        return CertifyRequest(people=people, producer=producer, consumer=consumer, **shared)
    described = asked["describe"]
    return ModelCertifyRequest(
        model=Path(asked["model"]),
        describe=None if described is None else Path(described),
        missing=asked.get("missing"),
        table=people,
        reference=Path(asked["reference"] or asked["table"]),
        phi=asked["phi"],
        schema=asked["schema"],
        target=asked["target"],
        tolerance=asked["tolerance"],
        accept_draft=bool(asked.get("accept_draft")),  # as they were accepted for the sweep
        accept_accuracy=bool(asked.get("accept_accuracy")),
        groups=tuple(map(tuple, asked["groups"])),
        **shared,
    )


def _refuse_another_formula(folder: Path, phi: str | None) -> None:
    if phi is not None:
        raise LcifrError(
            f"{folder} was swept for {phi}, not for the producer's φ, which certificates of folders are about",
            fix="sweep without --phi, or leave --sweep out",
        )


def _swept_arguments(folder: Path) -> Mapping[str, Any]:
    """What the sweep was asked about; refused where one of these files is no longer there."""
    read_result(folder, "sweep")
    settings = RunSettings.read(folder)
    for name, one in settings.inputs.items():
        if not Path(one.path).exists():
            raise LcifrError(
                f"{one.path} ({name}), which {folder} was made from, is not there",
                fix="run it where the sweep was run, or say what is asked about: --model, --phi, --reference, …",
            )
    return settings.arguments
