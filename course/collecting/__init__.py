"""Collect hand-ins from folders, zip files and nbgrader's exchange."""
