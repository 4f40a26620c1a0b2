"""Labelled pairs of all kinds; `pairs.py` says how to read the tables."""

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
\binom{10}{3} ≡ 120 ≡ {10\choose 3} ≡ \binom{10}{7} ≢ 720
10\cdot 9\cdot 8 ≡ 720 ≡ \frac{10!}{7!} ≡ 10 \times 9 \times 8
2^{10}-1 ≡ 1023 ≢ 1024 ≢ 2^9
1+2+3+4 ≡ 10 ≢ 1234
1/2+1/3 ≡ 5/6 ≡ \frac{5}{6} ≢ 2/5
(1/2)(1/3) ≡ 1/6
3\times 10^8 ≡ 300000000 ≡ 300,000,000 ≡ 3*10^8 ≡ 3.0 \times 10^{8} ≡ 3e8 ≡ 3E8 ≢ 3^8 ≢ 3\times 8
0.00012 ≡ 1.2\times10^{-4} ≡ 1.2e-4 ≢ 1.2e4
1,2,3,4 ≡ 1, 2, 3, 4 ≡ 1,2,3\text{ and }4 ≡ 1, 2, 3, and 4 ≢ 1234 ≢ 1,2,3
1,000 ≡ 1000 ≢ 1,0 ≢ 1, 000, 5
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
\frac{5\pi}{6} ≡ \frac{5}{6}\pi ≡ 5\pi/6 ≡ \pi\cdot\frac{5}{6} ≢ \frac{\pi}{6}
45^\circ ≡ 45 ≡ 45\,^\circ ≡ 45^\circ. ≡ \angle A=45^\circ ≡ \theta = 45^\circ ≢ 45\pi
30^\circ, 60^\circ ≡ 30,60 ≡ 30^\circ \text{ and } 60^\circ ≢ 30
x = 2\pi k ≢ x=\pi k
-1,0,1 ≡ \{-1,0,1\} ≢ 1,0 ≢ -1,1
\{-1,0,1\} ≡ 0,1,-1 ≡ \{0,\pm 1\} ≡ 0,\pm 1 ≢ \pm 1
\pm\sqrt{2},\pm\sqrt{3} ≡ \pm \sqrt3, \pm \sqrt2 ≡ \sqrt2,-\sqrt2,\sqrt3,-\sqrt3 ≢ \pm\sqrt{2}
1\pm\sqrt{2} ≡ 1+\sqrt{2},1-\sqrt{2} ≡ 1+\sqrt{2}\text{ or }1-\sqrt2 ≢ -1\pm\sqrt{2}
(-3,2] ≡ -3<x\le2 ≡ (-3, 2] ≢ (-3,2) ≢ [-3,2] ≢ [-3,2) ≢ (2,-3] ≢ (-2,3]
(-\infty,0)\cup(0,\infty) ≡ (-\infty,0) \cup (0,+\infty) ≡ \mathbb{R}\setminus\{0\} ≢ (-\infty,\infty)
(-\infty,-1]\cup[1,\infty) ≡ x\le -1\text{ or }x\ge 1 ≢ [-1,1]
(-5,-2)\cup(0,3) ≢ (-5,-2)\cup(0,3] ≢ (-5,3) ≢ (-5,-2),(0,4)
[4,\infty) ≡ [4,+\infty) ≡ [ 4, \infty ) ≢ (4,\infty) ≢ [4,\infty] ≢ [-4,\infty)
y\in[0,5] ≡ [0,5] ≡ 0\le y\le 5
\left\{\frac{1}{2},2\right\} ≡ \{2,0.5\} ≡ \left\{ 2, \frac12 \right\} ≢ \{2\}
\left(-\infty,\tfrac{1}{2}\right) ≡ (-\infty,1/2) ≡ (-\infty,0.5)
1001_2 ≡ 1001_{2} ≡ 1001_{\text{two}} ≢ 1001_{\text{three}} ≢ 1011_2
DEF_{16} ≢ DEE_{16}
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
x>0,y>0 ≢ x>0
\overline{AB} ≢ \overline{AC}
\triangle ABC ≢ \triangle ABD
\angle A ≢ \angle B
\vec{a}+\vec{b} ≡ \vec{b}+\vec{a} ≢ \vec{a}-\vec{b}
\mathbf{v} ≢ \mathbf{w}
\hat{i}+2\hat{j} ≡ 2\hat{j}+\hat{i} ≢ \hat{j}+2\hat{i}
\mathbb{Z} ≢ \mathbb{Q} ≢ \mathbb{N}
O(n^2) ≢ O(n)
\ln(x+1)-\ln x ≢ \ln(x+1)
\frac{1}{2}\ln 3 ≡ \ln\sqrt{3} ≡ \frac{\ln 3}{2} ≢ \ln\frac{3}{2}
\left\lceil\frac{n}{2}\right\rceil ≢ \left\lfloor\frac{n}{2}\right\rfloor
|a-b| ≡ |b-a| ≢ a-b
\sqrt{(x-1)^2} ≡ |x-1|
\lfloor 3.7\rfloor ≡ 3 ≢ 4
3:2 ≢ 2:3 ≡ 3 : 2 ≡ 3 \colon 2
2:3:4 ≢ 2:3
8:15\text{ a.m.} ≡ 8:15 \text{ AM} ≢ 8:15\text{ p.m.} ≢ 8:51\text{ a.m.}
\frac{9}{16} ≢ \frac{3}{4} ≡ \left(\frac{3}{4}\right)^2 ≡ 0.5625 ≡ 56.25\%
i\sqrt{2} ≡ \sqrt{2}i ≡ \sqrt{2}\,i ≡ \sqrt{-2} ≢ \sqrt{2i} ≢ -i\sqrt2
1+i ≡ \sqrt{2}e^{i\pi/4} ≡ \sqrt2(\cos 45^\circ+i\sin 45^\circ) ≢ 1-i
-3-4i ≡ -(3+4i) ≢ 3-4i
\frac{-1\pm i\sqrt{3}}{2} ≡ \frac{-1+i\sqrt{3}}{2},\frac{-1-i\sqrt{3}}{2} ≡ -\frac12\pm\frac{\sqrt3}{2}i
"""

FURTHER = r"""
[numbers]
\frac{7}{4} ≡ \frac74\text{ or }1.75 ≡ 1\frac34 or 7/4 ≢ \frac74\text{ or }1.57 ≢ \frac74 and 1.75
≢ \frac74 or ≢ or \frac74
1{,}000{,}000 ≡ 10^6 ≡ 1,000,000 ≡ 1000000 ≢ 1{,}000 ≢ 1,000,00
\frac{1}{2} ≡ 0.5 ≡ 50\% ≡ .5 ≡ 1/2 ≡ \frac{1.0}{2} ≡ \frac{0.5}{1} ≡ 2^{-1} ≢ 5 ≢ 2 ≢ 0.05
3.14159 ≢ \pi+1 ≢ 3.24159
-\frac{3}{2} ≡ - \frac{3}{2} ≡ -1.5 ≡ -1\frac{1}{2} ≡ \frac{-3}{2} ≡ \frac{3}{-2} ≡ -(3/2) ≢ 1.5
≢ -\frac{2}{3}
10^{-2} ≡ 0.01 ≡ 1\% ≡ \frac{1}{100} ≢ 10^2 ≢ -10^2
2^{3^2} ≡ 512 ≡ 2^9 ≢ 64 ≢ (2^3)^2
-2^2 ≡ -4 ≢ 4 ≢ (-2)^2
8^{1/3} ≡ 2 ≡ \sqrt[3]{8}
(-8)^{1/3} ≡ -2 ≡ \sqrt[3]{-8}
\frac{\frac{1}{2}}{\frac{3}{4}} ≡ \frac23 ≢ \frac{3}{8} ≢ \frac32
\sqrt{3}\times\sqrt{12} ≡ 6 ≢ 36
\frac{2}{\sqrt{2}} ≡ \sqrt{2}
\frac{3}{2+\sqrt3} ≡ 6-3\sqrt3 ≢ 6+3\sqrt{3}
0.999 ≢ 1
1 ≡ \phantom{-}1 ≡ \phantom -1 ≡ \hphantom{2}1 ≡ 1\phantom{.5} ≢ -1 ≢ \phantom{-}2
0.\overline{9} ≡ 1
0.\dot{3} ≡ \frac13
1.\overline{3} ≡ 4/3
0.12\overline{3} ≡ \frac{37}{300}
3,14 ≢ 314
12\frac{3}{4}\text{ feet} ≡ 12.75 ≡ 12.75\text{ ft} ≡ \frac{51}{4}

[currency]
\$1.50 ≡ 1.5 ≡ \frac{3}{2} ≡ \$ 1.50 ≡ 1.50 \text{ dollars} ≢ 150 ≢ 15
75\text{ cents} ≡ 75 ≡ 75 cents ≡ 75¢ ≢ 7.5
£3 ≡ 3 ≡ \pounds 3 ≢ 4
500\text{ rupees} ≡ 500

[units]
9.8\text{ m/s}^2 ≡ 9.8 ≡ 9.8\,\mathrm{m}/\mathrm{s}^2 ≡ 9.8 m/s^2 ≡ 9.8\ \text{m s}^{-2} ≢ 98 ≢ 8.9
15\text{ mph} ≡ 15 ≡ 15 mph ≡ 15\text{ miles per hour} ≢ 51
3\text{ hours} ≢ 2\text{ hours} ≡ 3\text{ hr}
100^\circ\text{C} ≡ 100 ≡ 100^\circ C ≡ 100°C ≢ 10
7\pi\text{ square feet} ≡ 7\pi ≡ 7\pi\ \text{ft}^2 ≢ 7
\frac{5}{9}\text{ of the pizza} ≡ \frac59
8\text{ ways} ≡ 8 ≡ 8 ways
3\text{rd} ≡ 3
6\text{ (inches)} ≡ 6
\approx 3.5 ≡ 3.5

[trig]
\sin 75^\circ ≡ \frac{\sqrt6+\sqrt2}{4} ≢ \frac{\sqrt6-\sqrt2}{4}
\cos 2x ≡ 1-2\sin^2 x ≡ \cos^2 x-\sin^2 x ≡ 2\cos^2x-1 ≢ 1-\sin^2 x ≢ 2\cos x
\sin(a+b) ≡ \sin a\cos b+\cos a\sin b ≢ \sin a+\sin b ≢ \sin a \cos b - \cos a\sin b
\tan\frac{\pi}{4} ≡ 1 ≢ -1
\csc x ≡ \frac{1}{\sin x} ≢ \frac1{\cos x}
\arccos 0 ≡ \frac{\pi}{2}
\sin^{-1} x ≡ \arcsin x ≢ \frac{1}{\sin x}
2\sin\frac{x}{2}\cos\frac{x}{2} ≡ \sin x
\sin x\cos y ≡ \cos y\sin x ≢ \sin y\cos x
\cos^3 x ≡ (\cos x)^3 ≡ \cos^{3}{x} ≢ \cos x^3
\sinh x ≡ \frac{e^x-e^{-x}}{2} ≢ \cosh x

[logarithms]
\log_2 3\cdot\log_3 4 ≡ 2
\log_{10} 5 + \log_{10} 2 ≡ 1
\frac{\ln 2}{\ln 3} ≡ \log_3 2 ≡ \log_9 4
e^{2\ln 3} ≡ 9
\ln\sqrt{e} ≡ \frac12
\log_{\sqrt{2}} 4 ≡ 4
2^{\log_2 7} ≡ 7

[complex]
(3-2i)(1+i) ≡ 5+i ≢ 5-i
\frac{1}{2}-\frac{i}{2} ≡ \frac{1-i}{2} ≡ \frac{1}{1+i} ≢ \frac{1+i}{2}
i^{2023} ≡ -i
2e^{i\pi/6} ≡ \sqrt3+i
-2\pm i ≡ -2+i,-2-i ≢ -2+i
\pm i\sqrt{2} ≡ \pm\sqrt{2}i ≡ \pm \sqrt{-2} ≢ \pm\sqrt2
a+bi ≡ bi+a ≢ a-bi

[polynomials]
(a-b)^3 ≡ a^3-3a^2b+3ab^2-b^3 ≢ a^3-b^3
x^3-8 ≡ (x-2)(x^2+2x+4) ≢ (x-2)^3
\frac{1}{(x+1)(x+2)} ≡ \frac{1}{x+1}-\frac{1}{x+2}
2x^2-3x+1 ≡ (2x-1)(x-1) ≡ (1-2x)(1-x) ≢ (2x+1)(x-1)
\frac{2x+6}{2} ≡ x+3 ≢ 2x+3 ≢ x+6
x^{-2} ≡ \frac{1}{x^2} ≢ -x^2
\sqrt{4x^2} ≢ 2x
4^x ≡ 2^{2x} ≡ (2^x)^2 ≢ 2^{x^2}
(n+1)! ≡ (n+1)n! ≢ n!+1
\binom{n}{2} ≡ \frac{n(n-1)}{2} ≢ \frac{n(n+1)}{2}
\frac{n(n+1)(2n+1)}{6} ≢ \frac{n^2(n+1)^2}{4}
a_n ≢ a_{n+1} ≢ a
x' ≢ x
f(x+1) ≢ f(x)+1
f'(x) ≢ f(x)
mx+b ≡ b+mx
\alpha\beta ≡ \beta\alpha
2^{n}-1 ≢ 2^{n-1} ≡ -1+2^n
5x+3y-2z ≡ 3y+5x-2z ≡ -2z+3y+5x
abc ≡ cab ≢ abd
\frac{ab}{c} ≡ ab/c ≡ a\frac{b}{c} ≢ \frac{a}{bc}
1-p ≢ p-1
x|x| ≢ x^2
V=\pi r^2 h ≡ \pi r^2 h ≡ V = h\pi r^2 ≢ \pi r h^2
A=\frac{1}{2}bh ≡ \frac{bh}{2}

[equations]
y=-\frac{1}{2}x+\frac{3}{4} ≡ 2x+4y-3=0 ≡ 4y=3-2x ≢ 2x+4y+3=0
y=x^2 ≢ x=y^2 ≢ y=-x^2
(x-1)^2+y^2=4 ≡ x^2+y^2-2x-3=0
\frac{x}{2}+\frac{y}{3}=1 ≡ 3x+2y=6
x=y ≡ y=x ≡ x-y=0 ≢ x=-y
y-3=2(x-1) ≡ y=2x+1
r=2\cos\theta ≡ r = 2 \cos θ ≢ r=2\sin\theta
x=1\text{ or }x=2 ≡ x=1,2 ≡ 1,2 ≡ x = 1, x = 2 ≡ \{1,2\} ≢ x=1
x=2, y=3, z=4 ≡ (x,y,z)=(2,3,4) ≢ (x,y,z)=(2,4,3)
x = \frac{-b \pm \sqrt{b^2-4ac}}{2a} ≡ \frac{-b\pm\sqrt{b^2-4ac}}{2a} ≢ \frac{b\pm\sqrt{b^2-4ac}}{2a}
xy=1 ≡ yx=1 ≢ xy=-1
y = 3 ≡ 3 ≢ -3
S_n = n^2 ≡ n^2 ≢ n
\lambda = 2 ≡ 2

[inequalities]
x\ge 3 ≡ 3\le x ≡ [3,\infty) ≡ x \in [3, \infty) ≡ x\geqslant 3 ≡ x≥3 ≢ x>3 ≢ (3,\infty)
-3<x<3 ≡ (-3,3) ≢ |x|\le 3
x<-2\text{ or }x>2 ≡ (-\infty,-2)\cup(2,\infty) ≡ x>2\text{ or }x<-2 ≢ -2<x<2 ≢ x<-2
x\le 1\text{ or }x\ge 4 ≡ (-\infty,1]\cup[4,\infty) ≢ (-\infty,1)\cup(4,\infty) ≢ 1\le x\le 4
1\le x\le 5 ≡ x\ge 1\text{ and }x\le 5 ≡ [1,5]
k>\frac{1}{4} ≡ k > 0.25 ≡ \frac14<k ≢ k<\frac14
a<b<c ≡ c>b>a ≢ a<c<b
n\ge 2 ≢ n>2
0<x ≡ x>0 ≡ (0,\infty) ≢ x<0
2x+3>7 ≡ x>2

[sets]
(-\infty,3)\cup(3,\infty) ≡ \mathbb{R}\setminus\{3\} ≢ \mathbb{R}
\{0\}\cup[1,2] ≡ [1,2]\cup\{0\} ≢ [0,2]
\{2,4,6,8\} ≡ \{8,6,4,2\} ≡ 2,4,6,8 ≢ \{2,4,6\}
\{a,b\} ≡ \{b,a\} ≢ \{a,c\}
[2,3]\cup[3,4] ≡ [2,4]
(0,1)\cup(1,2) ≢ (0,2)
[0,5]\cap[3,8] ≡ [3,5]
\emptyset ≡ \text{empty set}
[-\pi,\pi] ≢ (-\pi,\pi) ≡ [-π,π]
\left[0,\frac{\pi}{2}\right) ≡ [0,\pi/2)

[tuples]
\left(\frac12,\frac13\right) ≡ (1/2,1/3) ≡ (0.5,\frac{1}{3}) ≢ (1/3,1/2)
(a,b) ≢ (b,a)
(1,-1,2) ≡ (1, -1, 2) ≢ (1,1,2) ≢ (-1,1,2)
\langle 1,2\rangle ≡ \langle 1, 2 \rangle ≢ \langle 2,1\rangle
(2,\pi) ≢ (2,2\pi) ≢ (\pi,2)
(x,y)=(3,-1) ≡ x=3,y=-1 ≡ (3,-1) ≡ x=3\text{ and }y=-1 ≢ x=-1,y=3
A=(1,2) ≡ (1,2)
(3,4)\text{ and }(4,3) ≡ (4,3),(3,4)
(1,2),(2,1) ≢ (1,2) ≢ (1,2),(1,2)

[text]
\text{no} ≡ No ≢ \text{yes}
\text{Friday} ≡ friday ≢ \text{Saturday}
\text{Navin} ≢ \text{Ivan}
\text{parallel} ≢ \text{perpendicular}
\text{A and B} ≢ \text{A} ≢ \text{B and C}
\text{neither} ≢ \text{either}
\text{red, blue} ≢ \text{red}
\text{isosceles triangle} ≢ \text{equilateral triangle}
\text{II} ≢ \text{III}
\text{True} ≡ True ≢ False
\text{(A) and (C)} ≢ \text{(A)}
\text{Team 3} ≢ \text{Team 4}
\text{Alice}, \text{Bob} ≢ \text{Alice}
\text{3:30 PM} ≡ 3:30\text{ PM} ≢ 3:30\text{ AM} ≢ 4:30\text{ PM}
\text{June 5} ≢ \text{June 6}

[multiple choice]
(E) ≡ E ≡ \boxed{E} ≢ D
\text{B.} ≡ B ≢ C
\textbf{(A) } 5 ≢ \textbf{(B) } 5

[matrices]
\begin{pmatrix}1\\2\\3\end{pmatrix} ≢ \begin{pmatrix}1&2&3\end{pmatrix} ≢ \begin{pmatrix}1\\3\\2\end{pmatrix}
≡ \begin{bmatrix}1\\2\\3\end{bmatrix} ≡ \begin{pmatrix}1\\ 2\\ 3\\ \end{pmatrix}
\begin{pmatrix}a&b\\c&d\end{pmatrix} ≢ \begin{pmatrix}d&b\\c&a\end{pmatrix}
\frac{1}{2}\begin{pmatrix}2&4\\6&8\end{pmatrix} ≡ \begin{pmatrix}1&2\\3&4\end{pmatrix}
-\begin{pmatrix}1\\2\end{pmatrix} ≡ \begin{pmatrix}-1\\-2\end{pmatrix}
\begin{pmatrix}1&0\\0&1\end{pmatrix} ≢ \begin{pmatrix}0&1\\1&0\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}\begin{pmatrix}1\\1\end{pmatrix} ≡ \begin{pmatrix}3\\7\end{pmatrix}

[latex wrappers]
\frac{3}{4} ≡ \frac{3}{4}\, ≡ \,\frac{3}{4} ≡ \frac{3}{4}$ ≡ \( \frac{3}{4} \) ≡ \left. \frac{3}{4} \right.
≡ \frac{\text{3}}{\text{4}} ≡ \tfrac 3 4 ≡ \frac{{3}}{{4}}
x^2 ≡ x^{2} ≡ {x}^{2} ≡ {x^2} ≡ x^{{2}} ≡ x\cdot x ≡ x*x ≡ x^{ 2 } ≡ (x)^2 ≡ x\times x
\sqrt{2} ≡ \sqrt{ 2 } ≡ \sqrt{{2}} ≡ {\sqrt{2}} ≡ \sqrt[2]{2} ≡ 2^{0.5} ≡ 2^{\frac{1}{2}} ≡ 2^(1/2) ≡ sqrt2
≡ √ 2 ≡ sqrt{2}
2\pi ≡ 2\times\pi ≡ 2 \cdot \pi ≡ 2{\pi} ≡ {2\pi} ≡ 2 pi ≡ 2pi ≡ 2\,\pi
\log_2 x ≡ \log_{2} x ≡ \log_2(x) ≡ \log_{2}{(x)} ≡ \frac{\ln x}{\ln 2}
n^2+n ≡ n**2+n ≡ n^2 + n ≡ n(n+1) ≡ n*(n+1)
\frac{a+b}{2} ≡ (a+b)/2 ≡ \frac{1}{2}(a+b) ≡ 0.5(a+b) ≢ a+b/2 ≢ a+\frac{b}{2}
5 ≡ \left(5\right) ≡ \mathbf{ 5 } ≡ \bm{5} ≡ \textit{5} ≡ \underline{5} ≡ \color{red}5 ≡ \textcolor{red}{5}
≡ \tiny 5 ≡ "5" ≡ `5` ≡ *5* ≡ 5~ ≡ 5\quad
-7 ≡ {-7} ≡ (-7) ≡ $-7$ ≡ - 7 ≡ {-}7 ≡ \text{-}7 ≡ −7.0
10 ≢ 1, 0
x\in\mathbb{R} ≡ \mathbb{R} ≡ (-\infty,\infty)
\text{undefined} ≢ 0 ≢ \text{defined}
\text{DNE} ≢ 0
3! ≡ 6 ≢ 3
4\sqrt{3}\approx 6.93 ≡ 4\sqrt3 ≢ 6
2^{\circ} ≡ 2
\boxed{12} ≡ 12
x=12. ≡ 12
12\ \text{and}\ 13 ≡ 12,13 ≢ 12
1:2 ≡ 1 : 2 ≢ 2:1
"""
