"""Train a LoRA adapter with TRL's trainer, one class changed; keep the checkpoint that is right most often.

python examples/trl_script.py OUTPUT_FOLDER     # the embedded model, on a CPU; started again, it goes on
"""

import sys

from datasets import Dataset
from peft import LoraConfig
from transformers.trainer_utils import get_last_checkpoint

from erce import ERCEConfig, ERCETrainer, VerifiedAccuracy  # was: from trl import SFTConfig, SFTTrainer
from erce.hf.models import load_model, load_tokenizer
from erce.tasks import load_task, splits


def rows(problems):
    """Return the problems as a data set; the trainer leaves the column `answer` alone."""
    return Dataset.from_list(
        [
            {
                "prompt": [{"role": "user", "content": problem.prompt}],
                "completion": [{"role": "assistant", "content": problem.demonstration}],
                "answer": problem.answer,
            }
            for problem in problems
        ]
    )


problems = splits(load_task("mini-styles"), n_train=128, n_validation=60, n_test=1)
train, validation = rows(problems.train), rows(problems.validation)
config = ERCEConfig(
    output_dir=sys.argv[1],
    entropy_penalty=8.0,
    learning_rate=1e-3,
    num_train_epochs=2,
    logging_steps=8,
    eval_strategy="steps",
    eval_steps=8,
    eval_on_start=True,  # the base model's figures
    save_steps=8,
    metric_for_best_model="eval_verified",
    load_best_model_at_end=True,
    report_to="none",
)
trainer = ERCETrainer(
    load_model("tiny-styles"),
    config,
    train_dataset=train,
    eval_dataset=validation,
    processing_class=load_tokenizer("tiny-styles"),
    peft_config=LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear"),
)
trainer.add_callback(VerifiedAccuracy(trainer, validation, "number", samples=4, max_new_tokens=40))
trainer.train(resume_from_checkpoint=get_last_checkpoint(config.output_dir))
trainer.save_model()
