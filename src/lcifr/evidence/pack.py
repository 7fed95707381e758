"""The evidence pack: one signed archive with a page, tables, proofs, and how to check all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcifr.check.bundle import ENCODER, ENCODING, MANIFEST, MODEL, PEOPLE, SIMILARITY
from lcifr.data.files import moment, now, sha256_of, versions
from lcifr.errors import LcifrError, did_you_mean
from lcifr.evidence.group_rates import GroupRates, find_group_rates
from lcifr.evidence.model_card import model_card
from lcifr.evidence.signing import LIST, SIGNATURE, SIGNED, list_of, stamp, write_archive
from lcifr.evidence.ssh_signature import NAMESPACE, fingerprint, read_private_key, sign
from lcifr.report.content import Report
from lcifr.report.folder import read_folder
from lcifr.report.markdown import markdown_table
from lcifr.report.page import render
from lcifr.workflows.auditing import PATIENCE
from lcifr.workflows.checking import CheckRequest, check
from lcifr.workflows.events import step
from lcifr.workflows.folders import fitting_together
from lcifr.workflows.options import REQUIRED, argument, option
from lcifr.workflows.results import AuditResult, CommandResult

# Who gets the favourable decision, read from the folder of an audit, for tables by group.


@dataclass(frozen=True, eq=False)
class SelectedPeople:
    """People of an audit; selected : (people,) who gets the favourable decision. groups : attributes of the audit."""

    people: pd.DataFrame
    selected: NDArray[np.bool_]
    favourable: str
    groups: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path, result: AuditResult, favourable: str | None) -> SelectedPeople:
        """From the files of an audit."""
        people = pd.read_parquet(folder / "people.parquet")
        predicted = pd.read_parquet(folder / "audited" / "audit.parquet", columns=["prediction"])["prediction"]
        groups = tuple(result.statement.group_decisions) or _compared(result)
        if not result.model.classes:
            numbers = predicted.to_numpy(np.float64)
            return cls(people, numbers > np.median(numbers), "a prediction above the median of these people", groups)
        classes, shown = ([text(one) for one in result.model.classes] for text in (str, result.model.shown))
        named = favourable if favourable in classes or favourable not in shown else classes[shown.index(favourable)]
        chosen = _chosen(classes, named)
        words = f"the decision is {shown[classes.index(chosen)]!r}"
        return cls(people, (predicted.astype(str) == chosen).to_numpy(), words, groups)

    def rates(self, by: Sequence[str] | None, unknown: Sequence[str]) -> GroupRates:
        """Rates by these attributes; by those that the audit looked at if None."""
        for name in by or ():
            if name not in self.people.columns:
                raise LcifrError(
                    f'--by: there is no attribute "{name}".{did_you_mean(name, self.people.columns)}',
                    fix=f"one of {', '.join(self.people.columns)}",
                )
        return find_group_rates(self.people, self.selected, by or self.groups, self.favourable, unknown)


def _compared(result: AuditResult) -> tuple[str, ...]:
    """Of predicted numbers no decisions are counted; the certified shares have the attributes."""
    groups = result.statement.subgroups
    return () if groups is None else tuple(dict.fromkeys(map(str, groups["attribute"])))


def _chosen(classes: list[str], favourable: str | None) -> str:
    if favourable is None:
        if len(classes) != 2:
            raise LcifrError(
                f"the model decides between {len(classes)} classes: which one is favourable?",
                fix=f"say --favourable {classes[-1]!r}, or another of {', '.join(classes)}",
            )
        return classes[1]
    if favourable not in classes:
        raise LcifrError(
            f"--favourable {favourable!r}: the model decides between {', '.join(classes)}."
            + did_you_mean(favourable, classes),
            fix=f"say --favourable {classes[-1]!r}, or another of them",
        )
    return favourable


# From the folder of an audit to the archive of its evidence pack.

FORMAT = "lcifr-pack-1"
FORMS = ("html", "md", "json")


@dataclass(frozen=True, kw_only=True)
class PackRequest:
    """Which audit to pack, and how."""

    folder: Path = argument("AUDIT", "The folder that `lcifr audit` wrote.")
    out: Path = option(REQUIRED, "The new archive.", metavar="FILE.zip")
    key: Path | None = option(None, "Sign it with this OpenSSH private key (ed25519).", metavar="KEY")
    author: str = option("", "The author, named at the top of the report.", variable="LCIFR_AUTHOR")
    by: tuple[str, ...] | None = option(
        None, "Compare rates by this attribute. Repeatable. (Default: as in the audit.)", metavar="ATTRIBUTE"
    )
    favourable: str | None = option(None, "The favourable decision. (Default: the second of two.)", metavar="DECISION")
    unknown: tuple[str, ...] = option((), "A value that stands for an unknown category. Repeatable.", metavar="VALUE")


@dataclass(frozen=True)
class WrittenPack(CommandResult):
    """A pack on file; sha256 : of the archive. key : who signed it, by fingerprint. confirmed : by the checker.

    people : who were examined. not_examined : rows of the table beside them.
    """

    format = "lcifr-evidence-packed-1"
    command = "evidence pack"

    file: str
    sha256: str
    files: int
    time: str
    key: str | None
    people: int
    certified: int
    violated: int
    undecided: int
    confirmed: bool
    not_examined: int = 0


def write_pack(request: PackRequest) -> WrittenPack:
    """Pack an audit: report, model card, φ, proofs, the checker's word, tables, and how to check all of it."""
    if request.out.suffix.lower() != ".zip" or request.out.exists():
        wrong = "already exists" if request.out.exists() else "is not a valid name for an archive"
        raise LcifrError(f"--out {request.out} {wrong}", fix="name a new file that ends in .zip")
    private = None if request.key is None else read_private_key(request.key)
    result, time = AuditResult.read(request.folder), now()
    if result.bundle is None or not (request.folder / result.bundle).is_dir():
        raise LcifrError(f"{request.folder} contains no proofs", fix="audit without --no-bundle: evidence needs them")
    written = moment().date().isoformat()
    with fitting_together(request.folder):
        rates = SelectedPeople.read(request.folder, result, request.favourable).rates(request.by, request.unknown)
    with step("Making the report"):
        report = read_folder(request.folder, author=request.author.strip(), written=written)
        made = {f"report.{form}": render(report, form).encode("utf-8", "replace") for form in FORMS}
    bundle = _folder(request.folder / result.bundle, "bundle")
    checked, code = _checked(request.folder / result.bundle)
    texts = _texts(result, report, rates, time, signed=private is not None)
    made |= bundle | checked | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    made |= {"schema.toml": (request.folder / "schema.toml").read_bytes()}
    made["digests.json"] = _json(_digests(request.folder / result.bundle, result))
    made["pack.json"] = _json(_about(request.folder, time))
    made |= _signed(made, private, time)
    write_archive(request.out, made)
    said, key = result.statement, None if private is None else fingerprint(private.public_key())
    counts = (said.people, said.certified, said.violated, said.undecided)
    return WrittenPack(
        str(request.out), sha256_of(request.out), len(made), time, key, *counts, code == 0, said.not_examined
    )


def _signed(made: dict[str, bytes], private: Any, time: str) -> dict[str, bytes]:
    """The list of all files, and its signature."""
    more = {} if private is None else {SIGNED: stamp(time)}
    listed = list_of({name: hashlib.sha256(data).hexdigest() for name, data in (made | more).items()})
    return {**more, LIST: listed, **({} if private is None else {SIGNATURE: sign(listed, private).encode()})}


def _folder(root: Path, name: str) -> dict[str, bytes]:
    """The files of a bundle; any other file there is refused, because what is packed is signed and sent."""
    known = {MANIFEST, PEOPLE, SIMILARITY, ENCODING, ENCODER, MODEL}
    for file in sorted(root.iterdir()):
        if file.name not in known or file.is_symlink() or not file.is_file():
            raise LcifrError(f"{file} is a link, or not a file of a bundle", fix="remove it, or audit again")
    return {f"{name}/{file.name}": file.read_bytes() for file in sorted(root.iterdir())}


def _checked(bundle: Path) -> tuple[dict[str, bytes], int]:
    """What ``python -m lcifr.check`` prints of the bundle, as text and as JSON; and how it ends."""
    found = check(CheckRequest(bundle, patience=PATIENCE))
    lines = "\n".join(found.lines()) + "\n"
    return {"checker-report.txt": lines.encode(), "checker-report.json": _json(found.to_dict())}, found.exit_code


def _texts(result: AuditResult, report: Report, rates: GroupRates, time: str, *, signed: bool) -> dict[str, str]:
    """What is written in words."""
    said, checked, name = result.statement, result.checked, versions().get("lcifr", "")
    assert checked is not None
    sample = "" if checked.people == checked.of else f", {checked.people:,} of {checked.of:,} drawn at random"
    words = {
        "target": result.model.target,
        "verdicts": f"Of {said.rows:,} people {said.certified:,} are certified with respect to φ, {said.violated:,} "
        f"have a counterexample, {said.undecided:,} are undecided, and {said.not_examined:,} were not examined "
        "because a value is missing.",
        "time": time,
        "version": name,
        "audited": report.about.audited or "on a day that is not on file",
        "sums": _sums(signed),
        "signed": "It is signed." if signed else "**It is not signed.**",
        "proved": f"{checked.people:,}",
        "sample": sample,
        "left_out": f"{result.left_out:,}",
        "wheel": f"lcifr_check-{name}-py3-none-any.whl",
        "key": _text("key") if signed else "",
        "both": "both" if signed else "it",
        "verify": _text("verify" if signed else "unsigned").format(namespace=NAMESPACE),
        "patience": str(PATIENCE),
        "favourable": rates.favourable,
        "source": rates.source,
    }
    tables = "\n\n".join("\n".join(markdown_table(table)) for table in rates.tables())
    phi = result.model.phi
    return {
        "README.md": _text("readme").format(**words),
        "HOW-TO-CHECK.md": _text("how_to_check").format(**words),
        "annex-iv.md": _text("annex_iv"),
        "group-rates.md": _text("group_rates").format(**words) + (tables or "No attribute was compared.") + "\n",
        "group-rates.csv": rates.to_csv(),
        "model-card.md": model_card(result, report),
        "similar.phi": phi.text,
        "similar-in-english.txt": phi.english + "\n",
    }


def _sums(signed: bool) -> str:
    """The last line of the table of files."""
    if not signed:
        return "| `SHA256SUMS` | name and SHA-256 of every other file |"
    return (
        "| `SHA256SUMS`, `SHA256SUMS.sig`, `signed.json` | name and SHA-256 of every other file; its signature; "
        "the time that the signer claims |"
    )


def _text(name: str) -> str:
    return (package_files("lcifr.evidence") / "texts" / f"{name}.md").read_text(encoding="utf-8")


def _digests(bundle: Path, result: AuditResult) -> dict[str, Any]:
    """Of people, φ, schema, encoding and models, by which a bundle knows them."""
    from lcifr.check.people import bundle_people, kinds_of

    schema = json.loads((bundle / "encoding.json").read_bytes())["schema"]
    people = bundle_people(bundle, sha256_of(bundle / PEOPLE), kinds_of(schema))
    origin = result.model.origin
    return {
        "format": "lcifr-digests-1",
        "people": {"digest": people.digest, "people": len(people.lines), "attributes": list(schema["attributes"])},
        "hashes": result.model.hashes.to_dict(),
        "model_file": None if origin is None else origin.sha256,
        "files": {file.name: sha256_of(file) for file in sorted(bundle.iterdir())},
    }


def _about(folder: Path, time: str) -> dict[str, Any]:
    from lcifr.report.folder import read_settings

    settings = read_settings(folder)
    made = None if settings is None else {"started": settings.started, "finished": settings.finished}
    return {"format": FORMAT, "written": time, "versions": versions(), "audit": made}


def _json(plain: Any) -> bytes:
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
