"""``lcifr evidence``: what a regulator can hold on to, digests, signatures, packs, and audits by sample."""

from __future__ import annotations

import typer

app = typer.Typer(help="Evidence that is dated, signed, and bound to the reader's own files.", no_args_is_help=True)
