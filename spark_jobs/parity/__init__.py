"""Data validation: the source and the lake compared row by row."""
