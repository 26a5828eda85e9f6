"""Code that runs inside the sandbox. Nothing here is secret: students' code can read it."""
