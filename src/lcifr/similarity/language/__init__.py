"""The text of φ: grammar, parser, syntax tree, printer and diagnostics."""
