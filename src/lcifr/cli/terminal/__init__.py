"""What commands share: options, printing, progress on stderr, and the wording of results."""
