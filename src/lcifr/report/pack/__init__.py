"""The evidence pack: one signed archive with a page, tables, proofs, and how to check all of it."""
