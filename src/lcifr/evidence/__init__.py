"""Evidence for others: signatures, packs, and audits by sample."""
