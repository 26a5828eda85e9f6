"""Hand-ins from folders, zip files and nbgrader's exchange; lists of students, times."""
