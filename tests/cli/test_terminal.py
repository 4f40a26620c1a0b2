"""Lines for a terminal."""

from erce.cli.terminal import WIDTH, fitted


def test_a_text_with_double_blanks_keeps_its_words():
    text = "She sells  sixteen eggs,  eats three,  bakes four,  and sells  what is left at 2 dollars  each"
    lines = fitted(f"  text     {text}").split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines).split() == ["text", *text.split()]
    assert len(lines) == 2
