"""One folder per source engine: its types, and its rows for the proof."""
