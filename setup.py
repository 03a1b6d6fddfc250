"""What pyproject.toml cannot say: the C library and its bridge are compiled."""

from setuptools import setup

setup()
