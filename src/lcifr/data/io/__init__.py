"""Reading of large files: streaming, CSV types, ids, downloads."""
