"""Openings of an audit by sample: the standard library only, beside the exact checker and counted apart from it."""
