"""Tests of boosters in the tables."""
