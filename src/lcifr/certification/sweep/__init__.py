"""Sweeps: whether any two similar people of the universe are decided differently."""
