"""Numbers as text, and charts as SVG, for the command line, pages and notebooks."""
