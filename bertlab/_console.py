"""Print on any console; used by every command line."""

import io
import sys


def print_on_any_console() -> None:
    r"""Let this program print characters that the console lacks, such as \u738b, in this form.

    Without it, a name in Chinese ends the program with a UnicodeEncodeError on Windows' consoles
    (cp1252) and where the locale is ASCII.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not in a notebook
            stream.reconfigure(errors="backslashreplace")
