"""Numbers and names → text as a report writes it: rounded by one rule, true minus signs, nothing hidden."""

import re
import unicodedata
from collections.abc import Sequence

from erce.score.rounding import MINUS, NOTHING, fixed, percent
from erce.stats import Gain


def grouped(count: int | None) -> str:
    """Format a count with thousands separators; "–" for None.

    >>> grouped(49123), grouped(None)
    ('49,123', '–')
    """
    return NOTHING if count is None else f"{count:,}"


def points(share: float | None) -> str:
    """Write a difference of shares in percentage points, always with its sign, save for exactly 0.

    >>> points(0.0714), points(-0.0004), points(0.0), points(None)
    ('+7.1', '−0.0', '0.0', '–')
    """
    if not share:
        return NOTHING if share is None else "0.0"
    return ("+" if share > 0 else "") + fixed(100 * share, 1)


def interval(ends: Gain | None) -> str:
    """Write an interval of differences, in points.

    >>> from erce.stats import welch
    >>> interval(welch([0.5, 0.6], [0.4, 0.5], confidence=0.5)), interval(None)
    ('+4.2 to +15.8', '–')
    """
    return NOTHING if ends is None else f"{points(ends.low)} to {points(ends.high)}"


def gain_with_interval(gain: Gain) -> str:
    """Write a gain in points with its interval, and say what the interval covers.

    >>> from erce.stats import welch
    >>> gain_with_interval(welch([0.5, 0.6], [0.4, 0.5], confidence=0.5))
    '+10.0 points, 95 % interval +4.2 to +15.8 (over seeds)'
    """
    over = "problems alone; other seeds may differ" if gain.covers == "problems" else gain.covers
    return f"{points(gain.gain)} points, 95 % interval {interval(gain)} (over {over})"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def p_value(p: float | None) -> str:
    """Write a p-value without its leading zero.

    >>> p_value(0.0312), p_value(0.0004), p_value(1.0), p_value(None)
    ('.031', '<.001', '1', '–')
    """
    if p is None:
        return NOTHING
    if p < 0.0005:
        return "<.001"
    return "1" if p > 0.9995 else fixed(p, 3).removeprefix("0")


def spread(mean: float, sd: float | None, digits: int = 1) -> str:
    """Write mean ± standard deviation over seeds in percent; the mean alone where one seed has no spread.

    >>> spread(0.781, 0.0081), spread(0.781, None)
    ('78.1 ± 0.8', '78.1')
    """
    return percent(mean, digits) + ("" if sd is None else f" ± {percent(sd, digits)}")


def strength(lam: float | None) -> str:
    """Write a penalty strength λ with a true minus sign.

    >>> strength(0.0), strength(0.5), strength(-0.1), strength(None)
    ('0', '0.5', '−0.1', '–')
    """
    return NOTHING if lam is None else f"{lam:g}".replace("-", MINUS)


def file_name(task: str) -> str:
    """Return a task's name as part of a file name.

    >>> file_name("my.tasks:HARD")
    'my.tasks-HARD'
    """
    return re.sub(r"[^\w.-]+", "-", task)


def visible(text: str) -> str:
    """Spell out control and format characters, surrogates and noncharacters, which can hide or reverse text.

    Line ends and tabs stay. Every text of a model, a task or a recipe is shown through this function.

    >>> visible("17-5=12\\x00\\x1b[31m\\u202e\\ud800")
    '17-5=12␀␛[31m\\\\u202e\\\\ud800'
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    code, noncharacter = ord(character), ord(character) & 0xFFFE == 0xFFFE
    if character in "\n\t" or (unicodedata.category(character) not in _HIDDEN and not noncharacter):
        return character
    return chr(0x2400 + code) if code < 32 else f"\\u{code:04x}"


_HIDDEN = ("Cc", "Cf", "Cs")  # control and format characters, surrogates


def one_line(text: str) -> str:
    """Return a name for a cell, a note or a comment: on one line, and with nothing hidden."""
    return " ".join(visible(text).split())
