"""The search on the paper's own numbers: what it keeps of the best gain, and for how many fine-tunings."""

import pytest

from benchmarks.search_replay import REPLAYED, main, replay


@pytest.mark.parametrize(("task", "decoding"), REPLAYED)
def test_half_of_the_papers_fine_tunings_keep_94_percent_of_its_best_gain(task, decoding):
    replayed = replay(task, decoding, permutations=200)
    assert replayed.kept >= 0.94
    assert replayed.cells <= replayed.paper_cells / 2


def test_the_command_prints_a_row_a_table_and_says_what_it_is_not(capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.search_replay.lines", lambda: [])
    main()
    assert "too high for a new study" in " ".join(capsys.readouterr().out.split())
