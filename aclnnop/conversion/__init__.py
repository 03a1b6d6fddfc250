"""Conversions of layouts and formats."""
