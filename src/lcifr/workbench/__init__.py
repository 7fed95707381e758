"""The workbench: formulas, models and audits in a browser on one's own machine, for people who do not write Python."""
