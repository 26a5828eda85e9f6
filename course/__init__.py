"""Running the course: the notebooks' normal form, the lecture runner, the release of exercises."""

import sys

# A check of addresses that no notebook needs; jsonschema does without it where it is missing. Its
# grammar takes a second to build, in each command and in each process that grades.
sys.modules.setdefault("rfc3987_syntax", None)
