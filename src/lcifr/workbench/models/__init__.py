"""Models on the page: what they are, and what they decide."""
