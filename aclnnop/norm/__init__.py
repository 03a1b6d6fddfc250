"""Normalisations: the elements of a row by their size."""
