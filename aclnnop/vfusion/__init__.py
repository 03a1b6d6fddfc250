"""Fused vector operators."""
