"""What runs inside the sandbox. Nothing in this folder is a secret: students' code can read it."""
