"""Convolutions, their gradients, and relatives."""
