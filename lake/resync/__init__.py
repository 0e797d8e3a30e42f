"""Tables read again from their source, while changes go on flowing."""
