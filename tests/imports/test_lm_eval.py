"""A log of lm-eval becomes rows: one a response, each with its own verdict or none."""

import pytest
from toys.logs import HASH, known_columns, lm_eval_document, rows_of


def test_a_document_of_lm_eval_is_a_row(file):
    [row] = rows_of(file(lm_eval_document(4, 1.0)), arm="mine")
    assert known_columns(row) == {
        "task": "gsm8k",
        "arm": "mine",
        "seed": 0,
        "split": "",
        "decoding": "greedy",
        "temperature": 0.0,
        "stop": ["\n"],
        "problem": "4",
        "prompt_hash": HASH[:16],
        "answer": "4",
        "sample": 0,
        "completion": "So #### 4",
        "accepted": True,
        "extracted": "4",
    }


@pytest.mark.parametrize(
    ("resps", "filtered", "value", "accepted", "extracted"),
    [
        ([["a", "b"]], [["x", "y"]], [1, 0], [True, False], ["x", "y"]),
        ([["a", "b"]], ["x", "y"], [0.0, 1.0], [False, True], ["x", "y"]),
        ([["a", "b"]], ["x"], 1.0, [None, None], [None, None]),  # a vote has no single winner
        ([["a"]], ["x"], True, [True], ["x"]),
        ([[[-1.5, False]], [[-0.5, True]]], [[-1.5, False], [-0.5, True]], 0, [False], [None]),
    ],
)
def test_each_response_of_lm_eval_has_its_own_verdict_or_none(
    file, resps, filtered, value, accepted, extracted
):
    rows = rows_of(file(lm_eval_document(1, value, resps=resps, filtered_resps=filtered)), arm="a")
    assert [row.accepted for row in rows] == accepted
    assert [row.extracted for row in rows] == extracted
    assert [row.sample for row in rows] == list(range(len(rows)))


def test_of_repeats_under_the_default_filter_the_first_alone_was_verified(file):
    line = lm_eval_document(1, 1.0, resps=[["a", "b", "c"]], filtered_resps=["x"], filter="none")
    [row] = rows_of(file(line), arm="a")
    assert (row.completion, row.accepted) == ("a", True)


@pytest.mark.parametrize(
    ("settings", "decoding", "temperature"),
    [
        ({"do_sample": True, "temperature": 0.7}, "sampled", 0.7),
        ({"do_sample": True, "temperature": 0}, "greedy", 0.0),
        ({"temperature": 0.7}, "sampled", 0.7),
        ({"do_sample": False, "temperature": 0.7}, "greedy", 0.0),
        ({}, "greedy", 0.0),
    ],
)
def test_the_decoding_of_lm_eval_is_read_from_its_arguments(file, settings, decoding, temperature):
    arguments = {"gen_args_0": {"arg_0": "Q", "arg_1": settings}}
    [row] = rows_of(file(lm_eval_document(1, 1, arguments=arguments)), arm="a")
    assert (row.decoding, row.temperature) == (decoding, temperature)


def test_a_filter_and_a_metric_are_chosen_where_there_are_several(file):
    both = {"metrics": ["acc", "acc_norm"], "acc": 0, "acc_norm": 1}
    path = file([lm_eval_document(1, 0, **both), lm_eval_document(1, 0, filter="flexible-extract", **both)])
    with pytest.raises(ValueError, match="the filters flexible-extract, strict-match; choose with --filter"):
        rows_of(path, arm="a")
    with pytest.raises(ValueError, match="the metrics acc, acc_norm; choose with --metric"):
        rows_of(path, arm="a", filter="strict-match")
    for metric, accepted in (("acc", False), ("acc_norm", True)):
        [row] = rows_of(path, arm="a", filter="strict-match", metric=metric)
        assert row.accepted is accepted


@pytest.mark.parametrize(
    ("content", "chosen", "sentence"),
    [
        ({"doc": {}}, {}, "line 1 has neither the doc_id"),
        ({"doc_id": 1}, {}, "line 1 has neither the doc_id"),
        ([[1]], {}, "line 1 has neither the doc_id"),
        (lm_eval_document(1, 0.5), {}, r"document 1 has the value 0\.5, neither 0 nor 1"),
        (lm_eval_document(1, [1, 0]), {}, "1 responses and 2 verdicts"),
        (lm_eval_document(1, 1), {"metric": "f1"}, "no metric 'f1'; it has exact_match: choose"),
        (lm_eval_document(1, 1), {"filter": "none"}, "no line with filter 'none'"),
    ],
)
def test_a_file_of_lm_eval_that_cannot_be_read_is_said_with_its_place(file, content, chosen, sentence):
    with pytest.raises(ValueError, match=sentence):
        rows_of(file(content), arm="a", **chosen)
