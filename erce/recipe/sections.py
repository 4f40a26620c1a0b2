"""One point of a recipe's grid, and the sections of a recipe; `erce.recipe.rules` checks them."""

from dataclasses import dataclass, field

from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

# Arms that train on a model's own right answers: beside the given ones, alone.
RFT, SELF = "rft", "self"
OWN_METHODS = (RFT, SELF)
OWN = "own"  # in the place of a method: a cell in which a model samples the training problems
NORMALIZATIONS = ("token", "sequence")
HEADS = ("erce", "trl")
SCHEDULES = ("constant", "linear", "delayed")
UNPROVEN = ("accept", "refuse")
TRACKERS = ("none", "tensorboard", "trackio", "wandb", "mlflow")  # each a package of that name
SERVERS = ("vllm", "openai")
WARMUP = 0.1
AUTO = "auto"  # in the place of a list of λ
MOST_SEQUENCES, MOST_COMPLETIONS = 8, 512  # of a forward pass and at a time, where a recipe leaves them out
GRID = (0.0, 0.3, 1.0, 3.0, 8.0)  # what lams = "auto" stands for


@dataclass(frozen=True)
class Cell:
    """One point of the grid; `lam` None is the base model as it came, which is not trained.

    With the method `OWN` it is not a point of the grid: the model of that λ and seed, or the base model,
    samples the training problems.
    """

    task: str
    lam: float | None
    seed: int
    method: str = CROSS_ENTROPY  # the base loss by name, or one of `OWN_METHODS`
    # Whether it is sampled at the recipe's `temperatures` too; it is the same cell with and without them.
    all_temperatures: bool = field(default=False, compare=False)

    @property
    def arm(self) -> Arm:
        """The arm (table row) that this cell is one seed of."""
        return BASE_MODEL if self.lam is None else Arm(self.lam, self.method)

    @property
    def is_own(self) -> bool:
        """Whether the cell holds a model's samples of the training problems; it has no table row."""
        return self.method == OWN

    @property
    def is_trained(self) -> bool:
        """Whether the cell trains an adapter, which the base model's and those of own samples do not."""
        return self.lam is not None and not self.is_own

    @property
    def learns_own(self) -> bool:
        """Whether the cell trains on own right answers."""
        return self.lam is not None and self.method in OWN_METHODS

    @property
    def name(self) -> str:
        """The name that people read.

        >>> Cell("gsm8k", 0.5, 3).name, Cell("gsm8k", None, 0).name
        ('gsm8k-lam0.5-seed3', 'gsm8k-base')
        >>> Cell("gsm8k", 0.0, 3, "focal:2").name, Cell("gsm8k", 4.0, 3, "dft").name
        ('gsm8k-focal-2-seed3', 'gsm8k-dft-lam4-seed3')
        >>> Cell("gsm8k", None, 0, OWN).name, Cell("gsm8k", 4.0, 1, OWN).name
        ('gsm8k-own', 'gsm8k-own-lam4-seed1')
        """
        seed = "" if self.lam is None else f"-seed{self.seed}"
        slug = OWN if self.is_own and self.lam is None else self.arm.slug
        return f"{self.task}-{slug}{seed}".replace(":", "-")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of your `data` that hold a problem's fields; left out, the column of the same name."""

    prompt: str | None = None  # the user's text
    demonstration: str | None = None  # the answer to learn
    messages: str | None = None  # in place of the two: one turn of the user, one of the assistant
    answer: str | None = None  # for your function, a text or a number
    id: str | None = None  # unique
    tests: str | None = None  # for programs, a list of asserts
    setup: str | None = None  # for programs, the statements before the asserts
    entry_points: str | None = None  # for programs, the names that a candidate answers
    inputs: str | None = None  # for programs that print, a list of standard inputs
    outputs: str | None = None  # for each of them the expected output
    weight: str | None = None  # of the demonstration in training, a number; 1 where there is no column
    meta: str | None = None  # for your function, anything
    split: str | None = None  # "train" or "test"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """How completions may be verified."""

    unproven: str = "accept"  # "refuse": stop at a problem whose programs could cheat (docs/sandbox.md)


@dataclass(frozen=True, kw_only=True)
class Training:
    """The settings of a LoRA fine-tuning; the defaults are the paper's (appendix on the GSM8K set-up)."""

    epochs: float = 3.0  # passes over the demonstrations
    learning_rate: float = 2e-4  # peak; cosine to 0
    warmup: float = 0.03  # share of the steps
    batch_size: int = 16  # effective: sequences an optimizer step
    micro_batch_size: int | None = None  # sequences a forward pass; None: as many as fit, at most 8
    max_grad_norm: float = 1.0  # gradients are clipped to this norm
    rank: int = 16  # of the LoRA adapter
    lora_alpha: int = 32  # the adapter is scaled by lora_alpha / rank
    dropout: float = 0.05  # of the adapter's input
    normalize: str = "token"  # "token": mean over the batch's response tokens | "sequence": the paper's 1/T
    head: str = "erce"  # "erce" | "trl": TRL's own loss head, for comparison
    gradient_checkpointing: bool = False  # saves memory; the forward pass is computed twice
    max_length: int | None = None  # tokens of prompt and demonstration; None: the task's
    lam_schedule: str = "constant"  # "constant" | "linear": λ rises from 0 | "delayed": 0, then λ at once
    lam_warmup: float = WARMUP  # share of the steps over which "linear" rises and "delayed" keeps 0
    checkpoint_minutes: float = 5.0  # between checkpoints that a stopped training goes on from; 0: none
    report_to: str = "none"  # "tensorboard" | "trackio" | "wandb" | "mlflow": also log every training there

    def sequences(self, *, most: int = MOST_SEQUENCES) -> int:
        """Return the sequences of a forward pass; left out, the most up to `most` that share a batch equally.

        >>> Training().sequences(), Training(batch_size=12).sequences(most=5)
        (8, 4)
        """
        if self.micro_batch_size is not None:
            return self.micro_batch_size
        return max(n for n in range(1, most + 1) if self.batch_size % n == 0)


@dataclass(frozen=True, kw_only=True)
class Objective:
    """What a training minimises, by name: a base loss + λ · a penalty."""

    lam: float  # 0 is the base loss alone
    penalty: str = "shannon"
    order: float = 1.0  # of the penalty; 1 where it takes none
    base_loss: str = "cross-entropy"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How completions are sampled; beside these, every problem always gets one greedy completion."""

    temperature: float = 0.8  # of the samples, from the full softmax (no top-k, no top-p)
    samples: int = 4  # per problem
    max_new_tokens: int | None = None  # None: the task's
    batch_size: int | None = None  # completions at a time, which changes speed only; None: as many as fit
    temperatures: tuple[float, ...] = ()  # of a temperature sweep (docs/recipes.md); it may grow
    temperature_samples: int = 1  # per problem at each of them
    stop: tuple[str, ...] = ()  # texts that end a completion, besides the model's own end
    compile: bool | None = None  # a static cache and compiled steps; None: on a GPU, if the model has them


@dataclass(frozen=True, kw_only=True)
class OwnSamples:
    """Samples of the training problems, for the methods "rft" and "self"."""

    lam: float | None = None  # the models trained with this λ sample, each for its seed; None: the base model
    adapter: str | None = None  # the folder of an adapter of the base model, under which it samples
    samples: int = 8  # per problem, generated and verified once, before any training
    temperature: float = 0.8  # from the full softmax
    keep: int = 4  # distinct accepted samples of a problem that are trained on, at most


@dataclass(frozen=True, kw_only=True)
class Serving:
    """An OpenAI-compatible server that samples the completions; training stays in this process."""

    url: str = ""  # ends where "/completions" begins; left out, that of the server that `start` starts
    start: bool = False  # true: vLLM is started on this machine for the run, and ended with it
    gpus: str | None = None  # of a started server, as in CUDA_VISIBLE_DEVICES: "6,7"; None: those of erce
    args: tuple[str, ...] = ()  # further words for `vllm serve`, which win over erce's
    kind: str = "vllm"  # "vllm" | "openai": gets OpenAI's decoding fields alone
    model: str | None = None  # the base model's name there; None: the recipe's model
    api_key_variable: str | None = None  # NAME of the environment variable that holds the key
    concurrency: int = 32  # requests at a time
    timeout: float = 600.0  # seconds without a byte


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The device and threads of a cell; they may change from run to run within a study."""

    gpus: float = 0.0  # 1: a device of its own; 0.5: two cells share one; 0: none is set aside
    threads: int | None = None  # CPU threads of a cell; None: its share of the cores
