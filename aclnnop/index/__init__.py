"""Operators that move elements by their places: flips, gathers, scatters."""
