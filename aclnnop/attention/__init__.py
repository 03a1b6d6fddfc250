"""Attention: softmax of products of queries and keys, times values, in blocks; for training and for inference."""
