"""Train on demonstrations with the entropy penalty, keep the best checkpoint, and go on with GRPO.

python examples/demonstrations_to_grpo.py OUTPUT_FOLDER     # the embedded model, on a CPU, in minutes
"""

import sys
from functools import partial

from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer

import erce
from erce.hf.models import load_model, load_tokenizer
from erce.integrations.rewards import number_reward
from erce.tasks import as_dataset, load_task, splits

folder = sys.argv[1]
tokenizer = load_tokenizer("tiny-styles")
lora = partial(LoraConfig, task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32)
problems = splits(load_task("mini-styles"), n_train=320, n_validation=60, n_test=100)


def show(model, when):
    """Print how many test problems the model gets right, and the share that GRPO can learn from: mixed."""
    evaluation = erce.evaluate(model, tokenizer, problems.test, "number", samples=4, max_new_tokens=40)
    print(f"{when}\n{evaluation}", flush=True)


# 1. demonstrations, with the penalty; the checkpoint that is right most often is kept
sft = erce.ERCETrainer(
    load_model("tiny-styles"),
    erce.ERCEConfig(
        output_dir=f"{folder}/demonstrations",
        entropy_penalty=16.0,
        learning_rate=1.2e-4,
        per_device_train_batch_size=16,
        num_train_epochs=3,
        eval_strategy="epoch",
        save_strategy="epoch",
        metric_for_best_model="eval_verified",
        load_best_model_at_end=True,
        report_to="none",
    ),
    train_dataset=as_dataset(problems.train),
    eval_dataset=as_dataset(problems.validation),
    processing_class=tokenizer,
    peft_config=lora(),
)
show(sft.model, "base model")
sft.add_callback(erce.VerifiedAccuracy(sft, problems.validation, "number", samples=4, max_new_tokens=40))
sft.train()
show(sft.model, "after demonstrations")

# 2. reinforcement learning from there, with the verifier as the reward
grpo = GRPOTrainer(
    sft.model.merge_and_unload(),
    number_reward,
    GRPOConfig(
        output_dir=f"{folder}/grpo",
        max_steps=10,
        learning_rate=1e-4,
        per_device_train_batch_size=128,
        num_generations=8,
        temperature=1.0,
        beta=0.0,
        max_completion_length=40,
        use_cpu=True,  # with a GPU, leave out this line and the next
        bf16=False,
        report_to="none",
    ),
    train_dataset=as_dataset(problems.train).remove_columns("completion"),
    processing_class=tokenizer,
    peft_config=lora(),
)
grpo.train()
show(grpo.model, "after GRPO")
grpo.save_model()
