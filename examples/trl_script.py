"""Train a LoRA adapter with TRL's trainer, one class changed; keep the checkpoint that is right most often.

python examples/trl_script.py OUTPUT_FOLDER     # the embedded model, on a CPU; started again, it goes on
"""

import sys

from peft import LoraConfig
from transformers.trainer_utils import get_last_checkpoint

from erce import ERCEConfig, ERCETrainer, VerifiedAccuracy  # was: from trl import SFTConfig, SFTTrainer
from erce.tasks import as_dataset, load_task, splits

problems = splits(load_task("mini-styles"), n_train=128, n_validation=60, n_test=1)
train, validation = as_dataset(problems.train), as_dataset(problems.validation)
config = ERCEConfig(
    output_dir=sys.argv[1],
    entropy_penalty=8.0,
    learning_rate=1e-3,
    num_train_epochs=3,
    logging_steps=8,
    eval_strategy="epoch",
    eval_on_start=True,  # the base model's figures
    save_strategy="epoch",
    metric_for_best_model="eval_verified",
    load_best_model_at_end=True,
    report_to="none",
)
lora = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear")
trainer = ERCETrainer("tiny-styles", config, train_dataset=train, eval_dataset=validation, peft_config=lora)
trainer.add_callback(VerifiedAccuracy(trainer, validation, "number", samples=4, max_new_tokens=40))
trainer.train(resume_from_checkpoint=get_last_checkpoint(config.output_dir))
trainer.save_model()
