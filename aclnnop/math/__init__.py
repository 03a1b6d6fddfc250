"""Elementwise arithmetic, reductions and conversions."""
