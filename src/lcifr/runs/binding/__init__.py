"""A bundle held against the reader's own files, each read by the parsers and loaders that audits use."""
