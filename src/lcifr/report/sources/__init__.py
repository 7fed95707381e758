"""Where the content of a report comes from: a result folder, or the demo."""
