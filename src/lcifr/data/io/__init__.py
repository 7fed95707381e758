"""Files: written whole, locked, hashed, downloaded; large ones read as streams of people with ids and types."""
