"""Says a problem when it begins, or becomes another one, not at each look."""

import logging

LOG = logging.getLogger("guardian")


class Problems:
    """Of one loop, by subject: a database, or the definition."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def tell(self, subject: str, problem: str) -> None:
        """problem: '' when there is none any more; then the same one is said again if it comes back."""
        if problem and problem != self._told.get(subject):
            LOG.warning("%s: %s", subject, problem)
        self._told[subject] = problem
