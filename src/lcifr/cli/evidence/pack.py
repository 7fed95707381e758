"""``lcifr evidence pack``: everything a regulator needs of an audit in one signed archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: lcifr evidence pack audit --out evidence.zip")(pack)


def pack(
    folder: Annotated[Path, typer.Argument(metavar="AUDIT", help="The folder that `lcifr audit` wrote.")],
    out: Annotated[Path, typer.Option(metavar="FILE.zip", help="The new archive.")],
    key: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign it with this private key of OpenSSH (ed25519).")
    ] = None,
    author: Annotated[
        str,
        typer.Option(envvar="LCIFR_AUTHOR", help="Who answers for the report, named at its top.", show_default=False),
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE", help="Compare rates by this attribute, and by pairs. (Default: the audit's.)"
        ),
    ] = None,
    favourable: Annotated[
        str | None,
        typer.Option(metavar="DECISION", help="The decision that people want. (Default: the second of two.)"),
    ] = None,
    unknown: Annotated[
        list[str] | None, typer.Option(metavar="VALUE", help="A value that stands for an unknown category.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Pack an audit as evidence: report, model card, φ in English, proofs, the checker's word, tables by group.

    Inside are HOW-TO-CHECK.md, one page with which anybody checks all of it in five minutes, and the list of all files,
    signed with --key. The same audit gives the same bytes, apart from the time (SOURCE_DATE_EPOCH names another one).

    The pack is private: it shows people's attributes.
    """
    from lcifr.report.pack.pack import PackRequest, write_pack

    done = write_pack(
        PackRequest(
            folder=folder,
            out=out,
            key=key,
            author=author,
            by=tuple(by) if by else None,
            favourable=favourable,
            unknown=tuple(unknown or ()),
        )
    )
    if as_json:
        print_json(done.to_dict())
        return
    say(f"{out}: {done.files} files, SHA-256 {done.sha256}")
    refuted = f"{done.violated} with a counterexample"
    say(f"  of {done.people} people {done.certified} certified, {refuted}, {done.undecided} undecided")
    say(f"  signed by {done.key} at {done.time}" if done.key else "  not signed: nobody can tell who made it (--key)")
    if not done.confirmed:
        to_stderr("Warning: the checker does not confirm all proofs; checker-report.txt in the pack says which.")
    to_stderr("It shows people’s attributes: share it with care.")
