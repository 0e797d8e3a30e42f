"""The source engines, one folder each, behind one interface: engine.py."""
