"""Audit bundles: proofs of radii and verdicts, written for the exact checker."""
