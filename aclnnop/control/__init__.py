"""Operators that steer the device."""
