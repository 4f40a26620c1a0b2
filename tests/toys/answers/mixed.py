"""Labelled pairs of mixed kinds; `pairs.py` says how to read the table."""

MIXED = r"""
[mixed]
-\frac{1}{2} ≡ -{1 \over 2} ≡ {-1 \over 2} ≡ \frac{-1}{2} ≡ -1/2 ≡ -.5 ≡ -0.5 ≡ \frac{1}{-2} ≡ -2^{-1} ≢ 1/2
≢ -2
3\sqrt[3]{4} ≡ 3\cdot\sqrt[3]{4} ≡ \sqrt[3]{108} ≡ 3\cdot 4^{1/3} ≡ 3*4^(1/3) ≡ 3\cdot2^{2/3} ≢ 3\sqrt{4}
≢ \sqrt[3]{12}
\frac{1+\sqrt{3}}{2} ≡ \frac{1}{2}+\frac{\sqrt{3}}{2} ≡ (1+sqrt(3))/2 ≡ \frac{\sqrt{3}+1}{2} ≡ 0.5+0.5\sqrt3
≢ 1+\frac{\sqrt3}{2} ≢ \frac{1-\sqrt3}{2} ≢ 1+sqrt(3)/2
\sqrt{13}-2 ≡ -2+\sqrt{13} ≢ 2-\sqrt{13} ≢ \sqrt{11} ≡ \sqrt{13} - 2
2\sqrt{2}+2\sqrt{3} ≡ 2(\sqrt{2}+\sqrt{3}) ≡ \sqrt{8}+\sqrt{12} ≢ 4\sqrt{6} ≢ 2\sqrt{5}
\frac{\sqrt[3]{4}}{2} ≡ \frac{1}{\sqrt[3]{2}} ≡ 2^{-1/3} ≢ \frac{\sqrt{4}}{2}
\sqrt{2+\sqrt{3}} ≡ \frac{\sqrt{6}+\sqrt{2}}{2} ≢ \sqrt{2}+\sqrt[4]{3}
12! ≡ 479001600 ≡ 479,001,600 ≢ 11!
\frac{7!}{2!2!} ≡ 1260 ≢ 2520
\binom{10}{3} ≡ 120 ≡ {10\choose 3} ≡ C(10,3) ≡ \binom{10}{7} ≢ 720
{}_5C_2 ≟ 10
10\cdot 9\cdot 8 ≡ 720 ≡ \frac{10!}{7!} ≡ 10 \times 9 \times 8
2^{10}-1 ≡ 1023 ≢ 1024 ≢ 2^9
1+2+3+4 ≡ 10 ≢ 1234
1/2+1/3 ≡ 5/6 ≡ \frac{5}{6} ≢ 2/5
(1/2)(1/3) ≡ 1/6
3\times 10^8 ≡ 300000000 ≡ 300,000,000 ≡ 3*10^8 ≡ 3.0 \times 10^{8} ≡ 3e8 ≡ 3E8 ≢ 3^8 ≢ 3\times 8
0.00012 ≡ 1.2\times10^{-4} ≡ 1.2e-4 ≢ 1.2e4
1,2,3,4 ≡ 1, 2, 3, 4 ≡ 1,2,3\text{ and }4 ≡ 1, 2, 3, and 4 ≢ 1234 ≢ 1,2,3
1,000 ≡ 1000 ≢ 1,0 ≢ 1, 000, 5
(1,000) ≟ 1000
1,234,5 ≢ 12345
12,345,678.90 ≡ 12345678.9
x=1,\quad y=2 ≡ x=1,y=2 ≡ y=2, x=1
x=1;\ y=2 ≡ x=1,y=2
(x-3)(x+3) ≡ x^2-9 ≡ (x+3)(x-3) ≡ -(3-x)(3+x)
\frac{x}{x^2-1} ≡ \frac{x}{(x-1)(x+1)} ≢ \frac{1}{x-1}
x^2-y^2 ≡ (x-y)(x+y) ≢ (x-y)^2
\frac{a^2}{b} ≢ \frac{a}{b^2} ≢ (a/b)^2
\frac{1}{a}+\frac{1}{b} ≡ \frac{a+b}{ab} ≢ \frac{1}{a+b} ≢ \frac{2}{a+b}
a^{m+n} ≡ a^m a^n ≢ a^{mn}
e^{x+y} ≡ e^x e^y ≡ e^x\cdot e^y
2^{x}\cdot 3^{x} ≡ 6^x
(2x)^3 ≡ 8x^3 ≢ 2x^3
\frac{d}{2} ≡ d/2 ≡ 0.5d
\frac{dy}{dx} ≢ \frac{y}{x+1}
\pi r^2 ≡ \pi\cdot r^{2} ≡ r^2\pi ≢ \pi r ≢ (\pi r)^2 ≢ 2\pi r
\frac{4}{3}\pi r^3 ≡ \frac{4\pi r^3}{3} ≢ \frac{3}{4}\pi r^3
\frac{-x+1}{2} ≡ \frac{1-x}{2} ≡ -\frac{x-1}{2} ≢ \frac{x-1}{2}
2-\sqrt{3} ≡ \frac{1}{2+\sqrt{3}} ≡ \tan 15^\circ
\frac{\sqrt{2}}{2} ≡ \cos 45^\circ ≡ \sin\frac{\pi}{4}
\frac{\pi}{6} ≟ 30^\circ
\frac{5\pi}{6} ≡ \frac{5}{6}\pi ≡ 5\pi/6 ≡ \pi\cdot\frac{5}{6} ≢ \frac{\pi}{6}
45^\circ ≡ 45 ≡ 45\,^\circ ≡ 45^\circ. ≡ \angle A=45^\circ ≡ \theta = 45^\circ ≢ 45\pi
30^\circ, 60^\circ ≡ 30,60 ≡ 30^\circ \text{ and } 60^\circ ≢ 30
x = 2\pi k ≢ x=\pi k
-1,0,1 ≡ \{-1,0,1\} ≢ 1,0 ≢ -1,1
\{-1,0,1\} ≡ 0,1,-1 ≡ \{0,\pm 1\} ≡ 0,\pm 1 ≢ \pm 1
\pm\sqrt{2},\pm\sqrt{3} ≡ \pm \sqrt3, \pm \sqrt2 ≡ \sqrt2,-\sqrt2,\sqrt3,-\sqrt3 ≢ \pm\sqrt{2}
1\pm\sqrt{2} ≡ 1+\sqrt{2},1-\sqrt{2} ≡ 1+\sqrt{2}\text{ or }1-\sqrt2 ≢ -1\pm\sqrt{2}
2,-3 ≟ -3,2
(-3,2] ≡ -3<x\le2 ≡ (-3, 2] ≢ (-3,2) ≢ [-3,2] ≢ [-3,2) ≢ (2,-3] ≢ (-2,3]
(-\infty,0)\cup(0,\infty) ≡ (-\infty,0) \cup (0,+\infty) ≡ \mathbb{R}\setminus\{0\} ≢ (-\infty,\infty)
(-\infty,-1]\cup[1,\infty) ≡ x\le -1\text{ or }x\ge 1 ≢ [-1,1]
(-5,-2)\cup(0,3) ≢ (-5,-2)\cup(0,3] ≢ (-5,3) ≢ (-5,-2),(0,4)
[4,\infty) ≡ [4,+\infty) ≡ [ 4, \infty ) ≢ (4,\infty) ≢ [4,\infty] ≢ [-4,\infty)
y\in[0,5] ≡ [0,5] ≡ 0\le y\le 5
\left\{\frac{1}{2},2\right\} ≡ \{2,0.5\} ≡ \left\{ 2, \frac12 \right\} ≢ \{2\}
\left(-\infty,\tfrac{1}{2}\right) ≡ (-\infty,1/2) ≡ (-\infty,0.5)
1001_2 ≡ 1001_{2} ≡ 1001_{\text{two}} ≢ 1001_{\text{three}} ≢ 1011_2
DEF_{16} ≢ DEE_{16} ≡ \text{DEF}_{16}
\text{DEF}_{16} ≢ \text{FED}_{16}
0.\overline{142857} ≡ \frac17 ≡ 1/7
\frac{2}{3} ≡ 0.\overline{6} ≡ 0.\bar{6} ≡ 0.666666666666667 ≢ 0.6
\frac{1}{3}\approx 0.333 ≡ \frac13
\frac{\sqrt{10}}{10} ≡ \frac{1}{\sqrt{10}} ≡ 10^{-1/2} ≡ \sqrt{0.1}
-\sqrt{3} ≡ -1\cdot\sqrt{3} ≢ \sqrt{-3} ≢ \sqrt{3}
\frac{3\sqrt{3}}{4} ≡ \frac{3}{4}\sqrt{3} ≡ 0.75\sqrt{3} ≡ 3\sqrt{3}/4 ≡ 3sqrt3/4 ≢ \frac{3\sqrt{3}}{2}
6-2\sqrt{2} ≡ 2(3-\sqrt2) ≢ 2\sqrt{2}-6
\text{(D)} ≡ (D) ≡ \textbf{D} ≡ $\textbf{(D)}$ ≡ D. ≢ (B)
\text{Andy} ≡ Andy ≢ Brandy
\text{ellipse} ≢ \text{an eclipse}
\text{quadrant II} ≢ \text{quadrant III} ≢ \text{quadrant IV}
\text{Wednesday} ≡ wednesday
\text{10 cm} ≡ 10 ≡ 10\text{cm}
\text{4 hours} ≡ 4 ≢ 5
\text{1 and 2} ≡ 1,2 ≢ 1
\text{-3} ≡ -3 ≢ 3
\text{3/4} ≡ \frac34
\text{$5$} ≡ 5
16\text{ cm}^{2} ≡ 16 \text{cm}^2 ≡ 16 cm² ≡ 16\ cm^2 ≡ 16cm^2 ≢ 16^2
60\text{ miles per hour} ≡ 60\text{ mph} ≡ 60
5\frac{1}{4}\text{ inches} ≡ 5.25 ≡ \frac{21}{4}
\$12,000 ≡ 12000 ≡ \$12{,}000 ≢ 12
\$0.75 ≡ 0.75 ≡ .75 ≢ 75
10\% ≡ 10 ≡ 0.1 ≡ \frac{1}{10} ≡ 10\,\% ≡ 10\text{\%} ≢ 0.01
33\frac{1}{3}\% ≡ \frac13 ≡ 33\frac13 ≡ 33.\overline{3}\% ≢ 33\%
(2,3)\text{ and }(-1,4) ≡ (-1,4), (2,3) ≡ (2,3),(-1,4)
y = 2x ≢ y=x^2 ≡ 2x ≡ 2x - y = 0
f^{-1}(x) = \frac{x-1}{2} ≡ \frac{x-1}{2} ≢ 2x+1
P(x)=x^2-1 ≡ x^2-1 ≡ P(x) = (x-1)(x+1)
g(t)=3t ≡ 3t ≢ 3
a_n=2n-1 ≡ 2n-1 ≢ 2n+1
x^2+y^2+z^2=1 ≢ x^2+y^2=1
ax+by=c ≢ ax-by=c ≡ ax+by-c=0
3x-4y+5=0 ≡ -3x+4y-5=0 ≡ 6x-8y+10=0 ≡ 3x-4y=-5 ≢ 3x+4y+5=0 ≢ 3x-4y+5
x=\frac{\pi}{4}+k\pi ≢ x=\frac{\pi}{4}
x>0,y>0 ≢ x>0 ≟ y>0,x>0
n\equiv 3\pmod{7} ≢ n\equiv 4\pmod{7} ≡ n \equiv 3 \pmod 7 ≢ n\equiv 3\pmod{5} ≢ 3
3\pmod{7} ≟ 3
\sum_{k=1}^{n} k ≡ \frac{n(n+1)}{2}
\prod_{k=1}^{5} k ≡ 120
\sum_{k=0}^{\infty}\frac{1}{2^k} ≟ 2
\int_0^1 x\,dx ≟ \frac12
\lim_{x\to 0}\frac{\sin x}{x} ≟ 1
\overline{AB} ≢ \overline{AC}
\triangle ABC ≢ \triangle ABD
\angle A ≢ \angle B
\vec{a}+\vec{b} ≡ \vec{b}+\vec{a} ≢ \vec{a}-\vec{b}
\mathbf{v} ≢ \mathbf{w}
\hat{i}+2\hat{j} ≡ 2\hat{j}+\hat{i} ≢ \hat{j}+2\hat{i}
\|\mathbf{v}\| ≢ \mathbf{v}
A\cup B ≢ A\cap B ≡ B\cup A
\mathbb{Z} ≢ \mathbb{Q} ≢ \mathbb{N}
\text{all real numbers} ≟ \mathbb{R}
p\land q ≢ p\lor q
O(n^2) ≢ O(n)
\ln(x+1)-\ln x ≢ \ln(x+1)
\frac{1}{2}\ln 3 ≡ \ln\sqrt{3} ≡ \frac{\ln 3}{2} ≢ \ln\frac{3}{2}
\log 100 ≟ 2
\max(a,b) ≢ \min(a,b)
\left\lceil\frac{n}{2}\right\rceil ≢ \left\lfloor\frac{n}{2}\right\rfloor
|a-b| ≡ |b-a| ≢ a-b
\sqrt{(x-1)^2} ≡ |x-1|
\gcd(12,18) ≡ 6
\lfloor 3.7\rfloor ≡ 3 ≢ 4
5\bmod 3 ≟ 2
3:2 ≢ 2:3 ≡ 3 : 2 ≡ 3 \colon 2
2:3:4 ≢ 2:3
8:15\text{ a.m.} ≡ 8:15 \text{ AM} ≢ 8:15\text{ p.m.} ≢ 8:51\text{ a.m.}
\frac{9}{16} ≢ \frac{3}{4} ≡ \left(\frac{3}{4}\right)^2 ≡ 0.5625 ≡ 56.25\%
i\sqrt{2} ≡ \sqrt{2}i ≡ \sqrt{2}\,i ≡ \sqrt{-2} ≢ \sqrt{2i} ≢ -i\sqrt2
1+i ≡ \sqrt{2}e^{i\pi/4} ≡ \sqrt2(\cos 45^\circ+i\sin 45^\circ) ≢ 1-i
-3-4i ≡ -(3+4i) ≢ 3-4i
\frac{-1\pm i\sqrt{3}}{2} ≡ \frac{-1+i\sqrt{3}}{2},\frac{-1-i\sqrt{3}}{2} ≡ -\frac12\pm\frac{\sqrt3}{2}i
"""
