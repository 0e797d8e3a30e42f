"""The guardian of the sources: it inspects them, and protects them."""
