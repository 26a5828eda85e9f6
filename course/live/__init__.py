"""BERT in the page: `bertlab-mini` runs in the reader's browser, without Python or a server."""
