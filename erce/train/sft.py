"""TRL's YAML for `trl sft`, with the fields of `ERCEConfig` → a trained model in its output folder.

    erce sft --config sums.yaml --entropy_penalty 2
    accelerate launch --num_processes 8 -m erce.train.sft --config sums.yaml

A file that names none of our fields trains plain cross-entropy, as it does under TRL.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml
from accelerate import PartialState
from datasets import load_dataset
from datasets.exceptions import DatasetsError
from transformers.trainer_utils import get_last_checkpoint
from trl.scripts.utils import DatasetMixtureConfig, ScriptArguments, TrlParser, get_dataset
from trl.trainer.model_config import ModelConfig
from trl.trainer.utils import get_peft_config, get_quantization_config

from erce.catalog import SYNONYMS, is_hub_name
from erce.errors import InputError, RunError, did_you_mean, first_line
from erce.hf.models import known_warning_silenced
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

OF_THE_SCRIPT = {"model": "model_name_or_path", "dataset": "dataset_name"}  # and as other trainers call them


def sft(config: str | Path | None, overrides: Sequence[str] = ()) -> ERCETrainer:
    """Train once, save the model in `output_dir` and return the trainer.

    `config` is a YAML file as `trl sft --config` reads it; `overrides` are flags that win over it
    (`["--entropy_penalty", "2"]`). Besides TRL's fields the file may have those of `ERCEConfig`, and "tiny"
    is a model. Under a launcher every process makes this call. Unlike with `trl sft`, the launcher's own
    settings do not belong in the file. InputError: a name that no field has, a value of another type, a model
    or data that cannot be loaded.
    """
    script, arguments, model, mixture = _parsed(config, list(overrides))
    checkpoint = _checkpoint(arguments)  # before anything is loaded
    trainer = _trainer(arguments, model, _splits(script, mixture, arguments))
    trainer.train(resume_from_checkpoint=checkpoint)
    trainer.save_model(arguments.output_dir)
    trainer.accelerator.print(f"saved: {arguments.output_dir}")
    if arguments.push_to_hub:
        trainer.push_to_hub(dataset_name=script.dataset_name)
    # If DDP is the last to hold gloo's process group, the group's end waits under the GIL, sometimes forever.
    trainer.model_wrapped = trainer.model
    trainer.accelerator.free_memory()
    trainer.accelerator.end_training()
    return trainer


def _checkpoint(arguments: ERCEConfig) -> str | None:
    """Return the folder of the checkpoint to go on from, or None; a flag's "true" asks for the last one."""
    given = arguments.resume_from_checkpoint
    word = str(given).casefold()
    if word != "true":
        return None if word == "false" else given
    last = get_last_checkpoint(arguments.output_dir) if Path(arguments.output_dir or "").is_dir() else None
    if last is None:
        raise InputError(f"there is no checkpoint in {arguments.output_dir!r} to go on from")
    return last


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `python -m erce.train.sft` and return its exit code: 2 for wrong input, 1 for a failed training."""
    parser = argparse.ArgumentParser(prog="erce.train.sft", description=__doc__, allow_abbrev=False)
    parser.add_argument("--config", metavar="FILE", help="a YAML file; any field of it may also be a flag")
    options, overrides = parser.parse_known_args(arguments)
    try:
        sft(options.config, overrides)
    except (InputError, RunError) as error:
        print(f"erce.train.sft: {error}", file=sys.stderr, flush=True)
        return 2 if isinstance(error, InputError) else 1
    PartialState().destroy_process_group()  # its threads could outlive the interpreter, which then hangs
    return 0


class _Parser(TrlParser):
    """TRL's parser, which raises one sentence instead of printing a page of flags."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def _parsed(config: str | Path | None, overrides: list[str]) -> tuple[Any, ERCEConfig, Any, Any]:
    """Return the arguments of TRL's script from the file and the flags, and refuse unknown names."""
    kinds: Any = (ScriptArguments, ERCEConfig, ModelConfig, DatasetMixtureConfig)
    parser, flags = _Parser(kinds, prog="erce sft", allow_abbrev=False), overrides
    if config is not None:
        flags = ["--config", str(config), *overrides]
    try:
        *sections, unknown = parser.parse_args_and_config(flags, return_remaining_strings=True)
    except InputError:
        raise
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{config} cannot be read as YAML ({first_line(error)})") from None
    except (ValueError, TypeError) as error:  # a value that TRL's own configs refuse, an entry of datasets
        raise InputError(str(error)) from error
    if unknown:
        flag = next((word for word in unknown if word.startswith("--")), unknown[0])
        if not flag.startswith("--"):
            raise InputError(f"{flag!r} follows no flag; a YAML file is given as --config {flag}")
        name: str = flag.lstrip("-").split("=")[0]
        field = name.replace("-", "_")
        meant = (SYNONYMS | OF_THE_SCRIPT).get(field, field)
        names = [action.dest for action in parser._actions if action.dest != "help"]
        listed = (
            "TRL's SFTConfig and docs/trainer.md list them, and a launcher's go before `-m erce.train.sft`"
        )
        raise InputError(f"no setting {name!r}; {did_you_mean(meant, names, otherwise=listed)}")
    script, arguments, model, mixture = sections
    return script, arguments, model, mixture


def _trainer(arguments: ERCEConfig, model: ModelConfig, splits: dict[str, Any]) -> ERCETrainer:
    name = model.model_name_or_path
    if not name:
        raise InputError("model_name_or_path is missing; name a model, such as Qwen/Qwen2.5-1.5B-Instruct")
    explicit: Any = arguments.model_init_kwargs or {}
    arguments.model_init_kwargs = {
        "revision": model.model_revision,
        "dtype": model.dtype,
        "trust_remote_code": arguments.trust_remote_code,
        "attn_implementation": model.attn_implementation,
        **explicit,
    }
    adapter, quantization = get_peft_config(model), get_quantization_config(model)
    with known_warning_silenced():
        return ERCETrainer(name, arguments, peft_config=adapter, quantization_config=quantization, **splits)


def _splits(script: Any, mixture: Any, arguments: ERCEConfig) -> dict[str, Any]:
    """Return `train_dataset` and, where evaluation is asked for, `eval_dataset`."""
    try:
        if mixture.datasets and script.dataset_name:
            raise InputError(
                f"there are both dataset_name = {script.dataset_name!r} and a list of datasets; leave one out"
            )
        if mixture.datasets:
            dataset: Any = get_dataset(mixture)
        elif script.dataset_name:
            if (path := Path(script.dataset_name)).is_file():
                raise InputError(f"dataset_name = '{path}' is a file; name its folder, '{path.parent}'")
            if not (path.is_dir() or is_hub_name(script.dataset_name)):
                raise InputError(f"there is no folder {script.dataset_name!r}, and no data set has that name")
            dataset = load_dataset(
                script.dataset_name, name=script.dataset_config, streaming=script.dataset_streaming
            )
        else:
            raise InputError("there is no data; give dataset_name, or a list of datasets")
    except StopIteration:  # what datasets raises for an empty file
        raise InputError(f"{script.dataset_name or 'a file'} has no rows; give at least one") from None
    except (OSError, DatasetsError) as error:
        raise InputError(f"the data could not be loaded: {first_line(error)}") from error
    wanted = {"train_dataset": script.dataset_train_split}
    if arguments.eval_strategy != "no":
        wanted["eval_dataset"] = script.dataset_test_split
    for split in wanted.values():
        if split not in dataset:
            raise InputError(f"the data have no split {split!r}; there are {', '.join(map(str, dataset))}")
    return {name: dataset[split] for name, split in wanted.items()}


if __name__ == "__main__":
    sys.exit(main())
