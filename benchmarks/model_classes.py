"""Every causal LM class of the installed transformers, tiny and random → what `erce.attach` makes of it.

    python benchmarks/model_classes.py > benchmarks/model_classes.md

A class is tried with a configuration of its own, made small, in a process of its own: with the outputs of
routers on, its loss is compared with `erce.attach`'s at λ = 0, both on the same eight tokens in float64.
"""

import multiprocessing
import re
import sys
import warnings
from collections import defaultdict
from typing import Any

SECONDS = 300
SMALL: dict[str, Any] = {
    "vocab_size": 300,
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "embed_dim": 32,
    "embedding_size": 32,
    "input_embedding_size": 32,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 300,
    "word_embed_proj_dim": 32,
    "dim_model": 32,
    "emb_dim": 32,
    "intermediate_size": 64,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "shared_intermediate_size": 32,
    "intermediate_size_mlp": 64,
    "expert_ffn_hidden_size": 32,
    "ffn_hidden_size": 64,
    "ffn_dim": 64,
    "dim_ff": 64,
    "decoder_ffn_dim": 64,
    "encoder_ffn_dim": 64,
    "n_inner": 64,
    "dff": 64,
    "num_hidden_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "num_layers": 2,
    "decoder_layers": 2,
    "encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_layers": 2,
    "num_attention_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4,
    "num_encoder_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "dim_head": 8,
    "kv_channels": 8,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "qk_head_dim": 16,
    "v_head_dim": 8,
    "num_local_experts": 4,
    "num_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_k": 2,
    "n_group": 1,
    "topk_group": 1,
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
    "mamba_n_groups": 1,
    "mamba_d_state": 8,
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "mamba_d_ssm": 64,
    "n_groups": 1,
    "state_size": 8,
    "ssm_state_size": 8,
    "time_step_rank": 4,
    "mamba_dt_rank": 4,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "lru_width": 32,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BY_TYPE: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1], "z_loss_coefficient": 1e-4},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "dbrx": {
        "max_seq_len": 64,
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "codegen": {"rotary_dim": 4},
    "gptj": {"rotary_dim": 4},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "reformer": {"is_decoder": True, "axial_pos_embds": False},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "hunyuan_v1_dense": {"head_dim": 8},
    "hunyuan_v1_moe": {"head_dim": 8},
}
VARIANTS: tuple[dict[str, int | None], ...] = (  # tried in turn; None leaves a setting as it is
    {},
    {"head_dim": 8},
    {"num_key_value_heads": 4},
    {"head_dim": 8, "num_key_value_heads": 4},
    {"head_dim": None},
    {"num_key_value_heads": None},
    {"head_dim": None, "num_key_value_heads": None},
    {"n_inner": None},
    {"num_hidden_layers": None, "num_attention_heads": None},
)
SAID = {
    "plain": "cross-entropy of its logits alone",
    "added": "adds to its cross-entropy; so does erce",
    "refused": "refused",
    "not causal": "not causal",
    "not built": "could not be built",
    "wrong": "WRONG",
}


def main() -> None:
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES

    import erce.hf.attach  # noqa: F401 - once, before the forks

    rows: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    seen: set[str] = set()
    for kind, names in CLASSES.items():
        name = names if isinstance(names, str) else names[0]
        if name in seen:
            continue
        seen.add(name)
        what, why = tried(kind)
        rows[what].append((name, kind, why))
        print(name, what, why, file=sys.stderr, flush=True)
    print(page(rows, transformers.__version__, len(seen)))


def tried(kind: str) -> tuple[str, str]:
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=lambda: theirs.send(outcome(kind)))
    process.start()
    try:
        if not mine.poll(SECONDS):
            return "not built", f"took more than {SECONDS} s"
        return mine.recv()
    except EOFError:
        return "not built", "the process ended"
    finally:
        process.kill()
        process.join()


def outcome(kind: str) -> tuple[str, str]:
    import torch
    import transformers

    import erce

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    ids, errors = torch.arange(10, 18)[None], []
    for variant in VARIANTS:
        try:
            model = built(kind, variant)
            router = has_router(model)
            with torch.no_grad():
                usual = model(input_ids=ids, labels=ids, use_cache=False, **router)
            break
        except Exception as error:
            errors.append(sentence(error))
    else:
        return "not built", errors[0]
    whole = usual.loss.item()
    bare = torch.nn.functional.cross_entropy(usual.logits[0, :-1].double(), ids[0, 1:]).item()
    try:
        erce.attach(model, 0.0)
    except ValueError as error:
        causal = "reads the tokens that it is to predict" not in str(error)
        return ("refused", sentence(error)) if causal else ("not causal", "")
    except Exception as error:
        return "wrong", f"a traceback: {sentence(error)}"
    with torch.no_grad():
        ours = model(input_ids=ids, labels=ids, **router).loss.item()
    if abs(ours - whole) > 1e-6 * whole:  # the model's own is formed in float32
        return "wrong", f"{ours:.7f} for {whole:.7f}"
    return ("added", f"({whole - bare:.2g})") if model.erce.added_loss else ("plain", "")


def built(kind: str, variant: dict[str, int | None]) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    small = {name: value for name, value in (SMALL | variant).items() if value is not None}
    settings = smaller(AutoConfig.for_model(kind), small) | {
        k: v for k, v in variant.items() if v is not None
    }
    config = AutoConfig.for_model(kind, **settings | BY_TYPE.get(kind, {}))
    for part in (config, config.get_text_config()):
        part._experts_implementation = "eager"  # which takes float64
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager").double().eval()


def smaller(config: Any, small: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that make a configuration and those in it small."""
    from transformers import PretrainedConfig

    inner = {name: x for name, x in vars(config).items() if isinstance(x, PretrainedConfig)}
    known = {name: value for name, value in small.items() if known_to(config, name)}
    return known | {name: {**smaller(x, small)} for name, x in inner.items()}


def known_to(config: Any, name: str) -> bool:
    try:
        return getattr(config, name, None) is not None
    except ValueError:  # a value for each layer
        return True


def has_router(model: Any) -> dict[str, bool]:
    import inspect

    named = "output_router_logits" in inspect.signature(model.forward).parameters
    return {"output_router_logits": True} if named else {}


def sentence(error: Exception) -> str:
    line = (str(error).strip().splitlines() or [""])[0]
    text = line if isinstance(error, ValueError) else f"{type(error).__name__}: {line}"
    return text.replace("|", "/")[:200]


def listed(some: list[tuple[str, str, str]]) -> str:
    return ", ".join(name for name, _, _ in sorted(some))


def by_reason(some: list[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the classes under each reason, where reasons that differ only in names and numbers are one."""
    classes = defaultdict(list)
    for name, _, why in sorted(some):
        classes[re.sub(r"\d[\d.]*", "…", why.split("; leave")[0].replace(name, "the class"))].append(name)
    return classes


def page(rows: dict[str, list[tuple[str, str, str]]], version: str, count: int) -> str:
    lines = [
        "# Model classes",
        "",
        f"What `erce.attach` makes of the {count} causal LM classes of transformers {version}, each tiny and",
        "random, in float64, with the outputs of routers on; `ERCETrainer` does the same. Written by",
        "`python benchmarks/model_classes.py > benchmarks/model_classes.md`.",
        "",
        "| | classes |",
        "|---|---|",
        *(f"| {SAID[what]} | {len(rows[what])} |" for what in SAID if rows[what]),
        "",
        f"**{SAID['plain'].capitalize()}**, as in `attach` at λ = 0: {listed(rows['plain'])}.",
        "",
        f"**{SAID['added'].capitalize()}**: {listed(rows['added'])}.",
        "",
        f"**{SAID['not causal'].capitalize()}**, as configured by default: {listed(rows['not causal'])}.",
    ]
    for what in ("wrong", "refused"):
        for why, classes in by_reason(rows[what]).items():
            lines += ["", f"**{SAID[what].capitalize()}** ({why}): {', '.join(classes)}."]
    return "\n".join([*lines, "", f"**{SAID['not built'].capitalize()}**: {listed(rows['not built'])}."])


if __name__ == "__main__":
    main()
