"""Similar code in students' submissions."""
