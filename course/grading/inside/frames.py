"""Messages over a socket: a JSON text and some blocks of bytes. Nothing in them can be executed."""

import json
import socket
import struct
import time
from typing import Any

LENGTHS = struct.Struct(">QI")  # of the text, and how many blocks follow
BLOCK = struct.Struct(">Q")
MOST_BYTES = 512 * 2**20  # of one message: more comes from nobody who answers a test
MOST_BLOCKS = 100_000


class BadMessage(Exception):
    """What came is no message, or one that is too large."""


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """The other side said nothing until the deadline."""


class Channel:
    """One end of a connection; `send` and `receive` whole messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, message: Any, blocks: list[bytes] | tuple = (), deadline: float = 0.0) -> None:
        """message: anything that JSON knows; deadline: as of time.monotonic(), 0 for none."""
        text = json.dumps(message).encode("ascii")
        head = [LENGTHS.pack(len(text), len(blocks)), *(BLOCK.pack(len(b)) for b in blocks)]
        try:
            self._wait(deadline)
            self.connection.sendall(b"".join(head) + text)
            for block in blocks:
                self.connection.sendall(block)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def receive(self, deadline: float = 0.0) -> tuple[Any, list[Any]]:
        """The next message; raises Closed, Late or BadMessage."""
        length, n_blocks = LENGTHS.unpack(self._exactly(LENGTHS.size, deadline))
        if n_blocks > MOST_BLOCKS:
            raise BadMessage(f"{n_blocks} blocks")
        sizes = [
            size for (size,) in BLOCK.iter_unpack(self._exactly(BLOCK.size * n_blocks, deadline))
        ]
        if length + sum(sizes) > MOST_BYTES:
            raise BadMessage(f"{length + sum(sizes):,} bytes; at most {MOST_BYTES:,} are taken")
        try:
            message = json.loads(self._exactly(length, deadline))
        except (ValueError, RecursionError, MemoryError) as error:
            raise BadMessage(str(error)) from None
        return message, [self._exactly(size, deadline) for size in sizes]

    def close(self) -> None:
        """Hang up."""
        self.connection.close()

    def _exactly(self, size: int, deadline: float) -> bytearray:
        buffer = bytearray(size)
        view, got = memoryview(buffer), 0
        while got < size:
            try:
                self._wait(deadline)
                count = self.connection.recv_into(view[got:])
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if count == 0:
                raise Closed
            got += count
        return buffer

    def _wait(self, deadline: float) -> None:
        """Let the next call on the socket end at the deadline."""
        if not deadline:
            self.connection.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise Late
        self.connection.settimeout(left)
