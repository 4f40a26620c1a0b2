"""Honest programs that use the standard library in all its breadth, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

PROGRAMS = [
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
