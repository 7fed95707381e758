"""Encoders with a small proved radius, classifiers that hold on the whole ball."""
