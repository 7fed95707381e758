"""``lcifr evidence``: digests, packs, signatures, and audits by sample."""

from __future__ import annotations

import shlex
from dataclasses import asdict

import typer

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import print_json, say, to_stderr
from lcifr.evidence.pack import PackRequest, WrittenPack, write_pack
from lcifr.evidence.sampling import (
    SECRET,
    Challenged,
    ChallengeRequest,
    CommitRequest,
    Committed,
    Opened,
    OpeningCheckRequest,
    OpenRequest,
    check_opened,
    open_drawn,
)
from lcifr.evidence.sampling import challenge as run_challenge
from lcifr.evidence.sampling import commit as run_commit
from lcifr.evidence.signing import (
    SignedFolder,
    SignRequest,
    Verified,
    VerifyRequest,
    command_to_sign,
    sign_folder,
    verify_signed,
)
from lcifr.workflows.binding import DigestRequest, PeopleDigest, digest_people

app = new_app(help="Pack, sign and verify audits, and audit by sample.", no_args_is_help=True)


@request_command(app, DigestRequest, epilog="Example: lcifr evidence digest people.csv --schema people.toml")
def digest(request: DigestRequest, call: Call) -> None:
    """Print a digest of the people in a table: the SHA-256 of one canonical line per person, sorted by id.

    The digest does not depend on the order of rows and columns, or on how numbers are written (1e3, 1000.0). Ids and
    categories count as exact text: 007 is not 7. Columns that are not in the schema are ignored and listed. To compare
    a bundle's people with a table, use `lcifr check BUNDLE --people TABLE`.
    """
    call.print(digest_people(request), _show_digest)


def _show_digest(found: PeopleDigest) -> None:
    say(found.digest)
    to_stderr(f"{found.people:,} people, {len(found.attributes)} attributes: {', '.join(found.attributes)}")
    if found.incomplete:
        to_stderr(f"{found.incomplete:,} of them have missing values, which count as missing in the digest")
    if found.unbound:
        to_stderr(f"ignored, because they are not in the schema: {', '.join(found.unbound)}")


@request_command(app, PackRequest, epilog="Example: lcifr evidence pack audit --out evidence.zip")
def pack(request: PackRequest, call: Call) -> None:
    """Pack an audit into one archive: report, model card, φ in English, proofs, checker's report, tables by group.

    HOW-TO-CHECK.md in the archive explains on one page how to check everything in five minutes. With --key, the list of
    all files is signed. The same audit gives the same bytes except for the time (set it with SOURCE_DATE_EPOCH).

    The pack shows people's attributes: treat it as private.
    """
    call.print(write_pack(request), _show_pack)


def _show_pack(done: WrittenPack) -> None:
    say(f"{done.file}: {done.files} files, SHA-256 {done.sha256}")
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


@request_command(app, CommitRequest, epilog="Example: lcifr evidence commit audit/bundle --out commitment")
def commit(request: CommitRequest, call: Call) -> None:
    """Producer: commit to all people, verdicts and proofs of a bundle without showing them.

    Writes commitment.json, which goes to the auditor, and secret.json, which stays private. Do not change the bundle.
    """
    call.print(run_commit(request), _show_commitment, request)


def _show_commitment(done: Committed, request: CommitRequest) -> None:
    verdicts = ", ".join(f"{count} {kind}" for kind, count in done.commitment.verdicts.items())
    say(f"committed to {done.commitment.lines} lines: {verdicts}\nroot {done.root}")
    to_stderr(f"Send {done.file} to the auditor. Keep {request.out / SECRET} and {request.bundle} private.")


@request_command(
    app,
    ChallengeRequest,
    epilog="Example: lcifr evidence challenge commitment/commitment.json --people 20 --out challenge.json",
)
def challenge(request: ChallengeRequest, call: Call) -> None:
    """Auditor: after receiving a commitment, choose lines at random, and fix their number and the confidence.

    The seed is drawn now and does not depend on the commitment, so no one could have known it earlier. A new commitment
    after a challenge is a new audit: name the earlier challenge with --after.
    """
    call.print(run_challenge(request), _show_challenge, request)


def _show_challenge(done: Challenged, request: ChallengeRequest) -> None:
    say(f"{request.people:,} of {done.of:,} lines are drawn by seed {done.challenge.seed}")
    confidence = f"with confidence {request.confidence}"
    say(f"if all are certified and confirmed: at least {done.at_best} of {done.of}, {confidence}")
    for root in done.challenge.earlier:
        say(f"earlier audit, also reported: commitment {root}")
    to_stderr(
        f"Send {request.out} to the producer, and keep a copy of it and of {request.commitment}: you need both to "
        "check the answer."
    )


@request_command(
    app,
    OpenRequest,
    name="open",
    epilog="Example: lcifr evidence open audit/bundle --commitment commitment --challenge challenge.json --out opening",
)
def open_(request: OpenRequest, call: Call) -> None:
    """Producer: open the lines that a challenge draws, with their proofs; show only hashes of the others."""
    call.print(open_drawn(request), _show_opening)


def _show_opening(done: Opened) -> None:
    say(f"{done.people:,} of {done.of:,} people are opened in {done.folder}")
    to_stderr("It shows their attributes and the model: send it only to the auditor.")


@request_command(
    app,
    OpeningCheckRequest,
    epilog="Example: lcifr evidence check opening --commitment commitment/commitment.json --challenge challenge.json",
)
def check(request: OpeningCheckRequest, call: Call) -> None:
    """Auditor: confirm that the opened lines match the commitment, check every proof, and conclude for everyone.

    With nothing but Python installed, run: python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING

    Exit codes: 0 if every drawn line is opened, matches the commitment and is confirmed; 1 if any line fails (it
    counts as false); 2 if a file cannot be read.
    """
    report = check_opened(request)
    if call.as_json:
        print_json({"format": "lcifr-evidence-checked-1", "command": "evidence check", **asdict(report)})
    else:
        say("\n".join(report.text()))
    raise typer.Exit(report.exit_code)


@request_command(app, SignRequest, epilog="Example: lcifr evidence sign audit --key auditor")
def sign(request: SignRequest, call: Call) -> None:
    """List every file in FOLDER with its SHA-256, and sign the list (Ed25519, in OpenSSH's format).

    Writes SHA256SUMS, SHA256SUMS.sig and signed.json (the UTC time) to FOLDER. `sha256sum -c` and `ssh-keygen -Y
    verify` read the first two without lcifr. For a key with a passphrase or in an agent, leave out --key: lcifr then
    writes the list and prints the command that signs it.
    """
    call.print(sign_folder(request), _show_signed, request)


def _show_signed(done: SignedFolder, request: SignRequest) -> None:
    if done.key is not None:
        say(f"{done.files} files of {done.folder} signed by {done.key} at {done.time}")
        return
    say(shlex.join(command_to_sign(request.folder)))
    to_stderr("The list is written but not signed. Put your key into the command above and run it.")


REFUSED = 1


@request_command(app, VerifyRequest, epilog="Example: lcifr evidence verify audit --key auditor.pub")
def verify(request: VerifyRequest, call: Call) -> None:
    """Verify the signature of a folder or pack: no byte changed, nothing added, nothing missing.

    Prints the key's fingerprint and the time that the signer claims. Without lcifr, use `sha256sum -c SHA256SUMS` and
    `ssh-keygen -Y verify`; they do not notice added files.

    Exit codes: 0 verified, 1 refused, 2 not signed, or wrong usage.
    """
    found = verify_signed(request)
    call.print(found, _show_verified, request)
    raise typer.Exit(REFUSED if found.problems else 0)


def _show_verified(found: Verified, request: VerifyRequest) -> None:
    if found.problems:
        say("\n".join([f"REFUSED: {request.path} is not what {found.key} signed", *(f"  {p}" for p in found.problems)]))
        return
    say(f"all {found.files} files in SHA256SUMS of {request.path} are what this key signed\n  key   {found.key}")
    say(f"  time  {found.time or 'none'} (as claimed by the signer)")
