"""Models that only some lectures need, built from the library's parts.

`word_vectors`: before BERT (lecture 3). `seq2seq`: text to text, with the Transformer (lecture 5).
`relatives`: after BERT, GPT, XLNet and DistilBERT (lecture 12).
"""
