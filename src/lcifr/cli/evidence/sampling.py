"""``lcifr evidence commit``, ``challenge``, ``open`` and ``check``: an audit without seeing everybody."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr

BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="The `bundle` folder of an audit.")]


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: lcifr evidence commit audit/bundle --out commitment")(commit)
    app.command(epilog="Example: lcifr evidence challenge commitment/commitment.json --people 20 --out challenge.json")(
        challenge
    )
    app.command(
        "open",
        epilog="Example: lcifr evidence open audit/bundle --commitment commitment --challenge challenge.json "
        "--out opening",
    )(open_)
    app.command(
        epilog="Example: lcifr evidence check opening --commitment commitment/commitment.json "
        "--challenge challenge.json"
    )(check)


def commit(
    bundle: BundleArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder.")],
    as_json: JsonOption = False,
) -> None:
    """Producer: commit to all people, verdicts and proofs of a bundle without showing them.

    Writes commitment.json, which goes to the auditor, and secret.json, which stays private. Do not change the bundle.
    """
    from lcifr.runs.evidence.committing import SECRET
    from lcifr.runs.evidence.committing import commit as run_commit

    done = run_commit(bundle, out)
    if as_json:
        print_json(done.to_dict())
        return
    said = ", ".join(f"{count} {kind}" for kind, count in done.commitment.verdicts.items())
    say(f"committed to {done.commitment.lines} lines: {said}\nroot {done.root}")
    to_stderr(f"Send {done.file} to the auditor. Keep {out / SECRET} and {bundle} private.")


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
    from lcifr.runs.evidence.challenging import challenge as run_challenge

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


def open_(
    bundle: BundleArgument,
    commitment: Annotated[Path, typer.Option("--commitment", metavar="FOLDER", help="The folder that `commit` wrote.")],
    challenge: Annotated[Path, typer.Option("--challenge", metavar="FILE", help="The auditor's challenge.json.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder, for the auditor.")],
    as_json: JsonOption = False,
) -> None:
    """Producer: open the lines that a challenge draws, with their proofs; show only hashes of the others."""
    from lcifr.runs.evidence.committing import open_drawn

    done = open_drawn(bundle, commitment, challenge, out)
    if as_json:
        print_json(done.to_dict())
        return
    say(f"{done.people:,} of {done.of:,} people are opened in {out}")
    to_stderr("It shows their attributes and the model: send it only to the auditor.")


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
    from lcifr.runs.evidence.challenging import check_opened

    report = check_opened(commitment, challenge, opening, patience)
    if as_json:
        print_json({"format": "lcifr-evidence-checked-1", "command": "evidence check", **asdict(report)})
    else:
        say("\n".join(report.text()))
    raise typer.Exit(report.exit_code)
