"""Binding: whether a bundle is about the reader's own people, and what it says about whom, in words."""
