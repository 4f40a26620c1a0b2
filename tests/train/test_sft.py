"""`erce sft`: TRL's YAML is trained as TRL does, with our fields if it has them; a mistake is a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
import torch
import yaml
from peft import AutoPeftModelForCausalLM, PeftModel
from safetensors.torch import load_file
from toys import training as toy
from toys.waiting import DEADLINE_SECONDS
from trl.scripts import sft as trls

from erce.catalog import EMBEDDED_MODELS
from erce.cli.main import main as erce
from erce.hf.models import load_model, load_tokenizer
from erce.train.sft import main, sft
from erce.train.trainer import ERCETrainer

SUMS = [(a, b) for a in range(3) for b in range(3)]
PAIRS = [{"prompt": f"{a}+{b}=", "completion": f"{a + b} is the sum of {a} and {b}"} for a, b in SUMS]
TALKS = [
    {
        "messages": [
            {"role": "user", "content": f"{a}+{b}="},
            {"role": "assistant", "content": f"{a + b}"},
        ]
    }
    for a, b in SUMS
]
QUIET = {"max_steps": 2, "logging_steps": 1, "save_strategy": "no", "report_to": "none", "disable_tqdm": True}
LORA = {"use_peft": True, "lora_r": 4, "lora_target_modules": "all-linear", "learning_rate": "1e-2"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


def recipe(folder: Path, rows=PAIRS, **settings) -> str:
    """The path of a YAML file with a mixture of one local file."""
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = {"model_name_or_path": "tiny", "datasets": [{"path": "json", "data_files": str(data)}]}
    given |= {"output_dir": str(folder / "out")} | QUIET | LORA | settings
    file = folder / "sums.yaml"
    file.write_text(yaml.safe_dump({name: value for name, value in given.items() if value is not None}))
    return str(file)


def log(trainer: ERCETrainer) -> list[dict]:
    return [entry for entry in trainer.state.log_history if "objective" in entry]


def greedy(model) -> list[int]:
    ids = load_tokenizer("tiny")("1+2=", return_tensors="pt").input_ids
    with torch.no_grad():
        return model.eval().generate(ids, max_new_tokens=12, do_sample=False).tolist()[0]


@pytest.mark.filterwarnings("ignore:every token of 'messages' is scored")
@pytest.mark.parametrize("rows", [PAIRS, TALKS], ids=["prompt and completion", "messages"])
def test_our_fields_in_trls_yaml_are_trained_with_and_pefts_own_tools_reload_it(rows, tmp_path):
    ours = {"entropy_penalty": "2e0", "entropy_type": "renyi", "entropy_order": 0.5}
    trainer = sft(recipe(tmp_path, rows, **ours, learning_rate="1e-1"))
    first = log(trainer)[0]
    assert (first["lam"], trainer.args.entropy_type, trainer.args.entropy_order) == (2.0, "renyi", 0.5)
    assert first["objective"] == pytest.approx(first["ce"] + 2 * first["entropy"])
    assert first["entropy"] > 0.01
    reloaded = PeftModel.from_pretrained(load_model("tiny"), str(tmp_path / "out"))
    expected, base = greedy(trainer.model), greedy(load_model("tiny"))
    assert expected == greedy(reloaded) == greedy(reloaded.merge_and_unload()) != base
    assert expected == greedy(AutoPeftModelForCausalLM.from_pretrained(str(tmp_path / "out")))


def test_a_flag_wins_over_the_file(tmp_path, capsys):
    command = ["sft", "--learning_rate", "3e-3", "--config", recipe(tmp_path, entropy_penalty=2.0)]
    assert erce([*command, "--entropy_penalty", "-0.25", "--normalize", "sequence"]) == 0
    arguments = torch.load(tmp_path / "out" / "training_args.bin", weights_only=False)
    assert (arguments.entropy_penalty, arguments.learning_rate) == (-0.25, 3e-3)
    assert arguments.normalize == "sequence"
    assert f"saved: {tmp_path / 'out'}" in capsys.readouterr().out


@toy.TRLS_HEAD
def test_without_our_fields_the_file_trains_what_trl_trains_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")  # TRL's own trainer reports to nobody then
    ours, theirs = (tmp_path / name for name in ("ours", "theirs"))
    tiny = str(EMBEDDED_MODELS["tiny"])
    file = recipe(tmp_path, model_name_or_path=tiny, eval_strategy="no", **toy.ON_A_CPU)
    plain = sft(file, ["--output_dir", str(tmp_path / "plain")])
    sft(file, ["--output_dir", str(ours), "--head", "trl"])
    parser = trls.make_parser()
    trls.main(*parser.parse_args_and_config(["--config", file, "--output_dir", str(theirs)]))
    adapters = [tmp_path / each / "adapter_model.safetensors" for each in ("ours", "theirs", "plain")]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()
    weights, of_our_head = load_file(adapters[1]), load_file(adapters[2])
    for name, weight in weights.items():
        assert torch.allclose(weight, of_our_head[name], atol=1e-4), name
    assert [entry["objective"] for entry in log(plain)] == pytest.approx(
        [entry["ce"] for entry in log(plain)]
    )


@pytest.mark.slow
def test_a_folder_with_a_file_a_split_is_data_and_is_evaluated_on(tmp_path):
    for split in ("train", "test"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    settings = {
        "datasets": None,
        "dataset_name": str(tmp_path / "data"),
        "eval_strategy": "steps",
        "eval_steps": 2,
        "dtype": "bfloat16",
        "model_init_kwargs": {"attn_implementation": "eager"},
    }
    trainer = sft(recipe(tmp_path, **settings))
    assert trainer._base_model().dtype == torch.bfloat16
    assert trainer._base_model().config._attn_implementation == "eager"
    assert [entry["eval_scored_tokens"] > 0 for entry in trainer.state.log_history if "eval_ce" in entry] == [
        True
    ]


@pytest.mark.parametrize(
    ("settings", "flags", "sentence"),
    [
        ({"entropy_penalti": 2}, [], "no setting 'entropy_penalti'; did you mean 'entropy_penalty'?"),
        ({"lam": 2}, [], "no setting 'lam'; did you mean 'entropy_penalty'?"),
        ({"qqqq": 2}, [], "no setting 'qqqq'; TRL's SFTConfig and docs/trainer.md list them"),
        ({}, ["--learning-rte", "1"], "no setting 'learning-rte'; did you mean 'learning_rate'?"),
        ({}, ["--entropy_pen", "1"], "no setting 'entropy_pen'; did you mean 'entropy_"),
        ({"num_machines": 2}, [], "no setting 'num_machines'; "),
        ({"entropy_penalty": "much"}, [], "argument --entropy_penalty/--entropy-penalty: invalid "),
        ({"head": "none"}, [], "head must be 'erce' or 'trl', got 'none'"),
        ({"env": ["SECRET"]}, [], "`env` field should be a dict in the YAML file"),
        ({"datasets": [{"path": "a", "splt": "b"}]}, [], "DatasetConfig.__init__() got an unexpected "),
        ({"datasets": None}, [], "there is no data; give dataset_name, or a list of datasets"),
        ({"datasets": [{"path": "/nowhere"}]}, [], "the data could not be loaded: "),
        ({}, ["other.yaml"], "'other.yaml' follows no flag; a YAML file is given as --config other.yaml"),
        ({"datasets": None, "dataset_name": "./own"}, [], "there is no folder './own', and no data set has"),
        ({"datasets": None, "dataset_name": __file__}, [], f"dataset_name = '{__file__}' is a file; name"),
        ({}, ["--dataset_name", "./own"], "there are both dataset_name = './own' and a list of datasets; "),
        ({"eval_strategy": "steps"}, [], "the data have no split 'test'; there are train"),
        ({"model_name_or_path": None}, [], "model_name_or_path is missing; name a model, such as "),
        ({"model_name_or_path": "/nowhere/at/all"}, [], "no model '/nowhere/at/all' could be loaded (there"),
    ],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_one_sentence(settings, flags, sentence, tmp_path, capsys):
    file = recipe(tmp_path, **settings)
    assert main(["--config", file, *flags]) == 2
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.startswith(f"erce.train.sft: {sentence}")
    assert "SECRET" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [None, "a: ["])
def test_a_file_that_cannot_be_read_is_one_sentence(content, tmp_path, capsys):
    file = tmp_path / "sums.yaml"
    if content is not None:
        file.write_text(content)
    assert erce(["sft", "--config", str(file)]) == 2
    assert f"erce: {file} cannot be read as YAML" in capsys.readouterr().err


def test_an_empty_file_is_one_sentence(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").touch()
    file = recipe(tmp_path, datasets=None, dataset_name=str(tmp_path / "data"))
    assert main(["--config", file]) == 2
    assert f"{tmp_path / 'data'} has no rows; give at least one" in capsys.readouterr().err


def test_flags_of_other_commands_stay_checked(capsys):
    with pytest.raises(SystemExit):
        erce(["tasks", "--entropy_penalty", "2"])
    assert "unrecognized arguments: --entropy_penalty 2" in capsys.readouterr().err


def test_a_training_goes_on_from_its_last_checkpoint(tmp_path):
    with pytest.raises(ValueError, match=r"there is no checkpoint in '.*out' to go on from"):
        sft(recipe(tmp_path, model_name_or_path="/nowhere"), ["--resume_from_checkpoint", "true"])
    beginning = recipe(tmp_path, save_strategy="steps", save_steps=1, max_steps=1)
    sft(beginning, ["--resume_from_checkpoint", "false"])
    with pytest.warns(UserWarning, match=r"entropy_penalty = 0\.0, and goes on with 5\.0"):
        trainer = sft(recipe(tmp_path, entropy_penalty=5.0), ["--resume_from_checkpoint", "true"])
    assert [(entry["step"], entry["lam"]) for entry in log(trainer)] == [(1, 0.0), (2, 5.0)]


@pytest.mark.slow
def test_two_processes_under_accelerate_train_what_one_does(tmp_path):
    batch = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "lora_dropout": 0.0}
    file = recipe(tmp_path, entropy_penalty=2.0, normalize="sequence", optim="sgd", **batch)
    sft(file, ["--output_dir", str(tmp_path / "one")])
    flags = ["--multi_gpu", "--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no"]
    flags += ["--dynamo_backend", "no", "--main_process_port", "0", "-m", "erce.train.sft", "--config", file]
    flags += ["--output_dir", str(tmp_path / "two"), "--gradient_accumulation_steps", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "accelerate.commands.launch", *flags],
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("saved: ") == 1
    assert torch.load(tmp_path / "two" / "training_args.bin", weights_only=False).world_size == 2
    one, two = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("one", "two"))
    for name, weight in one.items():
        assert torch.allclose(weight, two[name], atol=2e-6), name
