"""Rows that hold several sequences: where each begins, and whether a model keeps them apart."""

import warnings
from typing import Any

import pytest
import torch
from toys import training as toy

import erce
from erce.hf.sequences import has_several, keeps_apart, sequence_breaks, shifted_targets

LABELS = torch.arange(5)[None]
MARKS: dict[str, Any] = {
    "position_ids": torch.tensor([[0, 1, 0, 1, 2]]),
    "seq_idx": torch.tensor([[0, 0, 1, 1, 1]]),
    "cu_seq_lens_q": torch.tensor([0, 2, 5], dtype=torch.int32),
}


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_says_where_a_sequence_begins(mark):
    marks = {mark: MARKS[mark]}
    assert sequence_breaks(marks, LABELS).tolist() == [[False, True, False, False]]
    targets, sequences = shifted_targets(marks, LABELS)
    assert targets.tolist() == [[1, toy.IGNORED, 3, 4]]
    assert sequences.tolist() == [[0, 1, 1, 1]]
    assert has_several(marks, LABELS)
    assert not has_several(marks, torch.full_like(LABELS, toy.IGNORED))


def test_rows_of_one_sequence_each_are_left_as_they_are():
    labels = torch.arange(10).view(2, 5)
    targets, sequences = shifted_targets({}, labels)
    assert torch.equal(targets, labels[:, 1:])
    assert sequences.tolist() == [[0] * 4, [5] * 4]
    positions = torch.arange(5)[None]
    assert not has_several({"position_ids": positions}, labels)
    image = {"position_ids": torch.zeros(3, 2, 5)}  # of images, which say nothing
    assert sequence_breaks(image, labels) is None
    left = {
        "position_ids": torch.tensor([[1, 1, 0, 1, 2]]),
        "attention_mask": torch.tensor([[0, 0, 1, 1, 1]]),
    }
    assert not has_several(left, LABELS)


def test_whether_a_model_keeps_sequences_apart_is_tried():
    tokens, marks = torch.arange(4)[None], {"position_ids": LABELS}
    assert keeps_apart(toy.model(), tokens, marks)
    assert not keeps_apart(toy.model(), tokens, marks | {"attention_mask": LABELS})
    assert not keeps_apart(toy.model(), tokens, {"seq_idx": LABELS})


DOCUMENTS = toy.rows([(3, 6), (2, 9)])
FLAT = {
    "input_ids": torch.tensor([DOCUMENTS[0]["input_ids"] + DOCUMENTS[1]["input_ids"]]),
    "labels": torch.tensor([DOCUMENTS[0]["labels"] + DOCUMENTS[1]["labels"]]),
    "position_ids": torch.tensor([[*range(9), *range(11)]]),
}


def test_an_attached_model_keeps_flattened_sequences_apart_or_warns():
    model = erce.attach(toy.model(), 2.0)
    apart = model(**toy.batch(DOCUMENTS)).loss.item()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model(**FLAT).loss.item() == pytest.approx(apart, rel=1e-6)
    for more in ({"attention_mask": torch.ones(1, 20)}, {"use_cache": True}):
        fresh = erce.attach(toy.model(), 2.0)
        with pytest.warns(UserWarning, match="holds several sequences, and the model lets one read"):
            assert fresh(**FLAT | more).loss.item() != pytest.approx(apart, rel=1e-4)
    ends = {"position_ids": None, "cu_seq_lens_q": torch.tensor([0, 9, 20], dtype=torch.int32)}
    with pytest.warns(UserWarning, match="holds several sequences, and the model lets one read"):
        erce.attach(toy.model(), 2.0)(**FLAT | ends)
