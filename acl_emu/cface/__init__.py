"""The C face: one shared library whose functions call into this package."""
