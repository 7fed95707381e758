"""S_φ(x) as geometry: cells, linear rows, whole numbers, sampling and projection."""
