"""Additive models in closed form: terms, changes between similar people, and the question about cells."""
