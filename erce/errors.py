"""The kinds of errors: what a user gave wrong, and what went wrong in a run."""


class InputError(ValueError):
    """A setting, file or argument that erce cannot use: one sentence with the value and the way out."""


class RunError(RuntimeError):
    """A run that its input does not explain, such as a diverged training or a full disk."""


class DivergedError(RunError):
    """A training whose objective, gradient or logits became NaN or infinite."""


class ServerError(RunError):
    """A completion server that cannot be reached, refuses, or answers what cannot be used."""


class UnfinishedError(RunError):
    """A study that stopped before every cell had a result; what is done is kept."""


class CellsFailedError(UnfinishedError):
    """Some cells failed; the sentence names them, and every other cell that could run is done."""


class ClusterLostError(UnfinishedError):
    """The Ray cluster that ran the cells does not answer any more."""
