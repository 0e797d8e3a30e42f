"""What goes wrong with a template."""


class Refused(Exception):
    """What AWS would refuse too: the stack is rolled back with this as its reason."""


class NotEmulated(Exception):
    """What nobody wrote an answer for: the stack is rolled back, and the test run fails."""
