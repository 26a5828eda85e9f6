"""`python -m bertlab`: the library's command line."""

import argparse
import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":  # Ctrl-C in the seconds that the imports take
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))

from tqdm.auto import tqdm

from bertlab._console import print_on_any_console
from bertlab.data.fetching import DataError
from bertlab.model.heads import BertForPreTraining, fill_mask
from bertlab.model.pretrained import load_pretrained
from bertlab.tokenizers.files import load_tokenizer
from bertlab.training import command
from bertlab.training.checkpoints import CheckpointError
from bertlab.training.fast import FirstFailed, is_out_of_memory


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    print_on_any_console()
    parser = argparse.ArgumentParser(
        prog="python -m bertlab",
        description="Pre-train a BERT and see what it has learned.",
        epilog="Corpora: python -m bertlab.data list",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command.add_command(commands)
    filling = commands.add_parser("fill-mask", help="let a trained model guess masked words")
    filling.set_defaults(
        run=show_guesses,
        too_large="too little memory for the model in {model}; close other programs or use a "
        "smaller model",
    )
    filling.add_argument("model", type=Path, help="folder of the model, such as runs/mini/model")
    filling.add_argument("text", help='such as "The king [MASK] his daughter."')
    filling.add_argument("--top", type=int, default=5, help="guesses for each [MASK] (5)")
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (CheckpointError, DataError, FloatingPointError, OSError, ValueError) as error:
        fault = str(error)
    except FirstFailed:
        return 1
    except KeyboardInterrupt:
        tqdm.write(f"bertlab {options.command}: interrupted", file=sys.stderr)
        return command.STOPPED
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        fault = options.too_large.format_map(vars(options))
    tqdm.write(f"bertlab {options.command}: {fault}", file=sys.stderr)
    return 1


def show_guesses(options: argparse.Namespace) -> int:
    """Print the most probable words for each [MASK]; returns the exit status."""
    model = load_pretrained(options.model, BertForPreTraining)
    gaps = fill_mask(model, load_tokenizer(options.model), options.text, options.top)
    for number, guesses in enumerate(gaps, start=1):
        if len(gaps) > 1:
            print(f"[MASK] number {number}")
        for token, probability in guesses:
            print(f"{probability:7.2%}  {token}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, before)
    sys.exit(main())
