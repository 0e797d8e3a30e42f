"""Statements as Spark's parser reads them."""
