"""Operators over lists of tensors: each member on its own, all in one launch."""
