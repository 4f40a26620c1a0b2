"""In a real browser: what others wrote neither runs nor breaks the page."""

import json
import re
import shutil
import subprocess

import pytest
from toys.studies import make_study
from toys.waiting import DEADLINE_SECONDS

from erce.reporting import report
from erce.reporting.numbers.completions import examples
from erce.reporting.numbers.gains import summary
from erce.study.folder import read_study

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
RAN = "document.title='ran'"
ELSEWHERE = "http://127.0.0.1:9/"  # what the page would fetch
ATTACKS = (
    f"</style></pre></code></title></textarea><script>{RAN}</script>",
    f'<img src=x onerror="{RAN}"><svg/onload={RAN}>',
    f'\' onmouseover=\'{RAN}\' autofocus onfocus="{RAN}" style="animation:x"',
    f"]]><svg xmlns='http://www.w3.org/2000/svg'><script>{RAN}</script></svg><!--",
    f"<link rel=stylesheet href='{ELSEWHERE}css'><iframe src='{ELSEWHERE}frame'></iframe>",
    f"<style>@import url({ELSEWHERE}import);body{{display:none}}</style>",
    f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'><base href='{ELSEWHERE}'><form action='/'>",
    "{{ 7*7 }}{% for x in range(3) %}{{ x }}{% endfor %}{# ${7*7} #}",
    "\x00\x07\x1b[31m\x1b]0;title\x07\u202e\u2066\u200b\ufeff\ufffe",
)
SURROGATE = "LONE-SURROGATE"  # a placeholder: what UTF-8 cannot hold can stand in a JSON file all the same


def _hostile_study(root):
    """Attacks in every text that others write: names, problems, completions, answers, warnings, versions."""
    everything = "\n".join(ATTACKS) + SURROGATE + " tail"
    name = f"</style><script>{RAN}</script>{{{{ 7*7 }}}}\u202e$x^$"
    make_study(
        root,
        task=name,
        control=f"control {name}",
        model="\n".join(ATTACKS),
        text=lambda cell, number, right: (
            f"{everything}{'x' * 1_000_000} {everything}"
            if number == 0
            else f"{ATTACKS[number % len(ATTACKS)]} {everything}"
        ),
        reasons=("different", "no answer"),
        warnings=ATTACKS,
        versions={f"{name}-base": {each: each for each in ATTACKS}},
        problems=12,
        samples=2,
        validation=2,
        seeds=(0, 1),
        temperatures=(0.4,),
    )
    problem = json.dumps(f"{everything} test-")[1:-1]
    for path in root.rglob("*.jsonl"):
        written = path.read_text(encoding="utf-8").replace('"problem": "test-', f'"problem": "{problem}')
        path.write_text(written.replace(SURROGATE, "\\ud800"), encoding="utf-8")
    row = {"task": name, "split": "test", "prompt": everything + "y" * 1_000_000}
    prompts = [row | {"problem": f"{everything} test-{n}"} for n in range(12)]
    lines = "".join(json.dumps(row).replace(SURROGATE, "\\ud800") + "\n" for row in prompts)
    (root / "problems.jsonl").write_text(lines, encoding="utf-8")
    return name


def _dom(page, folder):
    """Return the page as a browser has it once its scripts ran."""
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=1000", "--dump-dom"]
    command.append(page.as_uri())
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True)
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="needs chromium or chrome on PATH")
def test_a_hostile_study_neither_runs_nor_breaks_the_page(tmp_path):
    name = _hostile_study(tmp_path / "runs")
    page = report(tmp_path / "runs", json=tmp_path / "all.json")
    assert page.stat().st_size < 2_000_000
    dom = _dom(page, tmp_path)
    title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert title is not None
    assert title[1].startswith("&lt;/style&gt;&lt;script&gt;")
    assert title[1].endswith("· erce study")
    assert not re.search(r"<(script|img|iframe|link|base|form)\b", dom)
    assert not re.search(r"<[^>]*\son\w+=", dom)
    assert dom.rfind("<h2>") == dom.find("<h2>More</h2>") > 0
    shown = examples(summary(read_study(tmp_path / "runs")))
    assert dom.count('<details class="problem"') == len(shown["gained"]) + len(shown["lost"]) > 2
    assert "{{ 7*7 }}" in dom
    assert not re.search("[\x00\x07\x1b\u202e\u2066\u200b\ufeff\ufffe\ud800]", dom)
    assert "\\ud800 tail" in dom
    assert name not in dom
    dom = _dom(page.with_name("completions.html"), tmp_path)
    assert "<title>Completions of &lt;/style&gt;" in dom
    assert dom.count("<script") == 2
    assert not re.search(r"<(img|iframe|link|base|form|svg)\b", dom.replace('"\\u003c', ""))
    assert dom.count('<pre class="">') == 50 == dom.count('<p class="verdict')
    assert "{{ 7*7 }}" in dom
    assert not re.search("[\x00\x07\x1b\u202e\u2066\u200b\ufeff\ufffe\ud800]", dom)
    for path in (page.parent / "tables").iterdir():
        assert "\u202e" not in path.read_text(encoding="utf-8"), path.name
