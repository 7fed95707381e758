"""Any number of hidden layers: linear bounds, search and branch-and-bound as machine code."""
