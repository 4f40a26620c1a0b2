"""Train a LoRA adapter on demonstrations with TRL's trainer, one class changed.

python examples/trl_script.py OUTPUT_FOLDER       # the embedded model, on a CPU, in seconds
"""

import sys

from datasets import Dataset
from peft import LoraConfig

from erce import ERCEConfig, ERCETrainer  # was: from trl import SFTConfig, SFTTrainer
from erce.hf.models import load_model, load_tokenizer
from erce.tasks import load_task, splits

problems = splits(load_task("mini-sums"), n_train=64, n_validation=1, n_test=1).train
demonstrations = [
    {
        "prompt": [{"role": "user", "content": problem.prompt}],
        "completion": [{"role": "assistant", "content": problem.demonstration}],
    }
    for problem in problems
]
trainer = ERCETrainer(
    load_model("tiny"),
    ERCEConfig(output_dir=sys.argv[1], entropy_penalty=2.0, max_steps=8, logging_steps=4, report_to="none"),
    train_dataset=Dataset.from_list(demonstrations),
    processing_class=load_tokenizer("tiny"),
    peft_config=LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear"),
)
trainer.train()
trainer.save_model()
