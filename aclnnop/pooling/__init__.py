"""Pooling: the largest elements, or means, of windows."""
