"""Forgeries on the wire: replies nobody asked for, false handles, broken frames, swallowed timeouts."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail")

WIRE = """
    import json, os, select, socket, stat, struct, sys, threading, time

    def sockets():
        found = []
        for number in range(3, 256):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    found.append(number)
            except OSError:
                pass
        return found

    def raw(blob):
        for number in sockets():
            try:
                os.write(number, blob)
            except OSError:
                pass

    def say(value):
        blob = json.dumps(value).encode()
        raw(struct.pack("<I", len(blob)) + blob)
"""


def wire(name: str, program: str, *tests: str, **more):
    return forgery(name, f"{WIRE}{program}", *tests, **more)


PROGRAMS = [
    wire(
        "replies_before_it_is_asked",
        """
    def double(n):
        return 0

    for reply in ({"ok": 8}, {"ok": ["o", 0, "int", "v"]}, {"accepted": True, "reason": "passed"}, "passed"):
        say(reply)
    os._exit(0)
""",
    ),
    wire(
        "replies_with_strange_exceptions",
        """
    def double(n):
        names = "StopIteration AssertionError SystemExit KeyboardInterrupt GeneratorExit Verdict Stop"
        names += " BaseException __import__ print StopAsyncIteration"
        for kind in (*names.split(), "", None, 5, ["x"]):
            say({"raised": kind, "kind": kind, "text": kind})
        return 0
""",
        "assert all(map(double, [1, 2]))\nassert double(4) == 8",
    ),
    wire(
        "frames_of_great_depth",
        """
    def double(n):
        for blob in (b'{"ok":' + b'["l",[' * 300000 + b"]]" * 300000 + b"}", b"[" * 3000000):
            raw(struct.pack("<I", len(blob)) + blob)
        return 0
""",
    ),
    wire(
        "frames_of_great_numbers",
        """
    def double(n):
        for blob in (b'{"ok":' + b"9" * 4000000 + b"}", b'{"ok":[["i","0x' + b"f" * 7000000 + b'"],[]]}',
                     b'{"ok":[["D","1e999999999"],[]]}', b'{"ok":[["F",1,0],[]]}',
                     b'{"ok":[["r",0,1e30,1],[]]}'):
            raw(struct.pack("<I", len(blob)) + blob)
        return 0
""",
    ),
    wire(
        "reads_what_comes_next",
        """
    seen = []

    def hunt():
        for number in sockets():
            channel = socket.socket(fileno=os.dup(number))
            channel.setblocking(False)
            try:
                seen.append(channel.recv(1 << 20, socket.MSG_PEEK))
            except OSError:
                pass

    def secret(n):
        hunt()
        for blob in seen:
            for word in blob.replace(b"=", b" ").split():
                if word.isdigit() and len(word) == 12:
                    return int(word)
        return 0
""",
        "assert secret(4) == 918273645546",
    ),
    wire(
        "answers_from_a_thread",
        """
    def flood():
        while True:
            for value in (True, None, 1.0, "8"):
                say({"ok": value})
            time.sleep(0.001)

    threading.Thread(target=flood, daemon=True).start()

    def double(n):
        return 1
""",
    ),
    wire(
        "hangs_up",
        """
    def double(n):
        for number in sockets():
            socket.socket(fileno=number).shutdown(socket.SHUT_RDWR)
        time.sleep(0.05)
        return 0
""",
    ),
    forgery(
        "test_retries_what_died",
        "import os\n\ndef double(n):\n    os.abort()\n",
        "def tried():\n    try:\n        return double(4)\n    except BaseException:\n        return 8",
        "assert tried() == 8",
    ),
]
