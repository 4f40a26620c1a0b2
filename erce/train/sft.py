"""TRL's YAML for `trl sft`, with the fields of `ERCEConfig`, becomes a trained model in its output folder.

    erce sft --config sums.yaml --entropy_penalty 2
    accelerate launch --num_processes 8 -m erce.train.sft --config sums.yaml

A file that names none of our fields trains plain cross-entropy, as it does under TRL.
"""

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import yaml
from accelerate import PartialState
from accelerate.commands.launch import launch_command_parser
from datasets import load_dataset
from datasets.exceptions import DatasetsError
from trl.scripts.utils import (
    DatasetConfig,
    DatasetMixtureConfig,
    ScriptArguments,
    TrlParser,
    get_dataset,
)
from trl.trainer.model_config import ModelConfig
from trl.trainer.utils import get_peft_config, get_quantization_config

from erce.hf.models import TINY, known_warning_silenced
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

MEANT = {  # as recipes, papers and other trainers call it → its name here
    "lam": "entropy_penalty",
    "lambda": "entropy_penalty",
    "penalty": "entropy_type",
    "order": "entropy_order",
    "lam_schedule": "entropy_schedule",
    "lam_warmup": "entropy_warmup",
    "model": "model_name_or_path",
    "dataset": "dataset_name",
}


def sft(config: str | Path | None, overrides: Sequence[str] = ()) -> ERCETrainer:
    """The trainer of one finished training, whose model is saved in `output_dir`.

    `config` is a YAML file as `trl sft --config` reads it, `overrides` flags that win over it
    (`["--entropy_penalty", "2"]`). Besides TRL's fields it may have those of `ERCEConfig`, and "tiny" is a
    model. Under a launcher every process makes this call. Unlike with `trl sft`, the launcher's own settings
    do not belong in the file. ValueError: a name that no field has, a value of another type, a model or data
    that cannot be loaded.
    """
    script, arguments, model, mixture = _parsed(config, list(overrides))
    resumed: Any = arguments.resume_from_checkpoint
    if isinstance(resumed, str) and not (Path(resumed) / "trainer_state.json").is_file():
        raise ValueError(
            f"no checkpoint in {resumed!r}; `resume_from_checkpoint: true` in the file takes the last of "
            "output_dir"
        )
    trainer = _trainer(arguments, model, _splits(script, mixture, arguments))
    trainer.train(resume_from_checkpoint=resumed)
    trainer.save_model(arguments.output_dir)
    trainer.accelerator.print(f"saved: {arguments.output_dir}")
    if arguments.push_to_hub:
        trainer.push_to_hub(dataset_name=script.dataset_name)
    trainer.accelerator.end_training()
    return trainer


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of `python -m erce.train.sft`: 2 for what cannot be trained, which one sentence says."""
    parser = argparse.ArgumentParser(prog="erce.train.sft", description=__doc__, allow_abbrev=False)
    parser.add_argument("--config", metavar="FILE", help="a YAML file; any field of it may also be a flag")
    options, overrides = parser.parse_known_args(arguments)
    try:
        sft(options.config, overrides)
    except ValueError as error:
        print(f"erce.train.sft: {error}", file=sys.stderr, flush=True)
        return 2
    PartialState().destroy_process_group()  # or its threads may outlive the interpreter, which then hangs
    return 0


class _Parser(TrlParser):
    """TRL's, whose complaint is a sentence and not a page of its flags."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parsed(config: str | Path | None, overrides: list[str]) -> tuple[Any, ERCEConfig, Any, Any]:
    """What TRL's script is given, of the file and the flags; every name in them is known."""
    kinds: Any = (ScriptArguments, ERCEConfig, ModelConfig, DatasetMixtureConfig)
    parser, named = _Parser(kinds, prog="erce sft", allow_abbrev=False), []
    names = [action.dest for action in parser._actions if action.dest != "help"]
    if config is not None:
        _check_file(Path(config), names)
        named = ["--config", str(config)]
    *found, unknown = parser.parse_args_and_config([*named, *overrides], return_remaining_strings=True)
    if unknown:
        said = next((word for word in unknown if word.startswith("--")), unknown[0])
        _refuse(said.lstrip("-").split("=")[0], names, where="")
    script, arguments, model, mixture = found
    return script, arguments, model, mixture


def _check_file(path: Path, names: list[str]) -> None:
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read as YAML ({_first_line(error)})") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path} holds no settings; write lines such as `entropy_penalty: 2.0`")
    where = f"{path}: "
    if not isinstance(settings.get("env") or {}, dict):
        kind = type(settings["env"]).__name__  # and no more of it: it may hold a secret
        raise ValueError(f"{where}env is no mapping but a {kind}; write lines `NAME: value` under it")
    for name in settings:
        if name not in (*names, "env"):
            _refuse(str(name), names, where=where)
    mixed = settings.get("datasets") or []
    for at, entry in enumerate(mixed if isinstance(mixed, list) else [mixed]):
        if not isinstance(mixed, list) or not isinstance(entry, dict) or "path" not in entry:
            raise ValueError(f"{where}datasets is a list of entries with a `path`, got {entry!r}")
        for name in entry:
            known = [each.name for each in fields(DatasetConfig)]
            if name not in known:
                _refuse(str(name), known, where=f"{where}datasets[{at}]: ")


def _refuse(name: str, known: Iterable[str], *, where: str) -> NoReturn:
    """A ValueError with the field that was meant, or whose setting it is."""
    plain = name.replace("-", "_")
    launchers = {action.dest for action in launch_command_parser()._actions} | {"accelerate_config"}
    if plain in launchers:
        raise ValueError(
            f"{where}{name!r} is the launcher's; write `accelerate launch --{plain} … -m erce.train.sft "
            "--config FILE`"
        )
    close = [MEANT[plain]] if plain in MEANT else difflib.get_close_matches(plain, list(known), n=1)
    way_out = f"did you mean {close[0]!r}?" if close else "TRL's SFTConfig and docs/trainer.md list them"
    raise ValueError(f"{where}no setting {name!r}; {way_out}")


def _trainer(arguments: ERCEConfig, model: ModelConfig, splits: dict[str, Any]) -> ERCETrainer:
    name = str(TINY) if model.model_name_or_path == "tiny" else model.model_name_or_path
    if not name:
        raise ValueError("model_name_or_path is missing; name a model, such as Qwen/Qwen2.5-1.5B-Instruct")
    chosen: dict[str, Any] = {"revision": model.model_revision, "dtype": model.dtype}
    chosen |= {"trust_remote_code": arguments.trust_remote_code}
    chosen |= {"attn_implementation": model.attn_implementation}
    given: Any = arguments.model_init_kwargs or {}
    arguments.model_init_kwargs = chosen | given
    named: dict[str, Any] = {"peft_config": get_peft_config(model)}
    if (quantized := get_quantization_config(model)) is not None:
        named["quantization_config"] = quantized
    try:
        with known_warning_silenced():
            return ERCETrainer(name, arguments, **splits, **named)
    except OSError as error:
        raise ValueError(f"no model {name!r} could be loaded: {_first_line(error)}") from error


def _splits(script: Any, mixture: Any, arguments: ERCEConfig) -> dict[str, Any]:
    """`train_dataset` and, where evaluation is asked for, `eval_dataset`."""
    try:
        if mixture.datasets:
            found: Any = get_dataset(mixture)
        elif script.dataset_name:
            streaming = script.dataset_streaming
            found = load_dataset(script.dataset_name, name=script.dataset_config, streaming=streaming)
        else:
            raise ValueError("there is no data; give dataset_name, or a list of datasets")
    except (OSError, DatasetsError) as error:
        raise ValueError(f"the data could not be loaded: {_first_line(error)}") from error
    wanted = {"train_dataset": script.dataset_train_split}
    if arguments.eval_strategy != "no":
        wanted["eval_dataset"] = script.dataset_test_split
    for split in wanted.values():
        if split not in found:
            raise ValueError(f"the data have no split {split!r}; there are {', '.join(map(str, found))}")
    return {name: found[split] for name, split in wanted.items()}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
