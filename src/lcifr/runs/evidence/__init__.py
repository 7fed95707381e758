"""Evidence: signatures, and audits by sample (commit, challenge, open)."""
