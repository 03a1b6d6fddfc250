"""Operators that draw random numbers, and dropout."""
