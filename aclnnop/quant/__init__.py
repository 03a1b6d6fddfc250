"""Operators that quantise, and what is fused with them."""
