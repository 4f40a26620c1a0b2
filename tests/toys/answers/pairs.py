"""Tables of answers written side by side → labelled pairs; and the tables about numbers.

A line is a gold answer followed by others, each after `≡` (the same answer) or `≢` (another answer). A line
that starts with a mark continues the gold answer above; `[name]` starts a category. `⏎` stands for a line
break, `␢` for a zero-width space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = {"≡": True, "≢": False}
UNSEEN = str.maketrans({"⏎": "\n", "␢": "\u200b"})


@dataclass(frozen=True)
class Pair:
    """Two answers with their label."""

    category: str
    gold: str
    answer: str
    expected: bool


def pairs(table: str) -> Iterator[Pair]:
    category = gold = ""
    for line in table.splitlines():
        if heading := re.fullmatch(r"\[([a-z ]+)\]", line.strip()):
            category = heading.group(1)
            continue
        first, *rest = re.split(r"(?:^|(?<=\s))([≡≢])(?:\s+|$)", line)
        gold = first.strip() or gold
        for mark, answer in zip(rest[::2], rest[1::2], strict=True):
            yield Pair(category, gold, answer.strip().translate(UNSEEN), MARKS[mark])


NUMBERS = r"""
[integers]
7 ≡ 7.0 ≡ +7 ≡ 7. ≡ 7.000 ≡ \frac{7}{1} ≡ 14/2 ≡ (7) ≢ 8 ≢ -7 ≢ 70 ≢ 77 ≢ 0.7 ≢ 7! ≢ 7i ≢ 7x ≢ 1/7 ≢ 6.9
-12 ≡ −12 ≡ –12 ≡ - 12 ≡ -12.00 ≡ -(12) ≢ 12 ≢ -1.2 ≢ -21 ≢ -120 ≢ 1-2
0 ≡ 0.0 ≡ -0 ≡ 5-5 ≡ 0/3 ≢ 0.0000003 ≢ 10^{-9} ≢ 1 ≢ \emptyset ≢ \frac{0}{0} ≢ \infty
100 ≡ 10^2 ≡ 10^{2} ≡ 99+1 ≡ 4\cdot 25 ≡ 4 \times 25 ≡ 4*25 ≢ 1 ≢ 10 ≢ 10^1 ≢ 1000 ≢ 10_2 ≢ 0.01 ≢ 1,00
15 ≢ 1,5 ≢ 1 5 ≢ 1.5 ≢ 51 ≢ 15, 16 ≢ (1,5) ≢ 1:5 ≢ 1/5

[thousands]
1234567 ≡ 1,234,567 ≡ 1{,}234{,}567 ≡ 1\,234\,567 ≡ 1,\!234,\!567 ≢ 1,234,576 ≢ 123,456
1,234,567 ≡ 1234567 ≡ 1234567.0 ≢ 1,234,568 ≢ 1.234567
4096 ≡ 4,096 ≡ 4{,}096 ≡ 2^{12} ≢ 4,906 ≢ 409,6 ≢ 40,96 ≢ (4,096) ≢ 4 ≢ 96
25000 ≡ 25,000 ≡ \$25,000 ≡ 25,\!000 ≡ 25 \times 10^3 ≢ 25,00 ≢ 25 ≢ 2500
10,000.50 ≡ 10000.5 ≡ 10000\frac12 ≢ 10,000.05 ≢ 10000

[big integers]
123456789012345678901234567890 ≡ 123,456,789,012,345,678,901,234,567,890 ≢ 123456789012345678901234567891
≢ 123456789012345678901234567880 ≢ -123456789012345678901234567890
2^{100} ≡ 1267650600228229401496703205376 ≡ 4^{50} ≡ 2^{99}\cdot 2 ≢ 2^{101} ≢ 1267650600228229401496703205377
≢ 2^{100}+1 ≢ 2\cdot 100 ≢ 2^{10}0 ≢ 100^2
9007199254740993 ≢ 9007199254740992 ≢ 9007199254740994 ≡ 2^{53}+1
3^{2025} ≡ 3 \cdot 3^{2024} ≡ 9^{2025/2} ≢ 3^{2024} ≢ 3^{2025}+1 ≢ 2025^3
10^{50}+1 ≢ 10^{50} ≢ 10^{50}-1 ≡ 1+10^{50}

[decimals]
0.4 ≡ .4 ≡ 0.400 ≡ 2/5 ≡ \frac{2}{5} ≡ 40\% ≢ 0.04 ≢ 4 ≢ 0.44 ≢ 0.41 ≢ -.4
3.25 ≡ 13/4 ≡ 3\frac{1}{4} ≡ 3.250 ≡ 325/100 ≢ 3.52 ≢ 32.5 ≢ 3.2 ≢ 3.24
0.125 ≡ \frac18 ≡ 2^{-3} ≡ 1/8 ≢ 0.0125 ≢ 0.12 ≢ 1/7
-0.75 ≡ -\frac34 ≡ -3/4 ≡ \frac{-3}{4} ≢ 0.75 ≢ -\frac43 ≢ -0.57
0.\overline{3} ≡ \frac{1}{3} ≡ 1/3 ≢ 0.3 ≢ \frac{3}{10} ≢ 0.\overline{6} ≢ 3
0.1\overline{6} ≡ \frac16 ≢ 0.16 ≢ 0.\overline{16} ≢ 0.1\overline{7}
1.\overline{27} ≡ \frac{14}{11} ≢ 1.27 ≢ 1.2\overline{7}
\frac{1}{3} ≡ 0.3333333333 ≡ 0.33333333333333333 ≢ 0.34 ≢ 0.3 ≢ 3 ≢ 0.4
\frac{22}{7} ≢ \pi ≢ 3.14159 ≢ 3 ≢ \frac{7}{22} ≢ 22 ≡ 3\frac{1}{7}

[tiny differences]
0.0000001 ≡ 10^{-7} ≡ \frac{1}{10000000} ≡ 1\times10^{-7} ≢ 0.0000002 ≢ 0 ≢ 10^{-8} ≢ -0.0000001
\frac{1}{2004!} ≢ \frac{1}{2006!} ≢ 0 ≢ \frac{1}{2003!}
2^{-99} ≢ 2^{-98} ≢ 2^{-100} ≢ 0 ≡ \frac{1}{2^{99}} ≡ \frac{2}{2^{100}}
\frac{1}{1000000} ≢ \frac{1}{1000001} ≢ 0 ≡ 10^{-6} ≡ 0.000001
1000000 ≢ 1000001 ≢ 999999 ≡ 10^6
\sqrt{10^{20}+1} ≢ 10^{10} ≢ \sqrt{10^{20}}
1-10^{-20} ≢ 1 ≢ 1+10^{-20}
\sqrt{2} ≢ \frac{99}{70} ≢ \frac{577}{408} ≢ \frac{665857}{470832} ≡ 1.41421356237309
5 ≢ 5.1 ≢ 5.01 ≢ 4.99 ≢ 4.999

[scientific]
1500 ≡ 1.5\times 10^3 ≡ 1.5 \cdot 10^{3} ≡ 15\times10^2 ≡ 1.5e3 ≡ 1.5*10^3 ≢ 1.5\times 10^2 ≢ 1.5 ≢ 1.5 + 10^3
6.02\times10^{23} ≡ 602000000000000000000000 ≡ 6.02 \cdot 10^{23} ≡ 6.02e23 ≢ 6.02\times 10^{22}
≢ 6.2\times10^{23}
3\times 10^{-4} ≡ 0.0003 ≡ 3e-4 ≡ \frac{3}{10000} ≢ 0.003 ≢ 3\times10^4 ≢ -3\times 10^4
2.5\times10^{5} ≡ 250000 ≡ 250,000 ≢ 2.5\times 10 ≢ 25000

[fractions]
\frac{3}{4} ≡ \dfrac{3}{4} ≡ \tfrac{3}{4} ≡ \frac34 ≡ \frac 34 ≡ \frac{3}4 ≡ \frac3{4} ≡ 3/4 ≡ {3 \over 4}
≡ 3 \over 4 ≡ 0.75 ≡ \cfrac{3}{4} ≡ 3 \div 4 ≡ 1-\frac14 ≡ {\frac{3}{4}} ≡ (3)/(4) ≡ 3\cdot\frac14
≢ \frac{4}{3} ≢ \frac{3}{5} ≢ -\frac{3}{4} ≢ 3,4 ≢ \frac{3}{4}x ≢ \frac{3}{40} ≢ 3 ≢ 4 ≢ (3,4)
-\frac{7}{3} ≡ \frac{-7}{3} ≡ \frac{7}{-3} ≡ -7/3 ≡ -2\frac{1}{3} ≡ -(7/3) ≢ \frac{-7}{-3} ≢ \frac73
≢ -\frac37 ≢ 2\frac13
\frac{1}{1+\frac{1}{2}} ≡ \frac23 ≡ 1/(1+1/2) ≢ 1/1+1/2 ≢ \frac32
\frac{12}{35} ≢ \frac{1}{235} ≢ \frac{13}{35} ≢ \frac{12}{53} ≢ 1\frac{2}{35} ≢ \frac{1}{2} ≡ 12/35
\frac{1}{72}+\frac12 ≡ \frac{37}{72} ≢ \frac{1}{73} ≢ \frac{2}{74} ≢ \frac12

[mixed numbers]
1\frac{1}{2} ≡ 1.5 ≡ \frac{3}{2} ≡ 1\frac12 ≡ 1 \frac{1}{2} ≡ 1 1/2 ≡ 1\dfrac{1}{2} ≡ 1+\frac12
≡ 1\,\frac{1}{2} ≢ \frac{1}{2} ≢ \frac{11}{2} ≢ 1-\frac12 ≢ 2 ≢ 1\frac{1}{3} ≢ 1\cdot\frac{1}{2}
7\frac{3}{8} ≡ \frac{59}{8} ≡ 7.375 ≢ \frac{21}{8} ≢ \frac{73}{8} ≢ 7\frac{5}{8} ≢ 8\frac{3}{8}
-3\frac{1}{3} ≡ -\frac{10}{3} ≢ -\frac{8}{3} ≢ \frac{10}{3} ≢ -1

[percent]
35\% ≡ 35% ≡ 0.35 ≡ \frac{7}{20} ≡ 35 ≡ 35 percent ≡ 35\text{ percent} ≡ 35 \% ≢ 3.5\% ≢ 350\% ≢ 53\% ≢ 0.035
≢ 36
12.5\% ≡ \frac18 ≡ 0.125 ≡ 12.5 ≡ 12\frac{1}{2}\% ≢ 1.25 ≢ 125 ≢ 12\%
0.5\% ≡ 0.005 ≡ \frac{1}{200} ≡ \frac12\% ≢ 0.05 ≢ 50\%
0.25 ≡ 25\% ≢ 25 ≢ 2.5 ≢ 0.25x ≢ 52\%
1 ≢ 100 ≢ 0.01

[currency]
48 ≡ \$48 ≡ $48 ≡ 48\text{ dollars} ≡ €48 ≡ 48 dollars ≡ \$48.00 ≢ \$84 ≢ \$4.8 ≢ \$48.50 ≢ \$480 ≢ \$
\$3.40 ≡ 3.4 ≡ 3.40 ≡ \$3.4 ≡ \text{\$}3.40 ≢ 3.04 ≢ 4.30 ≢ 34
-\$5 ≡ -5 ≡ \$-5 ≢ 5 ≢ \$5

[units]
10 ≡ 10\text{ cm} ≡ 10\,\text{cm} ≡ 10\ \mathrm{cm} ≡ 10 cm ≡ 10\mbox{ cm} ≡ 10\text{ square inches}
≡ 10 miles ≡ 10\text{ cm}^2 ≡ 10\text{ cm}^{2} ≡ 10\,\mathrm{m/s} ≡ 10\text{ units} ≢ 100\text{ cm}
≢ 1\text{ cm} ≢ \text{cm} ≢ 10.5\text{ cm}
5\text{ hours} ≡ 5 ≡ 5\text{ hours} ≡ 5 hours ≢ 6\text{ hours} ≢ \text{hours} ≢ 50
24\pi\text{ cm}^3 ≡ 24\pi ≡ 24\pi \text{ cubic centimeters} ≡ 24 \pi ≢ 24 ≢ 24\text{ cm}^3 ≢ 42\pi ≢ 24\pi^3
6\sqrt{3}\text{ square units} ≡ 6\sqrt3 ≡ 6\sqrt{3} ≢ 6 ≢ 3\sqrt{6}
2\frac{1}{2}\text{ miles} ≡ 2.5 ≡ \frac52\text{ miles} ≢ 2\frac13\text{ miles} ≢ 1
3x ≢ 3 ≢ x ≢ 3y ≢ 3x^2 ≡ x\cdot 3
1.5\text{ cm} ≢ 15\text{ cm} ≢ 1.5x ≡ 1.5 ≡ \frac32\text{ cm}

[degrees]
60^\circ ≡ 60 ≡ 60^{\circ} ≡ 60° ≡ 60\text{ degrees} ≡ 60 degrees ≡ 60\degree ≡ 60 ^ \circ ≢ 6^\circ
≢ 61^\circ ≢ 600 ≢ -60^\circ
22.5^\circ ≡ 22.5 ≡ \frac{45}{2}^\circ ≢ 225 ≢ 25.2^\circ
\angle ABC = 74^\circ ≡ 74 ≡ 74^\circ ≢ 47^\circ
"""
