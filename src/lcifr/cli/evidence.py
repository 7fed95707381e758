"""``lcifr evidence``: digests, packs, signatures, and audits by sample."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.options import IdOption, new_app
from lcifr.cli.output import JsonOption, print_json, say, to_stderr

app = new_app(help="Pack, sign and verify audits, and audit by sample.", no_args_is_help=True)


@app.command(epilog="Example: lcifr evidence digest people.csv --schema people.toml")
def digest(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The people: .csv or .parquet.")],
    schema: Annotated[str, typer.Option("--schema", metavar="FILE|NAME", help="The schema: a .toml file.")],
    id_column: IdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a digest of the people in a table: the SHA-256 of one canonical line per person, sorted by id.

    The digest does not depend on the order of rows and columns, or on how numbers are written (1e3, 1000.0). Ids and
    categories count as exact text: 007 is not 7. Columns that are not in the schema are ignored and listed. To compare
    a bundle's people with a table, use `lcifr check BUNDLE --people TABLE`.
    """
    from lcifr.workflows.binding import digest_people

    found = digest_people(table, schema, id_column)
    if as_json:
        print_json(found.to_dict())
        return
    say(found.digest)
    to_stderr(f"{found.people:,} people, {len(found.attributes)} attributes: {', '.join(found.attributes)}")
    if found.incomplete:
        to_stderr(f"{found.incomplete:,} of them have missing values, which count as missing in the digest")
    if found.unbound:
        to_stderr(f"ignored, because they are not in the schema: {', '.join(found.unbound)}")


@app.command(epilog="Example: lcifr evidence pack audit --out evidence.zip")
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
    from lcifr.evidence.pack import PackRequest, write_pack

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


BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="The `bundle` folder of an audit.")]


@app.command(epilog="Example: lcifr evidence commit audit/bundle --out commitment")
def commit(
    bundle: BundleArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder.")],
    as_json: JsonOption = False,
) -> None:
    """Producer: commit to all people, verdicts and proofs of a bundle without showing them.

    Writes commitment.json, which goes to the auditor, and secret.json, which stays private. Do not change the bundle.
    """
    from lcifr.evidence.sampling import SECRET
    from lcifr.evidence.sampling import commit as run_commit

    done = run_commit(bundle, out)
    if as_json:
        print_json(done.to_dict())
        return
    said = ", ".join(f"{count} {kind}" for kind, count in done.commitment.verdicts.items())
    say(f"committed to {done.commitment.lines} lines: {said}\nroot {done.root}")
    to_stderr(f"Send {done.file} to the auditor. Keep {out / SECRET} and {bundle} private.")


@app.command(epilog=("Example: lcifr evidence challenge commitment/commitment.json --people 20 --out challenge.json"))
def challenge(
    commitment: Annotated[Path, typer.Argument(metavar="COMMITMENT", help="The producer's commitment.json.")],
    people: Annotated[
        int, typer.Option("--people", min=1, metavar="COUNT", help="How many lines the producer must open.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The new file, for the producer.")],
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="SHARE", help="Confidence of the result, as a decimal.")
    ] = "0.95",
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="HEX", help="64 random hexadecimal digits. (Default: from the system.)"),
    ] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            "--after", metavar="CHALLENGE", help="Your challenge to an earlier commitment; both are reported."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Auditor: after receiving a commitment, choose lines at random, and fix their number and the confidence.

    The seed is drawn now and does not depend on the commitment, so nobody could have known it earlier. A new commitment
    after a challenge is a new audit: name the earlier challenge with --after.
    """
    from lcifr.evidence.sampling import challenge as run_challenge

    done = run_challenge(commitment, out, people=people, confidence=confidence, seed=seed, after=after or ())
    if as_json:
        print_json(done.to_dict())
        return
    say(f"{people:,} of {done.of:,} lines are drawn by seed {done.challenge.seed}")
    say(f"if all are certified and confirmed: at least {done.at_best} of {done.of}, with confidence {confidence}")
    for root in done.challenge.earlier:
        say(f"earlier audit, also reported: commitment {root}")
    to_stderr(
        f"Send {out} to the producer, and keep a copy of it and of {commitment}: you need both to check the answer."
    )


@app.command(
    "open",
    epilog=(
        "Example: lcifr evidence open audit/bundle --commitment commitment --challenge challenge.json --out opening"
    ),
)
def open_(
    bundle: BundleArgument,
    commitment: Annotated[Path, typer.Option("--commitment", metavar="FOLDER", help="The folder that `commit` wrote.")],
    challenge: Annotated[Path, typer.Option("--challenge", metavar="FILE", help="The auditor's challenge.json.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder, for the auditor.")],
    as_json: JsonOption = False,
) -> None:
    """Producer: open the lines that a challenge draws, with their proofs; show only hashes of the others."""
    from lcifr.evidence.sampling import open_drawn

    done = open_drawn(bundle, commitment, challenge, out)
    if as_json:
        print_json(done.to_dict())
        return
    say(f"{done.people:,} of {done.of:,} people are opened in {out}")
    to_stderr("It shows their attributes and the model: send it only to the auditor.")


@app.command(
    epilog=("Example: lcifr evidence check opening --commitment commitment/commitment.json --challenge challenge.json")
)
def check(
    opening: Annotated[Path, typer.Argument(metavar="OPENING", help="The folder that the producer sent.")],
    commitment: Annotated[Path, typer.Option("--commitment", metavar="FILE", help="Your copy of commitment.json.")],
    challenge: Annotated[Path, typer.Option("--challenge", metavar="FILE", help="Your copy of challenge.json.")],
    patience: Annotated[
        int, typer.Option("--patience", min=1, metavar="TIMES", help="Allow this many times the usual work.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Auditor: confirm that the opened lines match the commitment, check every proof, and conclude for everyone.

    With nothing but Python installed, run: python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING

    Exit codes: 0 every drawn line is opened, matches the commitment and is confirmed, 1 some line does not (it counts
    as false), 2 a file cannot be read.
    """
    from lcifr.evidence.sampling import check_opened

    report = check_opened(commitment, challenge, opening, patience)
    if as_json:
        print_json({"format": "lcifr-evidence-checked-1", "command": "evidence check", **asdict(report)})
    else:
        say("\n".join(report.text()))
    raise typer.Exit(report.exit_code)


REFUSED = 1


@app.command(epilog="Example: lcifr evidence sign audit --key auditor")
def sign(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to sign.")],
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="A private key from `ssh-keygen -t ed25519 -f KEY`. Without it, only the list is written.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier list and signature.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List every file in FOLDER with its SHA-256, and sign the list (Ed25519, in OpenSSH's format).

    Writes SHA256SUMS, SHA256SUMS.sig and signed.json (the UTC time) to FOLDER. `sha256sum -c` and `ssh-keygen -Y
    verify` read the first two without lcifr. For a key with a passphrase or in an agent, leave out --key: lcifr then
    writes the list and prints the command that signs it.
    """
    import shlex

    from lcifr.evidence.signing import command_to_sign, sign_folder

    done = sign_folder(folder, key, force=force)
    if as_json:
        print_json(done.to_dict())
    elif done.key is not None:
        say(f"{done.files} files of {folder} signed by {done.key} at {done.time}")
    else:
        say(shlex.join(command_to_sign(folder)))
        to_stderr("The list is written but not signed. Put your key into the command above and run it.")


@app.command(epilog="Example: lcifr evidence verify audit --key auditor.pub")
def verify(
    path: Annotated[Path, typer.Argument(metavar="FOLDER|PACK", help="A signed folder, or a pack (.zip).")],
    key: Annotated[
        Path, typer.Option("--key", metavar="KEY.pub", help="The signer's public key, obtained from the signer.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Verify the signature of a folder or pack: no byte changed, nothing added, nothing missing.

    Prints the key's fingerprint and the time that the signer claims. Without lcifr, use `sha256sum -c SHA256SUMS` and
    `ssh-keygen -Y verify`; they do not notice added files.

    Exit codes: 0 verified, 1 refused, 2 not signed, or wrong usage.
    """
    from lcifr.evidence.signing import verify_signed

    found = verify_signed(path, key)
    if as_json:
        print_json({"format": "lcifr-evidence-verified-1", "command": "evidence verify", **asdict(found)})
    elif found.problems:
        say("\n".join([f"REFUSED: {path} is not what {found.key} signed", *(f"  {p}" for p in found.problems)]))
    else:
        say(f"all {found.files} files in SHA256SUMS of {path} are what this key signed\n  key   {found.key}")
        say(f"  time  {found.time or 'none'} (as claimed by the signer)")
    raise typer.Exit(REFUSED if found.problems else 0)
