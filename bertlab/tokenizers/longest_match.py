"""WordPiece cuts a word: the longest piece that fits, then the longest that fits the rest.

`longest_match` is BERT's own algorithm. `LongestMatcher` gives the same pieces in time linear in
the length of the word, with any vocabulary. That is faster for long words and for languages written
without spaces; for English, whose words are mostly in the vocabulary, the simple algorithm is
equally fast.
"""

from collections import deque
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from bertlab.tokenizers.encoding import UNKNOWN
from bertlab.tokenizers.pieces import CONTINUES


def longest_match(word: str, vocab: Container[str], longest_word: int = 100) -> list[str]:
    """Cut a word into pieces of the vocabulary, from left to right, the longest first.

    A word that cannot be cut completely, or of more than `longest_word` characters, becomes one
    [UNK]. Source: Devlin et al. (2019), `WordpieceTokenizer`.

    >>> longest_match("menus", {"me", "men", "##u", "##us", "##s"})
    ['men', '##us']
    >>> longest_match("mental", {"men"})
    ['[UNK]']
    """
    if len(word) > longest_word:
        return [UNKNOWN]
    pieces, start = [], 0
    while start < len(word):
        mark = CONTINUES if start else ""
        for end in range(len(word), start, -1):
            piece = mark + word[start:end]
            if piece in vocab:
                break
        else:
            return [UNKNOWN]
        pieces.append(piece)
        start = end
    return pieces


@dataclass(eq=False)
class Node:
    """A node in the tree (trie) of all pieces: the characters on its path spell their beginning."""

    children: dict[str, "Node"] = field(default_factory=dict)
    piece: str | None = None  # the piece that ends here
    # If the next character has no child: where to continue, and which pieces are then certain.
    failure: "Node | None" = None
    certain: list[str] = field(default_factory=list)


class LongestMatcher:
    """LinMaxMatch: cut words in time linear in their length.

    The simple algorithm goes back when a longer piece does not fit. Here each node stores in
    advance the pieces that are cut at this point, and the node of the rest.

    Source: Song et al. (2021), "Fast WordPiece Tokenization", Algorithms 1 and 2
    (arXiv 2012.15524).

    >>> LongestMatcher(["me", "men", "##u", "##us", "##s"]).cut("menus")
    ['men', '##us']
    """

    def __init__(self, vocab: Iterable[str], longest_word: int = 100) -> None:
        self.longest_word = longest_word
        self.first, self.later = Node(), Node()  # the first piece of a word, and those after it
        for piece in vocab:
            node = self.later if piece.startswith(CONTINUES) else self.first
            for character in piece.removeprefix(CONTINUES):
                node = node.children.setdefault(character, Node())
            if node is not self.first and node is not self.later:
                node.piece = piece
        self._link()

    def _link(self) -> None:
        """Algorithm 2: failure links, shallow nodes first, because deeper ones depend on them."""
        queue = deque([self.first, self.later])
        while queue:
            parent = queue.popleft()
            for character, node in parent.children.items():
                queue.append(node)
                if node.piece is not None:
                    node.failure, node.certain = self.later, [node.piece]
                    continue
                behind, certain = parent.failure, list(parent.certain)
                while behind is not None and character not in behind.children:
                    certain += behind.certain
                    behind = behind.failure
                if behind is not None:
                    node.failure, node.certain = behind.children[character], certain

    def cut(self, word: str) -> list[str]:
        """The pieces of a word: those of `longest_match`."""
        if len(word) > self.longest_word:
            return [UNKNOWN]
        pieces: list[str] = []
        node = self.first
        for character in word:
            while character not in node.children:
                if node.failure is None:
                    return [UNKNOWN]
                pieces += node.certain
                node = node.failure
            node = node.children[character]
        while node is not self.later and node is not self.first:  # the word has ended
            if node.failure is None:
                return [UNKNOWN]
            pieces += node.certain
            node = node.failure
        return pieces
