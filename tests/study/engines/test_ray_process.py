"""The process that Ray is in may end at any moment and by any cause: its parent says so in a sentence."""

import pytest
from toys.engine_work import CELLS, RECIPE, leave_a_result
from toys.waiting import DEADLINE_SECONDS

from erce.errors import ClusterLostError, InputError
from erce.study.engines import Work, ray_process
from erce.study.engines.ray_process import watched_cluster

pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")

BOOTED = (
    "import os, pickle, signal, sys; ask = lambda: pickle.load(sys.stdin.buffer); sys.path[:] = ask()[0]; "
)
READ = f"{BOOTED}ask(); "
SAY = "say = lambda it: (sys.stdout.buffer.write(pickle.dumps(it)), sys.stdout.flush()); "
CONNECT = f"{READ}{SAY}say(None); "
RUN = f"{CONNECT}[say((cell, 'ended')) for cell in ask()[:1]]; "


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path, RECIPE, leave_a_result)


@pytest.mark.parametrize(
    ("child", "end"),
    [
        ("", "os._exit(1)"),
        (READ, "os._exit(1)"),
        (CONNECT, "os.kill(os.getpid(), signal.SIGABRT)"),
        (RUN, "os._exit(0)"),
    ],
    ids=["at once", "while it connects", "connected", "while cells run"],
)
def test_a_process_that_ends_without_a_word_is_a_lost_cluster(work, child, end, monkeypatch):
    monkeypatch.setattr(ray_process, "BOOT", f"import os, signal; {child}{end}")
    with (
        pytest.raises(ClusterLostError, match="the same command goes on"),
        watched_cluster(work, None, "127.0.0.1:9") as run,
    ):
        list(run(CELLS))


def test_what_is_cut_off_within_an_answer_is_a_lost_cluster(work, monkeypatch):
    cut = f"{READ}sys.stdout.buffer.write(pickle.dumps(list(range(99)))[:-9])"
    monkeypatch.setattr(ray_process, "BOOT", cut)
    with pytest.raises(ClusterLostError), watched_cluster(work, None, "127.0.0.1:9"):
        pass


def test_an_error_of_the_process_is_raised_here(work):
    with (
        pytest.raises(InputError, match=r"^no Ray cluster at 127\.0\.0\.1:9: .*refused"),
        watched_cluster(work, None, "127.0.0.1:9"),
    ):
        pass


def test_an_error_that_is_no_sentence_keeps_its_traceback(work, monkeypatch):
    error = "from erce.study.engines.ray_process import _to_send; "
    monkeypatch.setattr(
        ray_process,
        "BOOT",
        f"{READ}{SAY}{error}\ntry: 1 / 0\nexcept ZeroDivisionError as fault: say(_to_send(fault))",
    )
    with pytest.raises(ZeroDivisionError) as raised, watched_cluster(work, None, "127.0.0.1:9"):
        pass
    assert "Traceback" in raised.value.__notes__[0]


def test_a_thread_of_rays_that_fails_prints_one_line(work, monkeypatch, capfd):
    fail = (
        "import threading; from erce.errors import ClusterLostError\n"
        "from erce.study.engines import ray_process\n"
        "def cluster(*_, **__):\n"
        "    thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()\n"
        "    raise ClusterLostError('gone')\n"
        "ray_process.ray_engine.cluster = cluster; ray_process.serve()"
    )
    monkeypatch.setattr(ray_process, "BOOT", f"{BOOTED}{fail}")
    with pytest.raises(ClusterLostError, match="gone"), watched_cluster(work, None, "127.0.0.1:9"):
        pass
    assert capfd.readouterr().err == "ZeroDivisionError: division by zero\n"


def test_a_run_that_is_left_early_interrupts_the_process(work, tmp_path, monkeypatch):
    """Here one that only an interrupt ends, and in time."""
    listen = "from erce.study.engines.ray_process import _listen; import queue, threading, time; "
    interrupted = f"open({str(tmp_path / 'interrupted')!r}, 'w').close()"
    wait = (
        "\ntry: "
        "threading.Thread(target=_listen, args=(sys.stdin.buffer, queue.SimpleQueue(), threading.Event()),"
        f" daemon=True).start(); time.sleep(600)\nexcept KeyboardInterrupt: {interrupted}"
    )
    monkeypatch.setattr(ray_process, "BOOT", f"{READ}{SAY}{listen}say(None); {wait}")
    monkeypatch.setattr(ray_process, "EXIT_SECONDS", DEADLINE_SECONDS)
    with watched_cluster(work, None, "127.0.0.1:9"):
        pass
    assert (tmp_path / "interrupted").exists()
