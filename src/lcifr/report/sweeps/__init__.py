"""The report of a sweep: everybody who can exist, as shares, as a map, and by the worst pairs."""
