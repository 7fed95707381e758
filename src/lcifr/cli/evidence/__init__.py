"""``lcifr evidence``: what a regulator can hold on to, digests, signatures, packs, and audits by sample."""

from __future__ import annotations

import typer

app = typer.Typer(help="Pack, sign and verify audits, and audit by sample.", no_args_is_help=True)
