"""Side by side with what you would use instead: see README.md."""
