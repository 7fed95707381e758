"""Bounds, search and branch-and-bound as machine code: here for one hidden layer, in :mod:`deep` for any number.

Networks without hidden layers come here by way of :mod:`lcifr.prove.networks.affine`. What is here is imported with the
first question, not before: numba takes a good part of a second.
"""
