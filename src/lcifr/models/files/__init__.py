"""Model files: how a format is recognised, what a loaded model says of itself, and the description that some need."""
