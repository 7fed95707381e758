"""The work of ``lcifr audit`` and ``lcifr certify``: whole models on real people, from end to end."""
