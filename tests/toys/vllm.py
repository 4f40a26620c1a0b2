"""The command vllm of the tests of started servers: it lists one model, and samples only where it is told to.

`python -m toys.vllm serve MODEL --host … --port … --served-model-name …`, and then `--how` one of: "fails",
"silent", "stubborn" (it ignores SIGTERM), "samples" (the embedded model answers). It leaves its words and
the numbers of its processes in the file that the variable RECORD names.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

VARIABLES = ("VLLM_ALLOW_RUNTIME_LORA_UPDATING", "CUDA_VISIBLE_DEVICES")


def command(folder: Path) -> Path:
    """Write the command into the folder, which a test then puts first on PATH."""
    folder.mkdir()
    path = folder / "vllm"
    path.write_text(f"#!{sys.executable}\nfrom toys.vllm import main\nmain()\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def main() -> None:
    words = sys.argv[1:]
    option = dict(pairwise(words))
    how = option.get("--how", "")
    if how == "fails":
        print("loading\n\nno such device")
        sys.exit(3)
    if how == "silent":
        time.sleep(600)
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # vLLM's engine is a process of its own, too, which ends with the one that started it.
    engine = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    variables = {name: os.environ.get(name) for name in VARIABLES}
    started = time.time()
    record = {"words": words, "variables": variables, "processes": [os.getpid(), engine.pid], "time": started}
    with Path(os.environ["RECORD"]).open("a") as file:
        file.write(f"{json.dumps(record)}\n")
    name, port = option["--served-model-name"], int(option["--port"])
    if how == "samples":
        _sample(name, port)
    HTTPServer((option["--host"], port), _listing(name)).serve_forever()


def _sample(name: str, port: int) -> None:
    from erce.hf.models import load_model, load_tokenizer
    from toys.server import Engine, serving

    with serving(Engine({name: load_model("tiny")}, load_tokenizer("tiny")), port):
        signal.pause()


def _listing(name: str) -> type[BaseHTTPRequestHandler]:
    text = json.dumps({"data": [{"id": name}]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *words):
            pass

    return Handler
