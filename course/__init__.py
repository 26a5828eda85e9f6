"""Running the course: the notebooks' normal form, the lecture runner, the release of exercises."""
