"""The entropy penalty as a torchtune loss; in the recipe's YAML:

loss:
  _component_: torchtune_loss.EntropyLoss       # this file, on PYTHONPATH
  lam: 2.0
"""

from torch import Tensor, nn

from erce import entropy_regularized_cross_entropy


class EntropyLoss(nn.Module):
    def __init__(self, lam: float, ignore_index: int = -100) -> None:
        super().__init__()
        self.lam, self.ignore_index = lam, ignore_index

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean over the labels; the recipe has shifted them and weighs it by their number."""
        loss = entropy_regularized_cross_entropy(logits, labels, lam=self.lam, ignore_index=self.ignore_index)
        return loss.objective
