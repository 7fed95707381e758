"""What comes before learning: a schema and φ proposed, tables and formulas checked, the installation examined."""
