"""Graphs of affine maps and ReLUs, and the networks that compute them."""
