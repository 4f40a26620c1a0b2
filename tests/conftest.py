"""What holds for every test."""

import signal


def pytest_configure() -> None:
    """Let Ctrl-C end what the tests start: a shell's background processes, and their children, ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
