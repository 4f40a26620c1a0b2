"""A model's config.json, or the public values of the paper's models → its dimensions and weight count."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from erce.catalog import is_gguf, model_folder

NEEDED = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A dense decoder with a gated feed-forward, as Qwen2, Llama and Mistral are."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int
    tied: bool  # the output head is the embedding
    biased: bool  # q, k and v have biases, as in Qwen2

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """Return (inputs, outputs) of a layer's seven projections: q, k, v, o, gate, up, down."""
        hidden, inner = self.hidden, self.intermediate
        query, key = self.heads * self.head_width, self.kv_heads * self.head_width
        attention = ((hidden, query), (hidden, key), (hidden, key), (query, hidden))
        return (*attention, (hidden, inner), (hidden, inner), (inner, hidden))

    @property
    def body(self) -> int:
        """Return the weights of all projections; each is one multiplication and one addition a token."""
        return self.layers * sum(inputs * outputs for inputs, outputs in self.linears)

    @property
    def head(self) -> int:
        """Return the weights of the output head, tied or not."""
        return self.hidden * self.vocabulary

    @property
    def weights(self) -> int:
        """Return the number of all weights.

        >>> [f"{architecture.weights:,}" for architecture in PUBLIC.values()]
        ['1,543,714,304', '7,615,616,512']
        """
        norms = self.hidden * (2 * self.layers + 1)
        biases = self.layers * (self.heads + 2 * self.kv_heads) * self.head_width if self.biased else 0
        return self.body + norms + biases + self.head * (1 if self.tied else 2)

    def adapter(self, rank: int) -> int:
        """Return the weights of LoRA on the seven projections: rank · (inputs + outputs) each."""
        return self.layers * rank * sum(inputs + outputs for inputs, outputs in self.linears)


_qwen25 = partial(Architecture, head_width=128, biased=True)

# The values are those of each model's config.json on the hub.
PUBLIC = {
    "Qwen/Qwen2.5-1.5B-Instruct": _qwen25(
        hidden=1536, intermediate=8960, layers=28, heads=12, kv_heads=2, vocabulary=151_936, tied=True
    ),
    "Qwen/Qwen2.5-7B-Instruct": _qwen25(
        hidden=3584, intermediate=18_944, layers=28, heads=28, kv_heads=4, vocabulary=152_064, tied=False
    ),
}


@dataclass(frozen=True)
class FoundArchitecture:
    """An architecture, or None if it is unknown, and where it comes from, in words."""

    architecture: Architecture | None
    where: str


def find_architecture(model: str) -> FoundArchitecture:
    """Find the architecture of a model: embedded, in a folder, in the hub's local cache, or of the paper.

    Nothing is fetched. A mixture of experts, or a config.json without the usual fields, has None.

    >>> find_architecture("tiny").architecture.weights
    850048
    >>> find_architecture("Qwen/Qwen2.5-7B-Instruct").architecture.layers
    28
    """
    path = model_folder(model) / "config.json"
    if is_gguf(model):
        from erce.hf.models import pretrained_name

        path = Path(pretrained_name(model)) / "config.json"
    if not path.is_file():
        path = _cached(model)
    if path is not None:
        return _read(path, model)
    if model in PUBLIC:
        return FoundArchitecture(PUBLIC[model], "the public values in erce/study/plan/architecture.py")
    return FoundArchitecture(None, f"no config.json of {model!r} on this machine; name a folder that has it")


def _cached(model: str) -> Path | None:
    """Return the path of the model's config.json in the hub's cache; None if it is not there."""
    if model.count("/") != 1 or Path(model).exists():
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(model, "config.json")
    except HFValidationError:
        return None
    return Path(cached) if isinstance(cached, str) else None


def _read(path: Path, model: str) -> FoundArchitecture:
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        config = config.get("text_config", config)
        hidden, intermediate, layers, heads, vocabulary = (int(config[name]) for name in NEEDED)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return FoundArchitecture(None, f"{path} does not have the fields of a dense decoder ({error!r:.60})")
    if any(name.startswith(("num_experts", "num_local_experts", "n_routed_experts")) for name in config):
        return FoundArchitecture(
            None, f"{model!r} is a mixture of experts, for which there is no formula here"
        )
    architecture = Architecture(
        hidden=hidden,
        intermediate=intermediate,
        layers=layers,
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_width=int(config.get("head_dim") or hidden // heads),
        vocabulary=vocabulary,
        tied=bool(config.get("tie_word_embeddings", False)),
        biased=bool(config.get("attention_bias", config.get("model_type") == "qwen2")),
    )
    return FoundArchitecture(architecture, "its config.json")
