"""The process that Math-Verify runs in: a reference and a text → Math-Verify's verdict.

`erce.verify.killable.math_verify` starts and kills it.
"""

from importlib import import_module

from erce.verify.killable.serving import serve


def main() -> None:
    """Answer requests from standard input until it closes."""
    import_module("math_verify")  # before the first request, whose time is limited
    serve(verdict)


def verdict(answer: str, text: str) -> bool | str:
    """Return whether Math-Verify accepts `text`, or a sentence that names the exception it raised."""
    peer = import_module("math_verify")
    try:
        gold = peer.parse(f"${answer}$", extraction_config=[peer.LatexExtractionConfig()])
        return bool(peer.verify(gold, peer.parse(text)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"it raised {type(error).__name__}"


if __name__ == "__main__":
    main()
