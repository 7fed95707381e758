"""Bins of attributes, pairs and trees, and where people and their regions are among them."""
