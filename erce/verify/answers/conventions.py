"""What people disagree on when they compare two answers → one record of what is taken for the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Conventions:
    r"""What people disagree on when they call two answers the same.

    - `ordered_lists`: a bare list (1, 2 without brackets) in another order is another answer.
    - `require_base`: 52 is not 52_8. Without it, a missing base is read over; two bases always conflict.
    - `unreduced`: 2/4 stands for 1/2. Without it, a fraction of integers that can be reduced is accepted only
      for a reference with one.
    - `units`: "conflict" rejects another unit (18 hours for 18 minutes) and reads over a missing one;
      "require" rejects a missing one too; "ignore" reads over all units.
    - `percent`: "either" takes 20% for 20 and for 0.2; "value" for 0.2 only.
    """

    ordered_lists: bool = False
    require_base: bool = True
    unreduced: bool = True
    units: str = "conflict"
    percent: str = "either"

    def __post_init__(self) -> None:
        for name, value, known in (("units", self.units, _UNITS), ("percent", self.percent, _PERCENTS)):
            if value not in known:
                raise ValueError(f"no convention {name}={value!r}; it is one of {', '.join(known)}")


_UNITS = ("conflict", "require", "ignore")
_PERCENTS = ("either", "value")
