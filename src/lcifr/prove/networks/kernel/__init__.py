"""Bounds, search and branch-and-bound as machine code.

:mod:`one_layer` is for one hidden layer, :mod:`deep_search` for any number. Networks without hidden layers come here by
way of :mod:`lcifr.prove.networks.closed_form`. What is here is imported with the first question, not before: numba
takes a good part of a second.
"""
