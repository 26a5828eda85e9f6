"""Running lectures, their normal form, the release, the book, and the course's own weights."""
