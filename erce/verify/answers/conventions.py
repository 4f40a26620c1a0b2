"""The choices on which people disagree when they compare two answers."""

from dataclasses import dataclass

from erce.errors import InputError


@dataclass(frozen=True)
class Conventions:
    r"""The choices on which people disagree when they call two answers the same.

    - `ordered_lists`: if True, a bare list (1, 2 without brackets) in another order is another answer.
    - `require_base`: if True, 52 is not 52_8; if False, a missing base is ignored. Two bases always conflict.
    - `unreduced`: if True, 2/4 stands for 1/2; if False, a reducible fraction of integers is accepted only
      for a reference with a reducible fraction.
    - `units`: "conflict" rejects another unit (18 hours for 18 minutes) and ignores a missing unit;
      "require" rejects a missing unit too; "ignore" ignores all units.
    - `percent`: "either" accepts 20% for 20 and for 0.2; "value" for 0.2 only.
    """

    ordered_lists: bool = False
    require_base: bool = True
    unreduced: bool = True
    units: str = "conflict"
    percent: str = "either"

    def __post_init__(self) -> None:
        for name, value, known in (("units", self.units, _UNITS), ("percent", self.percent, _PERCENTS)):
            if value not in known:
                raise InputError(f"no convention {name}={value!r}; give one of {', '.join(known)}")


_UNITS = ("conflict", "require", "ignore")
_PERCENTS = ("either", "value")
