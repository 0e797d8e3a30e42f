"""One folder per source engine: what capture needs of it, and what it says of itself."""
