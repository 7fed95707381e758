"""The meaning of φ: core tree, truth, canonical form and DL2 loss."""
