"""Files of skops, read with an allow-list of our own: nothing that is not on it is loaded, and nothing is run."""
