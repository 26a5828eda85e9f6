"""Grading one submission: the student's code in a sandbox, the tests outside."""
