"""A recipe → the backend that samples its completions: transformers in a cell's process, or a server.

To add one: a file with a class that has what `Transformers` has, its name in `Backend` and `BACKENDS`, and in
`erce.recipe` the section of that name, which chooses it.
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


@dataclass(frozen=True)
class Transformers:
    """The backend of a recipe that names none: transformers, with the model that the process has loaded.

    What it has, every backend has; every process makes its own of the recipe.
    """

    recipe: Recipe  # as cells get it, with what is known only now, such as a server's address
    name = "transformers"  # that a cell's record has
    in_cell_process = True  # where the process's device decides dtype, memory and hours
    after_training = False  # whether `running` takes devices of the trainings, which all come first then

    def check(self) -> None:
        """Raise an InputError or a ServerError where it cannot sample; a model is checked at its loading."""

    def running(self, folder: Path) -> AbstractContextManager[None]:
        """Keep up what all cells sample from, such as a server, while the block runs them.

        `folder` is for its files, and the same in the next run, which may find what a killed one left.
        """
        return nullcontext()

    @contextmanager
    def generator(self, base: "BasePolicy", adapter: Path | None) -> Iterator[Generate]:
        """Yield what samples from the base model under the adapter in a folder, or as it came for None."""
        from erce.generate.transformers import generate
        from erce.hf.models import adapted

        with adapted(base.model, adapter) as policy:
            yield partial(generate, policy, base.tokenizer)


Backend = Transformers | Served


def _server(recipe: Recipe) -> Served:
    assert recipe.server is not None
    return StartedServer.of(recipe) if recipe.server.start else Served(recipe)


BACKENDS: dict[str, Callable[[Recipe], Backend]] = {"transformers": Transformers, "server": _server}


def backend_of(recipe: Recipe) -> Backend:
    """Return the backend whose section the recipe has; without one it is transformers."""
    chosen = [name for name in BACKENDS if getattr(recipe, name, None) is not None]
    return BACKENDS[chosen[0] if chosen else "transformers"](recipe)
