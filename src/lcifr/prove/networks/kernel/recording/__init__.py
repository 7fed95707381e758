"""Trees of the searches recorded in arrays, and the proofs that are made of them."""
