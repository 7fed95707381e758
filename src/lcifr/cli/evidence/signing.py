"""``lcifr evidence sign`` and ``verify``: who answers for the files of a folder or pack, and since when."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr

REFUSED = 1


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: lcifr evidence sign audit --key auditor")(sign)
    app.command(epilog="Example: lcifr evidence verify audit --key auditor.pub")(verify)


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

    from lcifr.runs.evidence.signing import command_to_sign, sign_folder

    done = sign_folder(folder, key, force=force)
    if as_json:
        print_json(done.to_dict())
    elif done.key is not None:
        say(f"{done.files} files of {folder} signed by {done.key} at {done.time}")
    else:
        say(shlex.join(command_to_sign(folder)))
        to_stderr("The list is written but not signed. Put your key into the command above and run it.")


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
    from lcifr.runs.evidence.signing import verify_signed

    found = verify_signed(path, key)
    if as_json:
        print_json({"format": "lcifr-evidence-verified-1", "command": "evidence verify", **asdict(found)})
    elif found.problems:
        say("\n".join([f"REFUSED: {path} is not what {found.key} signed", *(f"  {p}" for p in found.problems)]))
    else:
        say(f"all {found.files} files in SHA256SUMS of {path} are what this key signed\n  key   {found.key}")
        say(f"  time  {found.time or 'none'} (as claimed by the signer)")
    raise typer.Exit(REFUSED if found.problems else 0)
