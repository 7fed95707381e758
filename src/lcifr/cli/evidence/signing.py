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
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Everything in it is signed.")],
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY",
            help="A private key that `ssh-keygen -t ed25519 -f KEY` made. Without it only the list is written.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier list and signature.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List every file of FOLDER by name and SHA-256, and sign the list (Ed25519, in OpenSSH's format).

    Writes SHA256SUMS, SHA256SUMS.sig and signed.json (the UTC time) into FOLDER; `sha256sum -c` and `ssh-keygen -Y
    verify` read the first two without anything of ours. Keys with a passphrase, and keys of an agent: without --key
    the list is written, and the line to sign it is printed.
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
        to_stderr("The list is written and not signed. Put your key into the line above and run it.")


def verify(
    path: Annotated[Path, typer.Argument(metavar="FOLDER|PACK", help="A signed folder, or a pack (.zip).")],
    key: Annotated[
        Path, typer.Option(metavar="KEY.pub", help="The signer's public key, which you have from the signer.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Confirm that every file is what the holder of a key has signed: no byte changed, nothing added or missing.

    Prints the key's fingerprint and the time that the signer claims. The same without lcifr: `sha256sum -c SHA256SUMS`
    and `ssh-keygen -Y verify`, which do not see files that were added.

    Exit codes: 0 so it is, 1 refused, 2 not signed at all or wrong use.
    """
    from lcifr.runs.evidence.signing import verify_signed

    found = verify_signed(path, key)
    if as_json:
        print_json({"format": "lcifr-evidence-verified-1", "command": "evidence verify", **asdict(found)})
    elif found.problems:
        say("\n".join([f"REFUSED: {path} is not what {found.key} has signed", *(f"  {p}" for p in found.problems)]))
    else:
        say(
            f"all {found.files} files that SHA256SUMS of {path} lists are what this key has signed\n  key   {found.key}"
        )
        say(f"  time  {found.time or 'none that is claimed'} (the signer's word)")
    raise typer.Exit(REFUSED if found.problems else 0)
