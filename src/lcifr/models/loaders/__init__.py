"""One loader for each library and file format."""
