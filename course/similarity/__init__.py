"""Whose code is like whose."""
