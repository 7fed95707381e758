"""Elements, charts and figures: what pages, notebooks and pictures are made of."""
