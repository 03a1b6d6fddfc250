"""The benchmarks are honest."""
