"""Tests of what the page says about both families."""
