"""Train a model on demonstrations in your own loop; the loss is one function.

python examples/plain_loop.py       # the embedded model, on a CPU, in seconds
"""

import torch

from erce import linear_entropy_regularized_cross_entropy
from erce.hf.models import load_model, load_tokenizer
from erce.hf.prompt import training_rows
from erce.tasks import load_task, splits

LAM = 2.0

problems = splits(load_task("mini-sums"), n_train=32, n_validation=1, n_test=1).train
tokenizer, model = load_tokenizer("tiny"), load_model("tiny").train()
rows = training_rows(tokenizer, list(problems), max_length=128)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

for step in range(8):  # two epochs
    batch = rows[8 * (step % 4) :][:8]
    width = max(len(row["input_ids"]) for row in batch)
    pads = [[0] * (width - len(row["input_ids"])) for row in batch]
    ids = torch.tensor([row["input_ids"] + pad for row, pad in zip(batch, pads, strict=True)])
    scored = torch.tensor([row["completion_mask"] + pad for row, pad in zip(batch, pads, strict=True)]) == 1
    hidden = model.model(ids).last_hidden_state[:, :-1]  # padded on the right, where nothing attends to it
    targets = ids.masked_fill(~scored, -100)[:, 1:]
    loss = linear_entropy_regularized_cross_entropy(hidden, model.lm_head.weight, targets, lam=LAM)
    loss.objective.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: objective {loss.objective:.3f} = {loss.nll:.3f} + {LAM:g} × {loss.entropy:.3f}")
