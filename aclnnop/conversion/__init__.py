"""Conversions of layouts and formats, and tensors built of others."""
