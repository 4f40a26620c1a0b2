"""The sections of a recipe, [training] to [resources] → frozen dataclasses, and the rules that each keeps.

A rule is whether it holds and the sentence for where it does not; `erce.recipe` stops at the first.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from erce.recipe.fill import one_of

NORMALIZATIONS = ("token", "sequence")
HEADS = ("erce", "trl")
SCHEDULES = ("constant", "linear")
SERVERS = ("vllm", "openai")
WARMUP = 0.1
SECRET = "has an @, ? or #, and what stands there may be a secret, which every record would keep"

Rule = tuple[bool, str]


@dataclass(frozen=True, kw_only=True)
class Training:
    """LoRA fine-tuning; the paper's set-up (appendix on the GSM8K set-up) where nothing is said."""

    epochs: float = 3.0
    learning_rate: float = 2e-4  # peak; cosine to 0
    warmup: float = 0.03  # share of the steps
    batch_size: int = 16  # effective: sequences an optimizer step
    micro_batch_size: int = 8  # sequences a forward pass
    max_grad_norm: float = 1.0
    rank: int = 16
    lora_alpha: int = 32
    dropout: float = 0.05
    normalize: str = "token"  # "token": mean over the batch's response tokens | "sequence": the paper's 1/T
    head: str = "erce"  # "erce" | "trl": TRL's own loss head, for comparison
    gradient_checkpointing: bool = False
    max_length: int | None = None  # tokens of prompt and demonstration; None: the task's
    lam_schedule: str = "constant"  # "constant" | "linear": λ rises from 0 as a learning rate warms up
    lam_warmup: float = WARMUP  # share of the steps over which "linear" rises


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How completions are drawn; besides these, one greedy completion is always drawn for every problem."""

    temperature: float = 0.8  # of the samples, from the full softmax (no top-k, no top-p)
    samples: int = 4  # a problem
    max_new_tokens: int | None = None  # None: the task's
    batch_size: int = 512  # completions at a time; changes speed only
    frontier: tuple[float, ...] = ()  # further temperatures for the study's own task; it may grow
    frontier_samples: int = 1  # a problem at each of them
    stop: tuple[str, ...] = ()  # texts that end a completion, besides the model's own end


@dataclass(frozen=True, kw_only=True)
class Serving:
    """An OpenAI-compatible server that draws the completions; training stays in this process."""

    url: str  # ends where "/completions" begins: "http://localhost:8000/v1"
    kind: str = "vllm"  # "vllm" | "openai": gets OpenAI's decoding fields alone
    model: str | None = None  # the base model's name there; None: the recipe's model
    api_key_variable: str | None = None  # NAME of the environment variable that holds the key
    top_logprobs: int = 20  # alternatives a step, for the entropies; vLLM's --max-logprobs
    entropy_within: float = 0.1  # nats that a mean entropy may be off by
    concurrency: int = 32  # requests at a time
    timeout: float = 600.0  # seconds without a byte


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a cell needs to compute; it may change from run to run, and belongs to no study's identity."""

    gpus: float = 0.0  # devices, or 1/n where n cells share one; 0: none is set aside
    threads: int | None = None  # of a cell on a CPU; None: its share of the cores
    processes: int | None = None  # that train one cell together; None: one a device
    fsdp: bool = False  # they share the model's weights (FSDP 2), or else each has all of them (DDP)

    @property
    def training_processes(self) -> int:
        """How many train one cell together.

        >>> Resources().training_processes, Resources(gpus=0.5).training_processes
        (1, 1)
        >>> Resources(gpus=4).training_processes, Resources(processes=2).training_processes
        (4, 2)
        """
        return self.processes or (max(1, int(self.gpus)) if self.gpus < math.inf else 1)


def training_rules(training: Training) -> list[Rule]:
    rows, micro = training.batch_size, training.micro_batch_size
    return [
        *_over_zero("[training] ", training, "epochs", "learning_rate", "max_grad_norm", "rank"),
        *_over_zero("[training] ", training, "lora_alpha", "batch_size", "micro_batch_size", "max_length"),
        (
            micro > 0 and rows % micro == 0,
            f"[training] batch_size = {rows} is no multiple of micro_batch_size = {micro}",
        ),
        (
            0 <= training.warmup < 1,
            f"[training] warmup = {training.warmup:g} is a share of the steps, in [0, 1)",
        ),
        (0 <= training.dropout < 1, f"[training] dropout = {training.dropout:g} must lie in [0, 1)"),
        one_of("[training] normalize", training.normalize, NORMALIZATIONS),
        one_of("[training] head", training.head, HEADS),
        one_of("[training] lam_schedule", training.lam_schedule, SCHEDULES),
        (
            0 <= training.lam_warmup <= 1,
            f"[training] lam_warmup = {training.lam_warmup:g} is a share of the steps, in [0, 1]",
        ),
        (
            training.lam_schedule != "constant" or training.lam_warmup == WARMUP,
            f"[training] lam_warmup = {training.lam_warmup:g} has no effect on a constant λ; leave it out",
        ),
    ]


def decoding_rules(decoding: Decoding) -> list[Rule]:
    wanted = list(decoding.frontier)
    said = f"[decoding] frontier = {wanted}"
    return [
        *_over_zero("[decoding] ", decoding, "temperature", "samples", "max_new_tokens", "batch_size"),
        *_over_zero("[decoding] ", decoding, "frontier_samples"),
        (
            all(0 < each < math.inf for each in wanted),
            f"{said}: a temperature is a finite number over 0; greedy completions are always drawn",
        ),
        (len(set(wanted)) == len(wanted), f"{said} names a temperature twice; leave one out"),
        (
            decoding.temperature not in wanted,
            f"{said} has temperature = {decoding.temperature:g}, which is always drawn; leave it out",
        ),
        (
            all(float(f"{each:g}") == each for each in wanted),
            f"{said}: a temperature has at most six digits, which name its completions; round it",
        ),
        (
            all(text and "\ufffd" not in text for text in decoding.stop),
            f"[decoding] stop = {list(decoding.stop)} has an empty text or one with U+FFFD; leave it out",
        ),
    ]


def server_rules(server: Serving) -> list[Rule]:
    variable = server.api_key_variable
    return [
        (  # before any rule that shows the address
            re.search("[@?#]", server.url) is None,
            f"[server] url {SECRET}; write the address alone, and name the key's variable: api_key_variable",
        ),
        (
            re.match(r"https?://[^/]", server.url) is not None,
            f'[server] url = {server.url!r} is no server\'s address; write url = "http://localhost:8000/v1"',
        ),
        one_of("[server] kind", server.kind, SERVERS),
        *_over_zero("[server] ", server, "top_logprobs", "entropy_within", "concurrency", "timeout"),
        (
            variable is None or re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable) is not None,
            "[server] api_key_variable is no variable's name; write that of the one that holds the key",
        ),
    ]


def resource_rules(resources: Resources, training: Training) -> list[Rule]:
    gpus, processes = resources.gpus, resources.training_processes
    threads, named = resources.threads, resources.processes
    rows, micro = training.batch_size, training.micro_batch_size
    step = f"micro_batch_size = {micro} × {processes} processes"
    return [
        (
            0 <= gpus < math.inf and (_is_one_over_n(gpus) if 0 < gpus < 1 else gpus == int(gpus)),
            f"[resources] gpus = {gpus:g} is no whole number of devices, nor 1/n of one; write 1 or 0.5",
        ),
        (
            threads is None or threads > 0,
            f"[resources] threads = {threads} must be over 0; leave it out for a share of the cores",
        ),
        (
            named is None or (named > 0 and (gpus == 0 or named == max(1, gpus))),
            f"[resources] processes = {named} with gpus = {gpus:g}: each has one device; leave processes out",
        ),
        (
            not resources.fsdp or gpus > 1,
            f"[resources] fsdp = true with gpus = {gpus:g} has nothing to share; write gpus = 2 or more",
        ),
        (
            micro * processes > 0 and rows % (micro * processes) == 0,
            f"[training] batch_size = {rows} is no multiple of {step}",
        ),
    ]


def _is_one_over_n(share: float) -> bool:
    """Also 0.33, of which three fit on a device; not 0.34, of which two do.

    >>> [share for share in (0.5, 0.34, 0.33, 0.3, 0.25, 0.1) if _is_one_over_n(share)]
    [0.5, 0.33, 0.25, 0.1]
    """
    return (1 / share + 1e-9) % 1 < 0.05


def _over_zero(where: str, section: Any, *names: str) -> list[Rule]:
    """Of those that are set."""
    values = {name: getattr(section, name) for name in names if getattr(section, name) is not None}
    return [
        (0 < value < math.inf, f"{where}{name} = {value:g} must be over 0, and finite")
        for name, value in values.items()
    ]
