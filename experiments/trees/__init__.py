"""Boosters in the paper's tables: what is tried, which cells that makes, how each is measured and confirmed."""
