"""Bounds, search and branch-and-bound as machine code: in :mod:`one_layer` for one hidden layer, in :mod:`deep_search` for any number.

Networks without hidden layers come here by way of :mod:`lcifr.prove.networks.closed_form`. What is here is imported with the
first question, not before: numba takes a good part of a second.
"""
