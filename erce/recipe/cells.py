"""One point of a recipe's grid."""

from dataclasses import dataclass, field

from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

RFT, SELF = (
    "rft",
    "self",
)  # arms that train on the base model's own right answers: beside the given ones, alone
OWN_ANSWERS = (RFT, SELF)
OWN = "own"  # in the place of an objective: the cell in which the base model samples the training problems


@dataclass(frozen=True)
class Cell:
    """One point of the grid; `lam` None is the base model as it came, which is not trained."""

    task: str
    lam: float | None
    seed: int
    objective: str = CROSS_ENTROPY  # what λ · penalty is added to, or one of `OWN_ANSWERS`
    # Whether it is sampled at the recipe's `temperatures` too; it is the same cell with and without them.
    all_temperatures: bool = field(default=False, compare=False)

    @property
    def arm(self) -> Arm:
        """The arm (table row) that this cell is one seed of."""
        return BASE_MODEL if self.lam is None else Arm(self.lam, self.objective)

    @property
    def is_own(self) -> bool:
        """Whether the cell holds the base model's samples of the training problems; it has no table row."""
        return self.lam is None and self.objective == OWN

    @property
    def learns_own(self) -> bool:
        """Whether the cell trains on the base model's own right answers."""
        return self.lam is not None and self.objective in OWN_ANSWERS

    @property
    def name(self) -> str:
        """The name that people read.

        >>> Cell("gsm8k", 0.5, 3).name, Cell("gsm8k", None, 0).name
        ('gsm8k-lam0.5-seed3', 'gsm8k-base')
        >>> Cell("gsm8k", 0.0, 3, "focal:2").name, Cell("gsm8k", 4.0, 3, "dft").name
        ('gsm8k-focal-2-seed3', 'gsm8k-dft-lam4-seed3')
        >>> Cell("gsm8k", None, 0, OWN).name
        'gsm8k-own'
        """
        seed = "" if self.arm.is_base else f"-seed{self.seed}"
        return f"{self.task}-{OWN if self.is_own else self.arm.slug}{seed}".replace(":", "-")
