"""Run lectures, normalise notebooks, release, make the book, and the course's own weights."""
