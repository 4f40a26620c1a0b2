# %% [markdown]
# From the loss to a report, on the embedded model, on a CPU, in a minute.
# Open this file as a notebook in VS Code, PyCharm or Jupyter (with jupytext), or run it with Python.

# %% The loss: cross-entropy + λ · entropy, from hidden states
import torch

import erce

hidden = torch.randn(6, 64, requires_grad=True)
head = torch.nn.Linear(64, 1000, bias=False)
targets = torch.tensor([3, 14, 15, 92, 65, -100])  # -100 is not scored
loss = erce.linear_entropy_regularized_cross_entropy(hidden, head.weight, targets, lam=2.0)
print(f"objective {loss.objective:.2f} = {loss.nll:.2f} + 2 × {loss.entropy:.2f} nats")

# %% The trainer: TRL's, with λ
from datasets import Dataset
from peft import LoraConfig

from erce.hf.models import load_model, load_tokenizer
from erce.tasks import load_task, splits

problems = splits(load_task("mini-sums"), n_train=64, n_validation=32, n_test=40)
rows = [
    {
        "prompt": [{"role": "user", "content": problem.prompt}],
        "completion": [{"role": "assistant", "content": problem.demonstration}],
    }
    for problem in problems.train
]
trainer = erce.ERCETrainer(
    load_model("tiny"),
    erce.ERCEConfig("adapter", entropy_penalty=2.0, max_steps=8, logging_steps=4, report_to="none"),
    train_dataset=Dataset.from_list(rows),
    processing_class=load_tokenizer("tiny"),
    peft_config=LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear"),
)
trainer.train()

# %% A study: two λ, one seed, and the base model
from pathlib import Path

Path("notebook.toml").write_text("""
task = "mini-sums"
lams = [0, 2]
seeds = [0]
n_train = 64
n_validation = 32
n_test = 40
training = {epochs = 1, learning_rate = 5e-4}
decoding = {samples = 2}
""")
erce.run("notebook.toml", out="runs/notebook")

# %% The report: a table here, a page in the folder
page = erce.report("runs/notebook")
print(page)

# %% What the model wrote, and what the verifier said
from erce.study.export import records
from erce.study.folder import read_study

for row in list(records(read_study("runs/notebook")))[:3]:
    print(row.problem, repr(row.completion), row.reason)
