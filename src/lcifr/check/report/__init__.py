"""The checker's report in words: about whom and what it is."""
