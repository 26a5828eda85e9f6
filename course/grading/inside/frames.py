"""Messages over a socket: a JSON text and some blocks of bytes. Nothing in them can be executed."""

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

LENGTHS = struct.Struct(">QI")  # length of the text, number of blocks
BLOCK = struct.Struct(">Q")
MOST_BYTES = 512 * 2**20  # of one message: no answer to a test is larger
MOST_BLOCKS = 100_000
Left = Callable[[], float] | None  # seconds until the deadline; None: no deadline


class BadMessage(Exception):
    """Not a message, or one that is too large."""


class Closed(Exception):
    """The other side has closed the connection."""


class Late(Exception):
    """The other side did not answer in time."""


class Channel:
    """One end of a connection; `send` and `receive` whole messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, message: Any, blocks: list[bytes] | tuple = (), left: Left = None) -> None:
        """message: anything in JSON; left: gives the remaining seconds."""
        text = json.dumps(message).encode("ascii")
        head = [LENGTHS.pack(len(text), len(blocks)), *(BLOCK.pack(len(b)) for b in blocks)]
        try:
            self._wait(left)
            self.connection.sendall(b"".join(head) + text)
            for block in blocks:
                self.connection.sendall(block)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def receive(self, left: Left = None) -> tuple[Any, list[Any]]:
        """The next message; raises Closed, Late or BadMessage."""
        length, n_blocks = LENGTHS.unpack(self._exactly(LENGTHS.size, left))
        if n_blocks > MOST_BLOCKS:
            raise BadMessage(f"{n_blocks} blocks")
        sizes = [size for (size,) in BLOCK.iter_unpack(self._exactly(BLOCK.size * n_blocks, left))]
        if length + sum(sizes) > MOST_BYTES:
            raise BadMessage(f"{length + sum(sizes):,} bytes; at most {MOST_BYTES:,} are taken")
        try:
            message = json.loads(self._exactly(length, left))
        except (ValueError, RecursionError, MemoryError) as error:
            raise BadMessage(str(error)) from None
        return message, [self._exactly(size, left) for size in sizes]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _exactly(self, size: int, left: Left) -> bytearray:
        buffer = bytearray(size)
        view, got = memoryview(buffer), 0
        while got < size:
            try:
                self._wait(left)
                count = self.connection.recv_into(view[got:])
            except TimeoutError:
                continue  # there may be more time left now, after waiting for a core
            except OSError:
                raise Closed from None
            if count == 0:
                raise Closed
            got += count
        return buffer

    def _wait(self, left: Left) -> None:
        """Let the next call on the socket end at the deadline."""
        seconds = left() if left else None
        if seconds is not None and seconds <= 0:
            raise Late
        self.connection.settimeout(seconds)
