"""S_φ(x) as geometry: cells, linear rows, sampling, projection and witnesses."""
