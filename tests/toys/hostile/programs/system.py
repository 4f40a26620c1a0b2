"""Honest programs that use threads, events, signals, clocks and files, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

PROGRAMS = [
    honest(
        "library_threads",
        """
        import queue
        import threading
        from concurrent.futures import ThreadPoolExecutor

        def double(n):
            answers = queue.Queue()
            workers = [threading.Thread(target=answers.put, args=(n,)) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            with ThreadPoolExecutor(3) as pool:
                list(pool.map(str, range(20)))
            return answers.get() + answers.get()
        """,
    ),
    honest(
        "library_forty_threads",
        """
        import threading

        def together(n):
            seen, gate = [], threading.Barrier(n)

            def meet(i):
                gate.wait()
                seen.append(i)

            workers = [threading.Thread(target=meet, args=(i,)) for i in range(n)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            return sorted(seen)
        """,
        "assert together(40) == list(range(40))",
    ),
    honest(
        "library_asyncio",
        """
        import asyncio

        async def part(n):
            await asyncio.sleep(0.001)
            return n

        async def both(n):
            return sum(await asyncio.gather(part(n), part(n)))

        def double(n):
            return asyncio.run(both(n))
        """,
    ),
    honest(
        "library_temporary_file",
        """
        import os
        import tempfile

        def double(n):
            with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
                file.write(f"{n}\\n" * 2)
                file.seek(0)
                total = sum(int(line) for line in file)
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "a"), "wb") as file:
                    file.write(bytes(1000))
                return total + os.path.getsize(os.path.join(folder, "a")) - 1000
        """,
        tiers=("namespaces",),
    ),
    honest(
        "library_own_alarm",
        """
        import signal

        class Late(Exception):
            pass

        def ring(*_):
            raise Late

        def double(n):
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                while True:
                    pass
            except Late:
                return n + n
        """,
        "assert double(4) == 8",
    ),
]
