"""Numbers for people."""

UNITS = ("B", "kB", "MB", "GB", "TB")


def size(number: int) -> str:
    """Bytes: 16 kB."""
    rest, unit = float(number), 0
    while rest >= 1024 and unit < len(UNITS) - 1:
        rest, unit = rest / 1024, unit + 1
    return f"{rest:.0f} {UNITS[unit]}" if rest >= 10 or not unit else f"{rest:.1f} {UNITS[unit]}"


def amount(number: int | None, of: str) -> str:
    """An estimate: about 1,000 rows; "" if there is none."""
    if number is None:
        return ""
    return f"about {number:,} {of}{'' if number == 1 else 's'}"
