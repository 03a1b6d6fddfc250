"""Devices, contexts, memory, streams, tensors, executors and the plan cache. What of it lives in C is in c/."""
