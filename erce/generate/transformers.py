"""A Hugging Face causal LM and problems → Completions, greedy or from the full tempered softmax."""

import copy
import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from transformers import (
    DynamicCache,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedTokenizerBase,
    StaticCache,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from erce import events
from erce.errors import DivergedError
from erce.generate.decoding import GenerationSettings, Watch, before_stop, check_ids, spoken
from erce.generate.static_cache import StaticCaches, ask_to_compile, compiles, decoding_attention
from erce.hf.head import evaluating
from erce.hf.prompt import end_tokens, prompt_ids
from erce.types import Completion, Problem

COPYABLE = (DynamicLayer, DynamicSlidingWindowLayer)  # kinds of cache with nothing but one entry a row
LOWEST = -1e4  # of a logit below the largest; e^u is 0 from −104 on
COLDEST = 1e-30  # the lowest temperature that float32 can divide by; only the argmax is left at it
_READ_ALIKE = WeakKeyDictionary[Any, int]()  # model → the longest prompt that changed nothing in a batch
BLOCK = 256  # tokens of the vocabulary that are summed at once
ROOM_TOKENS = 32  # by which a cache grows
READ_TOKENS = (
    4096  # of contexts that a CPU reads at once: more do not fit its caches, and take up to twice as long
)
TAIL = 4  # a batch ends once under 1/TAIL of its rows still write; these rows join the next batch


def generate(
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[Problem],
    *,
    decoding: GenerationSettings,
    seed: int,
    prompts: Mapping[str, list[int]] | None = None,
) -> list[Completion]:
    """Sample `decoding.samples` completions per problem, in the order of `problems`, then of samples.

    Temperature 0 takes the argmax of the model's logits at every step. Any other samples from the whole
    softmax at that temperature, with random numbers that depend on (seed, problem id, sample, position)
    alone: a rerun gives the same completions, and so do other batch sizes and orders, up to the rounding of
    logits between batch shapes. The checkpoint's own generation settings (penalties, top-k, forced tokens, …)
    have no effect. `prompts` are the token ids of the prompts by the problems' ids; None makes them of the
    problems' texts (`erce.hf.prompt.prompt_ids`).

    A completion ends with one of `erce.hf.prompt.end_tokens`, which counts in `tokens`, `logprob` and
    `entropy` and is not in `text`, with a text of `decoding.stop`, or unfinished at `max_new_tokens`. A
    tokenizer without any, problems with one id and, with `decoding.compile` true, a model that cannot be
    compiled are InputErrors; logits that are not a distribution (NaN, all −inf) are a DivergedError.
    """
    rows = _rows(tokenizer, problems, decoding, seed, prompts)
    waiting = sorted(rows, key=lambda row: len(row.prompt))
    static, at_once, compiled = None, decoding.batch_size, bool(rows) and compiles(model, decoding.compile)
    if at_once > 1 and rows and _reads_padding(model, tokenizer, waiting[0].prompt, waiting[-1].prompt):
        at_once = 1
    elif compiled:
        tokens = max(len(row.prompt) for row in rows) + decoding.max_new_tokens
        static = StaticCaches(model, tokens=tokens, small=-(-at_once // TAIL), full=at_once)
    with _plain_generation(model), decoding_attention(model, compiled=static is not None):
        while waiting:
            unfinished = []
            while waiting:  # the longest first: memory runs out at once or never
                batch = waiting[-at_once:]
                del waiting[-at_once:]
                unfinished += _advance(model, tokenizer, batch, decoding, static)
            waiting = sorted(unfinished, key=lambda row: len(row.prompt) + len(row.tokens))
    return [row.completion(before_stop(spoken(tokenizer, row.tokens), decoding.stop)) for row in rows]


@dataclass
class _Row:
    """A completion while it is written."""

    problem: str
    sample: int
    prompt: list[int]
    key: bytes
    tokens: list[int] = field(default_factory=list)
    finished: bool = False
    logprob: float = 0.0
    entropy: float = 0.0  # a sum over the tokens

    def completion(self, text: str) -> Completion:
        return Completion(
            problem=self.problem,
            sample=self.sample,
            text=text,
            tokens=len(self.tokens),
            finished=self.finished,
            logprob=self.logprob,
            entropy=self.entropy / len(self.tokens),
        )


def _rows(
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[Problem],
    decoding: GenerationSettings,
    seed: int,
    prompts: Mapping[str, list[int]] | None,
) -> list[_Row]:
    """Return one row per (problem, sample), after the request was checked."""
    end_tokens(tokenizer)
    check_ids(problems)
    rows = []
    for problem in problems:
        prompt = prompt_ids(tokenizer, problem.prompt) if prompts is None else prompts[problem.id]
        for sample in range(decoding.samples):
            rows.append(_Row(problem.id, sample, prompt, f"{seed}\0{problem.id}\0{sample}".encode()))
    return rows


def _uniforms(row: _Row, positions: int) -> np.ndarray:
    """Return random numbers in [0, 1), one a position: 53 bits each of a hash of the row's key."""
    bits = hashlib.shake_128(row.key).digest(8 * positions)
    return (np.frombuffer(bits, dtype="<u8") >> 11) * 2.0**-53


def _reads_padding(
    model: Any, tokenizer: PreTrainedTokenizerBase, shortest: list[int], longest: list[int]
) -> bool:
    """Return whether the shortest prompt has other logits in a batch with the longest than alone.

    PEFT puts virtual tokens before the padding; some classes take it for text (RWKV, RecurrentGemma), and
    some rotary embeddings depend on the batch's longest row. Looked at once per model and greatest length.
    """
    if _has_virtual_tokens(model):
        return True
    if shortest == longest or _READ_ALIKE.get(model, 0) >= len(longest):
        return False
    settings, device = _greedy_settings(tokenizer), next(model.parameters()).device
    settings.max_new_tokens, settings.eos_token_id = 2, None  # the second token reads the cache
    settings.output_logits = settings.return_dict_in_generate = True
    with _plain_generation(model):
        alone, beside = (
            torch.stack(model.generate(input_ids=ids, attention_mask=mask, generation_config=settings).logits)
            for ids, mask in (_left_padded(some, 0, device) for some in ([shortest], [shortest, longest]))
        )
    alone, beside = alone[:, 0].float(), beside[:, 0].float()
    if alone[0].argmax() != beside[0].argmax():  # of a tie, after which they read two texts
        alone, beside = alone[:1], beside[:1]
    rounding = max(1e-3, 8 * torch.finfo(next(model.parameters()).dtype).eps)
    if not (beside - alone).abs().max() > rounding * alone.abs().max():  # NaN is told later
        _READ_ALIKE[model] = len(longest)
        return False
    warnings.warn(
        f"a {type(model).__name__} reads a prompt otherwise in a batch than alone, so that completions are "
        "written one at a time",
        stacklevel=3,
    )
    return True


@contextmanager
def _plain_generation(model: Any) -> Iterator[None]:
    """Run the block with the model in eval mode and without generation settings of its own.

    `generate` fills a field that is None from the model's own config, which is therefore set aside. A PEFT
    model uses its base model's. The head gets contiguous hidden states: for the last position of several
    prompts, which are not, torch on a CPU would copy the head's weights once a prompt.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    own_settings, head = base.generation_config, base.get_output_embeddings()
    base.generation_config = GenerationConfig()
    hook = None if head is None else head.register_forward_pre_hook(_contiguous)
    try:
        with evaluating(model):
            yield
    finally:
        base.generation_config = own_settings
        if hook is not None:
            hook.remove()


def _contiguous(head: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(states.contiguous() for states in inputs)


def _advance(
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    rows: list[_Row],
    decoding: GenerationSettings,
    static: StaticCaches | None,
) -> list[_Row]:
    """Write more tokens to the rows, in place, and return the rows that have not ended."""
    settings, device = _greedy_settings(tokenizer), next(model.parameters()).device
    room, fewest = [decoding.max_new_tokens - len(row.tokens) for row in rows], len(rows) / TAIL
    if static is not None:
        ask_to_compile(settings, device)
        is_small = len(rows) <= static.small
        room += [0] * ((static.small if is_small else static.full) - len(rows))
        fewest = 0 if is_small else fewest  # fewer rows would not make a small batch faster
    watches = [Watch(tokenizer, decoding.stop, row.tokens) for row in rows] if decoding.stop else []
    ends: Any = settings.eos_token_id
    choice, stop = _Choice(rows, decoding, device), _Stop(ends, room, watches, fewest, device)
    tokens = _written(model, settings, rows, choice, stop, static).cpu().numpy()  # (rows, steps)
    logprob, entropy = choice.recorded()
    ended = np.isin(tokens, ends)
    end = np.where(ended.any(1), ended.argmax(1) + 1, tokens.shape[1])
    for at, row in enumerate(rows):
        length = min(end[at], room[at], stop.complete.get(at, room[at]))
        row.tokens += tokens[at, :length].tolist()
        row.logprob += float(logprob[at, :length].sum())
        row.entropy += float(entropy[at, :length].sum())
        row.finished = bool(ended[at, :length].any()) or at in stop.complete
    return [row for row in rows if not row.finished and len(row.tokens) < decoding.max_new_tokens]


def _written(
    model: Any,
    settings: GenerationConfig,
    rows: list[_Row],
    choice: "_Choice",
    stop: "_Stop",
    static: StaticCaches | None,
) -> Tensor:
    """Return the tokens that follow each row's context, (rows, steps); those after a row's end are noise.

    A static cache's rows of padding repeat the first row, after all others. It may be full before every row
    has ended, though not before the longest context's has.
    """
    contexts = [row.prompt + row.tokens for row in rows]
    contexts += contexts[:1] * (len(stop.room) - len(contexts))
    ids, mask = _left_padded(contexts, settings.pad_token_id, stop.room.device)
    width = ids.shape[1]
    cache, logits = _read_once(model, settings, contexts, static)
    if cache is not None:
        ids = torch.cat([ids, choice(ids, logits).argmax(-1, keepdim=True)], 1)
        mask = torch.cat([mask, mask.new_ones(len(contexts), 1)], 1)
        if bool(stop(ids, None).all()):
            return ids[:, width:]
    steps = int(stop.room.max())
    if static is not None:
        steps = min(steps, static.length + 1 - width)  # the last token's keys are not kept
    settings.max_new_tokens = steps + width - ids.shape[1]
    written = model.generate(
        input_ids=ids,
        attention_mask=mask,
        past_key_values=cache,
        generation_config=settings,
        logits_processor=LogitsProcessorList([choice]),
        stopping_criteria=StoppingCriteriaList([stop]),
    )
    return written[:, width:]


def _read_once(
    model: Any, settings: GenerationConfig, contexts: list[list[int]], static: StaticCaches | None
) -> tuple[DynamicCache | StaticCache | None, Tensor]:
    """Read each distinct context once, and return a cache for all rows and their next tokens' logits.

    The logits are (rows, v). The cache is None where the model's has states of another kind, or virtual
    tokens, which a second call would put there again. Reading is not compiled.

    The continuous batching of transformers 5.23 shares prompts too, but it samples all tokens from one global
    random generator and reports no entropies, so that it cannot stand in for `_Choice`.
    """
    unique = {context: at for at, context in enumerate(dict.fromkeys(map(tuple, contexts)))}
    device = next(model.parameters()).device
    ids, mask = _left_padded([list(context) for context in unique], settings.pad_token_id, device)
    once = copy.copy(settings)
    once.max_new_tokens, once.output_logits, once.return_dict_in_generate = 1, True, True
    once.disable_compile, once.compile_config = True, None
    at_once = max(1, READ_TOKENS // ids.shape[1]) if device.type == "cpu" else len(ids)
    reads = [
        model.generate(input_ids=piece_ids, attention_mask=piece_mask, generation_config=once)
        for piece_ids, piece_mask in zip(ids.split(at_once), mask.split(at_once), strict=True)
    ]
    cache = reads[0].past_key_values
    rows = torch.tensor([unique[tuple(context)] for context in contexts], device=device)
    logits = torch.cat([read.logits[0] for read in reads]).float()[rows]
    # Some models keep states in their cache that selecting rows would leave behind, or nothing in a layer.
    if not isinstance(cache, DynamicCache) or _has_virtual_tokens(model):
        return None, logits
    layers: list[Any] = cache.layers
    if any(type(layer) not in COPYABLE or not layer.is_initialized for layer in layers):
        return None, logits
    if len(reads) > 1:
        for layer, *others in zip(layers, *(read.past_key_values.layers for read in reads[1:]), strict=True):
            layer.keys = torch.cat([layer.keys, *(other.keys for other in others)])
            layer.values = torch.cat([layer.values, *(other.values for other in others)])
            for other in others:  # or all keys and values would be there twice
                other.keys = other.values = None
    if static is not None:
        return static.filled(cache, rows), logits
    if len(unique) < len(contexts):
        cache.batch_select_indices(rows)
    cache.layers = [_RoomyLayer(layer) if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache, logits


def _has_virtual_tokens(model: Any) -> bool:
    return getattr(getattr(model, "active_peft_config", None), "is_prompt_learning", False)


class _RoomyLayer(DynamicLayer):
    """A layer of a cache that writes new tokens into room it has; `DynamicLayer` copies all at each token."""

    def __init__(self, read: DynamicLayer) -> None:
        super().__init__()
        states: list[Any] = [read.keys, read.values]  # (rows, heads, positions, width) each
        self.lazy_initialization(*states)
        self.keys, self.values = states
        self.length = states[0].shape[-2]

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        start, self.length = self.length, self.length + key_states.shape[-2]
        room: list[Any] = [self.keys, self.values]
        if self.length > room[0].shape[-2]:
            more = (0, 0, 0, self.length - room[0].shape[-2] + ROOM_TOKENS)
            self.keys, self.values = room = [torch.nn.functional.pad(states, more) for states in room]
        for states, new in zip(room, (key_states, value_states), strict=True):
            states[:, :, start : self.length] = new
        return [states[:, :, : self.length] for states in room]

    def get_seq_length(self) -> int:
        return self.length


def _greedy_settings(tokenizer: PreTrainedTokenizerBase) -> GenerationConfig:
    """Return settings that take the argmax of the processors' scores; no field changes the scores.

    All other fields are transformers' defaults, as `_plain_generation` leaves the model none. Transformers'
    own sampling is off also where we sample: `_Choice` leaves one token to choose from.
    """
    ends = end_tokens(tokenizer)
    return GenerationConfig(
        eos_token_id=ends,
        pad_token_id=ends[0] if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
        disable_compile=True,
    )


def _left_padded(sequences: list[list[int]], pad: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return ids and attention mask, both (rows, width)."""
    width = max(map(len, sequences))
    ids = [[pad] * (width - len(sequence)) + sequence for sequence in sequences]
    mask = [[0] * (width - len(sequence)) + [1] * len(sequence) for sequence in sequences]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


class _Choice(LogitsProcessor):
    """The choice of every row's next token, with its log p and the step's entropies.

    Log p and the first entropy are at temperature 1, the second is of the distribution that was sampled from.
    Rows of padding follow the `rows` in a batch; any token will do for them.
    """

    def __init__(self, rows: list[_Row], decoding: GenerationSettings, device: torch.device) -> None:
        self.count = len(rows)
        self.temperature = decoding.temperature
        self.logprobs: list[Tensor] = []
        self.entropies: list[Tensor] = []
        self.buffers: tuple[Tensor, ...] | None = None  # three of (rows, v), and the scores that are returned
        self.chosen: Tensor | None = None  # at the step before
        self.uniforms = torch.empty(0)
        if self.temperature > 0:
            longest = decoding.max_new_tokens - min(len(row.tokens) for row in rows)
            table = np.zeros((len(rows), longest))
            for at, row in enumerate(rows):
                ahead = _uniforms(row, decoding.max_new_tokens)[len(row.tokens) :]
                table[at, : len(ahead)] = ahead
            has_float64 = device.type != "mps"
            self.uniforms = torch.from_numpy(table).to(device if has_float64 else "cpu")  # (rows, steps)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:  # (rows, positions), (rows, v)
        if self.buffers is None:  # at each step they would cost a CPU more than what is computed in them
            self.buffers = (
                *(torch.empty_like(scores[: self.count]) for _ in range(3)),
                torch.full_like(scores, -torch.inf),
            )
        below, weights, tempered, only = self.buffers
        real = scores[: self.count]
        torch.sub(real, real.amax(-1, keepdim=True), out=below)
        torch.exp(below, out=weights)
        entropy, log_sum = _entropy_of(torch.clamp(below, min=LOWEST, out=tempered), weights)
        if self.temperature == 0:
            chosen = below.argmax(-1, keepdim=True)
        else:
            torch.div(below, max(self.temperature, COLDEST), out=tempered)
            chosen = self._sampled(torch.exp(tempered, out=weights))
        self.logprobs.append(below.gather(-1, chosen)[:, 0] - log_sum)
        self.entropies.append(entropy)
        if self.temperature == 0:
            return scores
        if self.chosen is not None:
            only[: self.count].scatter_(-1, self.chosen, -torch.inf)
        self.chosen = chosen
        only[: self.count].scatter_(-1, chosen, 0.0)
        return only

    def _sampled(self, weights: Tensor) -> Tensor:
        """Return where the cumulative weights pass the random numbers, (rows, 1).

        Summed in float64, first over blocks of the vocabulary and then within one block of each row.
        """
        blocks = torch.nn.functional.pad(weights, (0, -weights.shape[-1] % BLOCK)).unflatten(-1, (-1, BLOCK))
        device = self.uniforms.device
        block, rest = _passed(blocks.sum(-1).to(device), self.uniforms[:, len(self.logprobs), None])
        inside = blocks.gather(1, block.to(blocks.device)[:, :, None].expand(-1, -1, BLOCK))[:, 0]
        at, _ = _passed(inside.to(device), rest)
        return (block * BLOCK + at).clamp_(max=weights.shape[-1] - 1).to(weights.device)

    def recorded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return log p of the chosen tokens and the entropies, each (rows, steps) in nats."""
        steps = (self.logprobs, self.entropies)
        logprob, entropy = (torch.stack(xs, 1).double().cpu().numpy() for xs in steps)
        if np.isnan(entropy).any():
            raise DivergedError(
                "the model's logits are not a distribution (NaN or infinite): its training diverged; lower "
                "the learning rate or λ"
            )
        return logprob, entropy


def _passed(weights: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    """Return the entry at which each row's sum passes its share u of the total, and the share of that entry.

    Both are (rows, 1), and so is u in [0, 1); an entry of weight 0 is never returned.
    """
    cumulative = weights.to(torch.float64).cumsum(-1)
    target = uniforms * cumulative[:, -1:]
    at = torch.searchsorted(cumulative, target, right=True).clamp_(max=weights.shape[-1] - 1)
    weight = weights.gather(-1, at).to(torch.float64)
    share = (target - cumulative.gather(-1, at) + weight) / weight
    return at, share.clamp_(0.0, 1 - 2.0**-53)


def _entropy_of(below: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return H(p) and log Σ e^u of rows of u = z − max z, (rows,) each: H = log Σ e^u − Σ e^u u / Σ e^u.

    u is finite, where `weights`, e^u before u was clamped, is 0 too. `weights` is overwritten.
    """
    total = weights.sum(-1)
    mean = weights.mul_(below).sum(-1) / total
    return total.log() - mean, total.log()


class _Stop(StoppingCriteria):
    """The end of a row: its end token, a stop text or its limit; and of all rows once few would go on."""

    def __init__(
        self, ends: list[int], room: list[int], watches: list[Watch], fewest: float, device: torch.device
    ) -> None:
        self.ends = torch.tensor(ends, device=device)
        self.room = torch.tensor(room, device=device)  # 0 in a row of padding
        self.watches = watches  # one a row, or empty
        self.complete: dict[int, int] = {}  # row → the steps after which it held a stop text
        self.fewest = fewest  # rows; with fewer the batch ends
        self.done = self.room <= 0
        self.ended = int(self.done.sum())
        self.steps = 0

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Any:  # (rows,) of bool
        self.steps += 1
        if self.watches:
            self._watch(input_ids[:, -1].tolist())
        self.done = self.done | torch.isin(input_ids[:, -1], self.ends) | (self.room <= self.steps)
        before, self.ended = self.ended, int(self.done.sum())
        going_on = len(self.done) - self.ended
        events.advance(self.ended - before, tokens=len(self.done) - before)
        return self.done | (going_on < self.fewest)

    def _watch(self, tokens: list[int]) -> None:
        for at in (~self.done).nonzero().flatten().tolist():
            if self.watches[at].completes(tokens[at]):
                self.complete[at] = self.steps
                self.done[at] = True
