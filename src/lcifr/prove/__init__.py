"""What is the exact answer? Methods that prove the largest value of a network over a region, and their cascade."""
