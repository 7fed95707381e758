"""Formulas at people as regions: plans of cells, boxes and rows, and points of a region as people again."""
