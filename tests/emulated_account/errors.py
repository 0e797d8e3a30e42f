"""What goes wrong in the emulated account."""

from iam.errors import NotEmulated as NotEmulated
from iam.errors import Refused as Refused
