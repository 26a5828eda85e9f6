"""`python -m bertlab`: what the library does from the command line."""

import argparse
import sys
from pathlib import Path

from bertlab.model.fill_mask import fill_mask
from bertlab.model.heads import BertForPreTraining
from bertlab.model.memory import is_out_of_memory
from bertlab.model.pretrained import load_pretrained, load_tokenizer
from bertlab.training import command


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m bertlab",
        description="Pre-train a BERT, and see what it has learned.",
        epilog="Corpora: python -m bertlab.data list",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command.add_command(commands)
    filling = commands.add_parser("fill-mask", help="let a trained model guess masked words")
    filling.set_defaults(run=show_guesses)
    filling.add_argument("model", type=Path, help="folder of the model, such as runs/mini/model")
    filling.add_argument("text", help='such as "The king [MASK] his daughter."')
    filling.add_argument("--top", type=int, default=5, help="guesses for each [MASK] (5)")
    options = parser.parse_args(arguments)
    return options.run(options)


def show_guesses(options: argparse.Namespace) -> int:
    """Print the best words for each [MASK] with their probabilities; returns the exit status."""
    try:
        model = load_pretrained(options.model, BertForPreTraining)
        gaps = fill_mask(model, load_tokenizer(options.model), options.text, options.top)
    except (OSError, ValueError) as error:
        print(f"bertlab fill-mask: {error}", file=sys.stderr)
        return 1
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        print(
            f"bertlab fill-mask: too little memory for the model in {options.model}; close other "
            "programs, or take a smaller model",
            file=sys.stderr,
        )
        return 1
    for number, guesses in enumerate(gaps, start=1):
        if len(gaps) > 1:
            print(f"[MASK] number {number}")
        for token, probability in guesses:
            print(f"{probability:7.2%}  {token}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
