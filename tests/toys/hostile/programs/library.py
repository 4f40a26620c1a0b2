"""Honest programs that use the standard library in all its breadth, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

PROGRAMS = [
    honest(
        "library_decimal_and_fraction",
        """
        from decimal import Decimal, getcontext
        from fractions import Fraction

        def thirds(n):
            getcontext().prec = 6
            return Decimal(n) / 3, Fraction(n, 3)
        """,
        "from decimal import Decimal\nfrom fractions import Fraction",
        "assert thirds(2) == (Decimal('0.666667'), Fraction(2, 3))",
        "assert thirds(3)[1] == 1",
        "assert repr(thirds(1)[0]) == \"Decimal('0.333333')\"",
    ),
    honest(
        "library_dates",
        """
        import calendar
        from datetime import date, datetime, timedelta

        def week_later(year, month, day):
            return date(year, month, day) + timedelta(weeks=1)

        def moment(text):
            return datetime.strptime(text, "%d.%m.%Y %H:%M")

        def leap(year):
            return calendar.isleap(year)
        """,
        "from datetime import date, datetime",
        "assert week_later(2024, 2, 25) == date(2024, 3, 3)",
        "assert moment('01.02.2003 04:05') == datetime(2003, 2, 1, 4, 5)",
        "assert leap(2000) is True and leap(1900) is False",
        entry_points=("week_later", "moment", "leap"),
    ),
    honest(
        "library_collections",
        """
        from collections import ChainMap, Counter, OrderedDict, defaultdict, deque

        def letters(text):
            return Counter(text)

        def ordered(pairs):
            return OrderedDict(pairs)

        def last(values, n):
            return deque(values, maxlen=n)

        def index(words):
            found = defaultdict(list)
            for i, word in enumerate(words):
                found[word].append(i)
            return found

        def chained(a, b):
            return dict(ChainMap(a, b))
        """,
        "from collections import Counter, OrderedDict, deque",
        "assert letters('abca') == Counter({'a': 2, 'b': 1, 'c': 1})",
        "assert ordered([('z', 1), ('a', 2)]) == OrderedDict([('z', 1), ('a', 2)])",
        "assert last([1, 2, 3], 2) == deque([2, 3])",
        "assert index(['x', 'y', 'x']) == {'x': [0, 2], 'y': [1]}",
        "assert chained({'a': 1}, {'a': 2, 'b': 3}) == {'a': 1, 'b': 3}",
        entry_points=("letters", "ordered", "last", "index", "chained"),
    ),
    honest(
        "library_enum",
        """
        from enum import Enum, IntEnum

        class Suit(Enum):
            CLUBS = "c"

        class Rank(IntEnum):
            ACE = 1

        def suit():
            return Suit.CLUBS

        def rank():
            return Rank.ACE
        """,
        "assert suit().name == 'CLUBS' and suit().value == 'c'",
        "assert rank() == 1",
        mode="unproven",
    ),
    honest(
        "library_functools",
        """
        from functools import cached_property, lru_cache, reduce, singledispatch, total_ordering, wraps

        def traced(function):
            @wraps(function)
            def inner(*args):
                return function(*args)
            return inner

        @traced
        @lru_cache(maxsize=None)
        def fibonacci(n):
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

        @singledispatch
        def show(value):
            return "?"

        @show.register
        def _(value: int):
            return "int"

        @show.register(list)
        def _(value):
            return reduce(lambda a, b: a + b, map(show, value), "list of ")
        """,
        "assert fibonacci(90) == 2880067194370816120",
        "assert show(3) == 'int' and show([1, 'a']) == 'list of int?'",
    ),
    honest(
        "library_regular_expressions",
        """
        import re

        def find(text):
            return re.search(r"(?P<word>[a-z]+)\\d", text)

        def clean(text):
            return re.sub(r"\\s+", " ", text).strip()
        """,
        "assert find('__ab1') and not find('??')",
        "assert find('__ab1').group('word') == 'ab' and find('__ab1').span() == (2, 5)",
        "assert clean(' a  b\\n') == 'a b'",
        mode="unproven",
    ),
    honest(
        "library_text_formats",
        """
        import configparser
        import csv
        import io
        import json
        import textwrap
        import xml.etree.ElementTree as tree
        from html import escape
        from urllib.parse import parse_qs, urlsplit

        def rows(text):
            return list(csv.reader(io.StringIO(text)))

        def compact(value):
            return json.dumps(value, sort_keys=True, separators=(",", ":"))

        def tags(text):
            return [node.tag for node in tree.fromstring(text).iter()]

        def query(url):
            return parse_qs(urlsplit(url).query), escape("<&>"), textwrap.shorten("a b c d", 5)

        def setting(text):
            parser = configparser.ConfigParser()
            parser.read_string(text)
            return parser["a"]["b"]
        """,
        "assert rows('a,\"b,c\"\\n1,2\\n') == [['a', 'b,c'], ['1', '2']]",
        "assert compact({'b': [1, None], 'a': True}) == '{\"a\":true,\"b\":[1,null]}'",
        "assert tags('<a><b/><c/></a>') == ['a', 'b', 'c']",
        "assert query('http://x/?k=1&k=2') == ({'k': ['1', '2']}, '&lt;&amp;&gt;', '[...]')",
        "assert setting('[a]\\nb = 3') == '3'",
    ),
    honest(
        "library_binary_formats",
        """
        import base64
        import hashlib
        import hmac
        import pickle
        import struct
        import zlib

        def round_trip(value):
            packed = base64.b85encode(zlib.compress(pickle.dumps(value)))
            return pickle.loads(zlib.decompress(base64.b85decode(packed)))

        def digest(text):
            return hashlib.sha256(text.encode()).hexdigest()[:8], hmac.new(b"k", b"m", "md5").hexdigest()[:4]

        def packed(n):
            return struct.pack(">I", n)
        """,
        "assert round_trip({'a': [1, (2, b'x')]}) == {'a': [1, (2, b'x')]}",
        "assert digest('abc') == ('ba7816bf', 'ed7e')",
        "assert packed(258) == b'\\x00\\x00\\x01\\x02'",
    ),
    honest(
        "library_numbers",
        """
        import cmath
        import math
        import random
        import statistics

        def roots(a, b, c):
            d = cmath.sqrt(b * b - 4 * a * c)
            return (-b + d) / (2 * a), (-b - d) / (2 * a)

        def spread(values):
            return statistics.median(values), round(statistics.stdev(values), 4), math.gcd(*values)

        def drawn(seed):
            generator = random.Random(seed)
            return [generator.randrange(10) for _ in range(5)], sorted(generator.sample(range(3), 3))
        """,
        "assert roots(1, 0, 1) == (1j, -1j)",
        "assert spread([2, 4, 6]) == (4, 2.0, 2)",
        "assert drawn(0) == ([6, 6, 0, 4, 8], [0, 1, 2])",
        entry_points=("roots", "spread", "drawn"),
    ),
    honest(
        "library_algorithms",
        """
        import array
        import bisect
        import copy
        import difflib
        import graphlib
        import heapq
        import itertools
        import operator
        import string

        def smallest(values, n):
            heap = copy.deepcopy(values)
            heapq.heapify(heap)
            return [heapq.heappop(heap) for _ in range(n)]

        def runs(text):
            return [(k, len(list(g))) for k, g in itertools.groupby(text)]

        def place(values, v):
            return bisect.bisect(array.array("i", values), v)

        def order(graph):
            return list(graphlib.TopologicalSorter(graph).static_order())

        def close(word, words):
            text = string.Template("$a!").substitute(a=operator.add(1, 2))
            return difflib.get_close_matches(word, words, 1), text
        """,
        "assert smallest([5, 1, 4], 2) == [1, 4]",
        "assert runs('aab') == [('a', 2), ('b', 1)]",
        "assert place([1, 3, 5], 4) == 2",
        "assert order({'b': ['a'], 'c': ['b']}) == ['a', 'b', 'c']",
        "assert close('appel', ['ape', 'apple']) == (['apple'], '3!')",
    ),
    honest(
        "library_captures_its_output",
        """
        import contextlib
        import io
        import warnings

        def captured(text):
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.suppress(ZeroDivisionError):
                print(text)
                warnings.warn("careful")
                print(1 / 0)
            return out.getvalue()
        """,
        "assert captured('hello') == 'hello\\n'",
    ),
    honest(
        "library_introspection",
        """
        import ast
        import dis
        import gc
        import inspect
        import types
        import weakref

        def arity(source):
            names = {}
            exec(compile(ast.parse(source), "<s>", "exec"), names)
            function = next(v for v in names.values() if isinstance(v, types.FunctionType))
            list(dis.get_instructions(function))
            reference = weakref.ref(function)
            gc.collect()
            return len(inspect.signature(reference()).parameters)
        """,
        "assert arity('def g(a, b, *c): pass') == 3",
    ),
    honest(
        "library_database_in_memory",
        """
        import sqlite3

        def total(values):
            with sqlite3.connect(":memory:") as base:
                base.execute("create table t (v integer)")
                base.executemany("insert into t values (?)", [(v,) for v in values])
                return base.execute("select sum(v), count(*) from t").fetchone()
        """,
        "assert total([1, 2, 3]) == (6, 3)",
    ),
]
