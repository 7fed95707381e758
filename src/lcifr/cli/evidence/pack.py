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
    out: Annotated[Path, typer.Option("--out", metavar="FILE.zip", help="The new archive.")],
    key: Annotated[
        Path | None, typer.Option("--key", metavar="KEY", help="Sign it with this OpenSSH private key (ed25519).")
    ] = None,
    author: Annotated[
        str,
        typer.Option(envvar="LCIFR_AUTHOR", help="The author, named at the top of the report.", show_default=False),
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="ATTRIBUTE", help="Compare rates by this attribute. Repeatable. (Default: as in the audit.)"
        ),
    ] = None,
    favourable: Annotated[
        str | None,
        typer.Option("--favourable", metavar="DECISION", help="The favourable decision. (Default: the second of two.)"),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option("--unknown", metavar="VALUE", help="A value that stands for an unknown category. Repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Pack an audit into one archive: report, model card, φ in English, proofs, checker's report, tables by group.

    HOW-TO-CHECK.md in the archive explains on one page how to check everything in five minutes. With --key, the list of
    all files is signed. The same audit gives the same bytes except for the time (set it with SOURCE_DATE_EPOCH).

    The pack shows people's attributes: treat it as private.
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
    refuted = f"{done.violated:,} with a counterexample"
    gone = f", {done.not_examined:,} not examined" if done.not_examined else ""
    rows = done.people + done.not_examined
    say(f"  {rows:,} people: {done.certified:,} certified, {refuted}, {done.undecided:,} undecided{gone}")
    say(
        f"  signed by {done.key} at {done.time}"
        if done.key
        else "  not signed: use --key so that readers can tell who made it"
    )
    if not done.confirmed:
        to_stderr("Warning: the checker does not confirm all proofs; see checker-report.txt in the pack.")
    to_stderr("It shows people’s attributes: share it with care.")
