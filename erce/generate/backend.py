"""A recipe → the backend that samples its completions: transformers in a cell's process, or a server.

To add one: a file with a class that has what `Backend` has, its line in `BACKENDS`, and in `erce.recipe` the
section of that name, which chooses it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from erce.generate.decoding import GenerationSettings
from erce.generate.server import Served
from erce.generate.vllm import StartedServer
from erce.recipe import Recipe
from erce.types import Completion, Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy


class Generate(Protocol):
    """A callable that samples `decoding.samples` completions per problem, in the order of `problems`."""

    def __call__(
        self, problems: Sequence[Problem], *, decoding: GenerationSettings, seed: int
    ) -> Sequence[Completion]: ...


class Backend(Protocol):
    """What samples the completions of a recipe's cells; every process makes its own of the recipe."""

    @property
    def recipe(self) -> Recipe:
        """The recipe as cells get it, with what is known only now, such as a server's address."""
        ...

    @property
    def name(self) -> str:
        """The name that a cell's record has."""
        ...

    @property
    def in_cell_process(self) -> bool:
        """Whether it samples in the cell's process, whose device decides dtype, memory and hours."""
        ...

    @property
    def after_training(self) -> bool:
        """Whether `running` takes devices of the trainings, which all come first then."""
        ...

    def check(self) -> None:
        """Raise an InputError or a ServerError where it cannot sample; nothing has been written yet."""

    def running(self, folder: Path) -> AbstractContextManager[None]:
        """Keep up what all cells sample from, such as a server, while the block runs them.

        `folder` is for its files, and the same in the next run, which may find what a killed one left.
        """
        ...

    def generator(self, base: "BasePolicy", adapter: Path | None) -> AbstractContextManager[Generate]:
        """Yield what samples from the base model under the adapter in a folder, or as it came for None."""
        ...


@dataclass(frozen=True)
class Transformers:
    """The backend of a recipe that names none: transformers, with the model that the process has loaded."""

    recipe: Recipe
    name = "transformers"
    in_cell_process = True
    after_training = False

    def check(self) -> None:
        """Do nothing: the model is checked where it is loaded."""

    def running(self, folder: Path) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def generator(self, base: "BasePolicy", adapter: Path | None) -> Iterator[Generate]:
        from erce.generate.transformers import generate
        from erce.hf.models import adapted

        with adapted(base.model, adapter) as policy:
            yield partial(generate, policy, base.tokenizer)


def _server(recipe: Recipe) -> Served:
    assert recipe.server is not None
    return StartedServer.of(recipe) if recipe.server.start else Served(recipe)


BACKENDS: dict[str, Callable[[Recipe], Backend]] = {"transformers": Transformers, "server": _server}


def backend_of(recipe: Recipe) -> Backend:
    """Return the backend whose section the recipe has; without one it is transformers."""
    chosen = [name for name in BACKENDS if getattr(recipe, name, None) is not None]
    return BACKENDS[chosen[0] if chosen else "transformers"](recipe)
