"""Judge an lm-eval task with erce's verifier of mathematical answers; copy this file beside the task's YAML.

process_results: !function lm_eval_metric.process_results
metric_list:
  - {metric: accepted, aggregation: mean, higher_is_better: true}
"""

from typing import Any

from erce.verify import verify_math


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return 1 where the completion's last box means the same as the document's `answer`."""
    return {"accepted": float(verify_math(doc["answer"], results[0]).accepted)}
