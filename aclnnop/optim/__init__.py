"""Optimisers: a step of training, in place."""
