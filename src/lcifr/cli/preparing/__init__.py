"""Commands before an audit: look at tables, formulas, models and the installation, and propose what is missing."""
