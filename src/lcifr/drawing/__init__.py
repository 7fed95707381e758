"""Markup, SVG charts, matplotlib figures and number formatting for pages and notebooks."""
