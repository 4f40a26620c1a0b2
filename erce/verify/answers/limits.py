"""How large an answer may be, and the ways in which a text is not an answer."""

MAX_CHARACTERS = 2000
MAX_TOKENS = 1000
MAX_DEPTH = 40  # groups within groups, towers of powers, functions of functions
MAX_DIGITS = 400  # of one number as written
MAX_ITEMS = 200  # of a list, a set, a tuple, a matrix
MAX_SYMBOLS = 12
MAX_EXPONENT = 10**6
MAX_BITS = 20_000  # of an exact number
MAX_MAGNITUDE = 10**7  # of the binary exponent of a number in floating point
MAX_WORK = 10_000  # of one comparison, in steps of about a microsecond


class UnparsedError(ValueError):
    """A text that is not an answer of a known kind."""


class UndefinedError(UnparsedError):
    """An expression without a value: a division by zero, the logarithm of zero."""


class TooLargeError(ValueError):
    """An answer beyond one of the limits."""


class Budget:
    """The work that one comparison may still do; spending more raises `TooLargeError`."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise TooLargeError("more arithmetic than a check may do")
