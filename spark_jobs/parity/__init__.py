"""The proof: the source and the lake compared row by row."""
