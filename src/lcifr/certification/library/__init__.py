"""A model as it was read, compared with the library that it comes from."""
