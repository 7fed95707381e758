"""Work on tables and hand-overs larger than memory: part by part, in worker processes, resumable."""
