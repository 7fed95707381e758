"""Sweeps as folders: made, resumed, read back, and looked up in."""
