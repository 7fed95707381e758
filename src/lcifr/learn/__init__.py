"""Training of encoders with a small proved radius and of heads that are robust on the whole ball."""
