"""The checker against the page by trying everybody: random universes, formulas, functions and claims."""
