"""Proofs about sums of trees: one compiled search a person (docs/design/trees.md, *Search*)."""
