"""Labelled pairs of answers; `labelled.py` says how to read the tables."""

NUMBERS = r"""
[integers]
7 ≡ 7.0 ≡ +7 ≡ 7. ≡ 7.000 ≡ \frac{7}{1} ≡ 14/2 ≡ (7) ≢ 8 ≢ -7 ≢ 70 ≢ 77 ≢ 0.7 ≢ 7! ≢ 7i ≢ 7x ≢ 1/7 ≢ 6.9
-12 ≡ −12 ≡ –12 ≡ - 12 ≡ -12.00 ≡ -(12) ≢ 12 ≢ -1.2 ≢ -21 ≢ -120 ≢ 1-2
0 ≡ -0 ≡ 5-5 ≡ 0/3 ≢ 0.0000003 ≢ 10^{-9} ≢ 1 ≢ \emptyset ≢ \frac{0}{0} ≢ \infty ≡ 0.0
100 ≡ 10^2 ≡ 10^{2} ≡ 99+1 ≡ 4\cdot 25 ≡ 4 \times 25 ≡ 4*25 ≢ 1 ≢ 10 ≢ 10^1 ≢ 1000 ≢ 10_2 ≢ 0.01 ≢ 1,00
15 ≢ 1,5 ≢ 1 5 ≢ 1.5 ≢ 51 ≢ 15, 16 ≢ (1,5) ≢ 1:5 ≢ 1/5
[thousands]
1234567 ≡ 1,234,567 ≡ 1{,}234{,}567 ≡ 1\,234\,567 ≡ 1,\!234,\!567 ≢ 1,234,576 ≢ 123,456
1,234,567 ≡ 1234567 ≡ 1234567.0 ≢ 1,234,568 ≢ 1.234567
4096 ≡ 2^{12} ≢ 4,906 ≢ 409,6 ≢ 40,96 ≢ (4,096) ≢ 4 ≢ 96 ≡ 4,096 ≡ 4{,}096
25000 ≡ \$25,000 ≡ 25 \times 10^3 ≢ 25,00 ≢ 25 ≢ 2500 ≡ 25,000 ≡ 25,\!000
10,000.50 ≡ 10000\frac12 ≢ 10,000.05 ≢ 10000 ≡ 10000.5
[big integers]
123456789012345678901234567890 ≡ 123,456,789,012,345,678,901,234,567,890 ≢ 123456789012345678901234567891
≢ 123456789012345678901234567880 ≢ -123456789012345678901234567890
2^{100} ≡ 1267650600228229401496703205376 ≡ 4^{50} ≢ 2^{101} ≢ 1267650600228229401496703205377 ≢ 2^{100}+1
≢ 2\cdot 100 ≢ 2^{10}0 ≢ 100^2 ≡ 2^{99}\cdot 2
3^{2025} ≡ 9^{2025/2} ≢ 3^{2024} ≢ 3^{2025}+1 ≢ 2025^3 ≡ 3 \cdot 3^{2024}
[decimals]
0.4 ≡ .4 ≡ 0.400 ≡ 2/5 ≡ \frac{2}{5} ≡ 40\% ≢ 0.04 ≢ 4 ≢ 0.44 ≢ 0.41 ≢ -.4
3.25 ≡ 3\frac{1}{4} ≢ 3.52 ≢ 32.5 ≢ 3.2 ≢ 3.24 ≡ 13/4 ≡ 3.250 ≡ 325/100
0.125 ≡ \frac18 ≢ 0.0125 ≢ 0.12 ≢ 1/7 ≡ 2^{-3} ≡ 1/8
-0.75 ≡ -\frac34 ≢ 0.75 ≢ -\frac43 ≢ -0.57 ≡ -3/4 ≡ \frac{-3}{4}
0.\overline{3} ≡ \frac{1}{3} ≡ 1/3 ≢ 0.3 ≢ \frac{3}{10} ≢ 0.\overline{6} ≢ 3
0.1\overline{6} ≡ \frac16 ≢ 0.16 ≢ 0.\overline{16} ≢ 0.1\overline{7}
\frac{1}{3} ≡ 0.3333333333 ≡ 0.33333333333333333 ≢ 0.34 ≢ 0.3 ≢ 3 ≢ 0.4
\frac{22}{7} ≡ 3\frac{1}{7} ≢ \pi ≢ 3.14159 ≢ 3 ≢ \frac{7}{22} ≢ 22
[tiny differences]
0.0000001 ≡ 10^{-7} ≡ \frac{1}{10000000} ≡ 1\times10^{-7} ≢ 0.0000002 ≢ 0 ≢ 10^{-8} ≢ -0.0000001
\frac{1}{2004!} ≢ \frac{1}{2006!} ≢ 0 ≢ \frac{1}{2003!}
1000000 ≡ 10^6 ≢ 1000001 ≢ 999999
\sqrt{10^{20}+1} ≢ 10^{10} ≢ \sqrt{10^{20}}
\sqrt{2} ≡ 1.41421356237309 ≢ \frac{99}{70} ≢ \frac{577}{408} ≢ \frac{665857}{470832}
5 ≢ 5.1 ≢ 5.01 ≢ 4.99 ≢ 4.999
[scientific]
1500 ≡ 1.5\times 10^3 ≡ 1.5 \cdot 10^{3} ≡ 15\times10^2 ≢ 1.5\times 10^2 ≢ 1.5 ≢ 1.5 + 10^3 ≡ 1.5e3 ≡ 1.5*10^3
6.02\times10^{23} ≢ 6.02\times 10^{22} ≢ 6.2\times10^{23} ≡ 602000000000000000000000 ≡ 6.02 \cdot 10^{23}
3\times 10^{-4} ≢ 0.003 ≢ 3\times10^4 ≢ -3\times 10^4 ≡ 0.0003 ≡ 3e-4 ≡ \frac{3}{10000}
[fractions]
\frac{3}{4} ≡ \dfrac{3}{4} ≡ \tfrac{3}{4} ≡ \frac34 ≡ {3 \over 4} ≡ 3 \over 4 ≡ {\frac{3}{4}} ≡ (3)/(4)
≢ \frac{4}{3} ≢ \frac{3}{5} ≢ -\frac{3}{4} ≢ 3,4 ≢ \frac{3}{4}x ≢ \frac{3}{40} ≢ 3 ≢ 4 ≢ (3,4) ≡ \frac 34
-\frac{7}{3} ≢ \frac{-7}{-3} ≢ \frac73 ≢ -\frac37 ≢ 2\frac13 ≡ \frac{-7}{3} ≡ \frac{7}{-3} ≡ -7/3 ≡ -(7/3)
\frac{12}{35} ≢ \frac{1}{235} ≢ \frac{13}{35} ≢ \frac{12}{53} ≢ 1\frac{2}{35} ≢ \frac{1}{2} ≡ 12/35
[mixed numbers]
1\frac{1}{2} ≡ 1.5 ≡ \frac{3}{2} ≡ 1\frac12 ≡ 1 1/2 ≢ \frac{1}{2} ≢ \frac{11}{2} ≢ 1-\frac12 ≢ 2
≢ 1\frac{1}{3} ≢ 1\cdot\frac{1}{2} ≡ 1 \frac{1}{2} ≡ 1\dfrac{1}{2} ≡ 1+\frac12 ≡ 1\,\frac{1}{2}
[percent]
35\% ≡ 35% ≡ 0.35 ≡ \frac{7}{20} ≡ 35 ≡ 35 percent ≡ 35\text{ percent} ≢ 3.5\% ≢ 350\% ≢ 53\% ≢ 0.035 ≢ 36
12.5\% ≡ 12.5 ≢ 1.25 ≢ 125 ≢ 12\% ≡ \frac18 ≡ 0.125 ≡ 12\frac{1}{2}\%
1 ≢ 100 ≢ 0.01
[currency]
48 ≡ \$48 ≡ $48 ≡ 48\text{ dollars} ≡ €48 ≡ 48 dollars ≢ \$84 ≢ \$4.8 ≢ \$48.50 ≢ \$480 ≢ \$ ≡ \$48.00
\$3.40 ≡ \text{\$}3.40 ≢ 3.04 ≢ 4.30 ≢ 34 ≡ 3.4 ≡ 3.40 ≡ \$3.4
[units]
10 ≡ 10\text{ cm} ≡ 10\,\text{cm} ≡ 10\ \mathrm{cm} ≡ 10 cm ≡ 10\text{ square inches} ≡ 10\text{ cm}^2
≡ 10\text{ cm}^{2} ≡ 10\,\mathrm{m/s} ≢ 100\text{ cm} ≢ 1\text{ cm} ≢ \text{cm} ≢ 10.5\text{ cm} ≡ 10 miles
5\text{ hours} ≡ 5 ≡ 5\text{ hours} ≡ 5 hours ≢ 6\text{ hours} ≢ \text{hours} ≢ 50
24\pi\text{ cm}^3 ≡ 24\pi ≡ 24\pi \text{ cubic centimeters} ≡ 24 \pi ≢ 24 ≢ 24\text{ cm}^3 ≢ 42\pi ≢ 24\pi^3
6\sqrt{3}\text{ square units} ≡ 6\sqrt3 ≡ 6\sqrt{3} ≢ 6 ≢ 3\sqrt{6}
3x ≡ x\cdot 3 ≢ 3 ≢ x ≢ 3y ≢ 3x^2
[degrees]
60^\circ ≡ 60 ≡ 60^{\circ} ≡ 60° ≢ 6^\circ ≢ 61^\circ ≢ 600 ≢ -60^\circ ≡ 60\text{ degrees} ≡ 60 degrees
22.5^\circ ≡ 22.5 ≢ 225 ≢ 25.2^\circ ≡ \frac{45}{2}^\circ
\angle ABC = 74^\circ ≡ 74 ≡ 74^\circ ≢ 47^\circ
"""

ALGEBRA = r"""
[radicals]
2\sqrt{3} ≡ 2 \sqrt 3 ≡ 2\sqrt3 ≡ \sqrt{12} ≡ 2*sqrt(3) ≡ 2\cdot 3^{1/2} ≡ \frac{6}{\sqrt{3}} ≢ 3\sqrt{2}
≢ 2\sqrt{2} ≢ \sqrt{6} ≢ 2^{\sqrt{3}} ≢ 2\sqrt{3}x ≢ 2+\sqrt{3} ≢ -2\sqrt{3} ≢ 2\sqrt[3]{3} ≢ 23 ≢ 2\sqrt{33}
\frac{\sqrt{2}}{2} ≡ \frac{1}{\sqrt{2}} ≡ \sqrt{\frac{1}{2}} ≡ sqrt(2)/2 ≢ \frac{\sqrt{2}}{4} ≢ \sqrt{2}
≢ \frac{2}{\sqrt{2}} ≢ \sqrt{\frac{2}{2}} ≡ \sqrt{0.5}
\sqrt{\sqrt{16}} ≡ 2 ≢ 4 ≢ -2
\sqrt{x^2} ≡ |x| ≢ x ≢ -x
x^{3/2} ≡ x\sqrt{x} ≢ x^3/2 ≢ \frac{x^3}{2} ≢ x^{2/3}
[constants]
2\pi ≡ 2 \pi ≡ 2π ≡ 2*pi ≡ \pi\cdot 2 ≡ \pi 2 ≡ \pi+\pi ≢ \pi ≢ \pi^2 ≢ 2 ≢ -2\pi ≢ 2\pi r ≢ 6 ≢ 6.3
\frac{4}{3}\pi ≡ \frac{4\pi}{3} ≡ 4\pi/3 ≡ \pi\frac43 ≢ \frac{3}{4}\pi ≢ \frac{4}{3\pi} ≢ \frac43
≢ \frac{4}{3}+\pi ≡ \frac{4}{3} \cdot \pi
e ≡ e^1 ≡ \mathrm{e} ≢ \pi ≢ \frac1e ≢ e^2 ≢ 2.71 ≢ 1
e^2-1 ≡ -1+e^{2} ≢ e^{2-1} ≢ e^2+1 ≢ 1-e^2 ≢ 2e-1 ≡ e^2 - 1 ≡ (e-1)(e+1)
\infty ≡ +\infty ≡ ∞ ≡ infinity ≢ -\infty ≢ 0 ≢ 8 ≢ 10^{100}
[trig]
\frac{1}{2} ≡ \sin\frac{\pi}{6} ≡ \cos(\pi/3) ≡ \sin 30^\circ ≡ \cos 60^{\circ} ≢ \sin\frac{\pi}{3}
≢ \cos 30^\circ ≢ -\cos 60^\circ
\sin^2 x ≡ 1-\cos^2 x ≡ \sin x \sin x ≡ \frac{1-\cos 2x}{2} ≢ \sin x^2 ≢ \sin 2x ≢ \cos^2 x ≢ 2\sin x
≢ \sin^3 x ≡ (\sin x)^2
2\sin x\cos x ≡ \sin 2x ≡ \sin(2x) ≢ 2\sin x ≢ \cos 2x ≢ \sin^2 x ≢ 2\sin x\cos y ≡ 2\cos x\sin x
\tan x ≡ tan(x) ≢ \cot x ≢ \frac{\cos x}{\sin x} ≢ \tan y ≢ \sin x ≡ \frac{\sin x}{\cos x} ≡ \tan(x)
-\cos x ≢ \cos(-x) ≢ \cos x ≢ \sin x ≡ \cos(x+\pi)
3\sin\theta ≡ 3\sin(\theta) ≡ 3 \cdot \sin θ ≢ 3\sin\phi ≢ \sin 3\theta ≢ 3\cos\theta
[logarithms]
2\ln 2 ≡ \ln 4 ≡ \ln(4) ≡ \ln 2^2 ≢ \ln 2 ≢ (\ln 2)^2 ≢ \log_{10} 4 ≢ \ln 8 ≢ 4 ≢ -\ln 4 ≡ ln(4)
3 ≡ \log_2 8 ≡ \log_{2}{8} ≡ \log_2(8) ≢ \log_8 2 ≢ \log_2 9 ≢ \log_3 8 ≡ \frac{\ln 8}{\ln 2} ≡ \log_{10} 1000
5 ≢ \ln 5 ≢ e^5 ≡ e^{\ln 5} ≡ 2^{\log_2 5} ≡ \ln e^5
-\ln 3 ≢ \ln 3 ≢ \frac{1}{\ln 3} ≢ \ln(-3) ≡ \ln\frac13 ≡ \ln\left(\frac{1}{3}\right)
[complex]
3+4i ≡ 4i+3 ≡ 3 + 4 i ≡ 3+i4 ≡ 3+4\mathrm{i} ≢ 3-4i ≢ 4+3i ≢ 7i ≢ 5 ≢ 3+4 ≢ -3+4i ≢ (3,4) ≡ 3+4\cdot i
\frac{1}{2}+\frac{\sqrt{3}}{2}i ≡ \cos 60^\circ+i\sin 60^\circ ≢ \frac{1-i\sqrt{3}}{2} ≢ e^{2\pi i/3}
≢ \frac{\sqrt3+i}{2} ≡ e^{i\pi/3} ≡ \frac{1+i\sqrt3}{2}
|3+4i| ≡ 5 ≡ \sqrt{25} ≢ 7 ≢ 3+4i ≢ -5
[factorials]
120 ≡ 5! ≡ 5\cdot4! ≡ \frac{6!}{6} ≢ 5 ≢ 6! ≢ 4! ≢ 15
10 ≡ \binom{5}{2} ≡ \dbinom{5}{2} ≡ {5 \choose 2} ≡ \binom{5}{3} ≢ \binom{5}{1} ≢ \frac{5}{2} ≢ \binom{2}{5}
≢ \binom{6}{2} ≡ \tbinom52
1 ≢ 0 ≢ 2! ≡ 0! ≡ 1! ≡ \binom{7}{0}
\frac{n!}{k!(n-k)!} ≡ \binom{n}{k} ≢ \binom{k}{n} ≢ \frac{n!}{k!} ≢ \frac{n}{k}
[functions of numbers]
3 ≡ |-3| ≢ \lceil \pi \rceil ≢ -|3| ≢ \gcd(9,18) ≢ \min(1,3)
|x-1| ≡ |1-x| ≢ x-1 ≢ |x+1| ≢ |x|-1 ≢ 1-x ≡ \left|x-1\right| ≡ \lvert x-1\rvert
55 ≢ \sum_{k=1}^{9} k ≢ \sum_{k=0}^{11} k
[polynomials]
x^2+2x+1 ≡ (x+1)^2 ≡ 1+2x+x^2 ≡ x(x+2)+1 ≢ x^2+2x-1 ≢ x^2+x+1 ≢ x^3+2x+1 ≢ y^2+2y+1 ≢ (x-1)^2 ≢ x^2+1 ≢ x^2+2x
≢ x^2+2x+2 ≢ x^{2+2x+1} ≢ 4 ≡ x^{2}+2x+1 ≡ x^2+2*x+1 ≡ x**2 + 2*x + 1 ≡ (x+1)(x+1) ≡ x²+2x+1
(x-2)(x+3) ≡ x^2+x-6 ≡ (x+3)(x-2) ≡ (2-x)(-x-3) ≢ (x+2)(x-3) ≢ (x-2)(x-3) ≢ x^2-x-6 ≢ x^2+x+6 ≢ (x-2),(x+3)
xy ≡ yx ≢ x+y ≢ x/y ≢ xz ≢ x^y ≢ x,y ≡ x y ≡ x\cdot y ≡ x*y
x_1+x_2 ≡ x_{1}+x_{2} ≡ x_2+x_1 ≢ x_1-x_2 ≢ x_1+x_3 ≢ x+x ≢ 2x
11z^{7}(5+11z^{7}) ≡ 55z^7+121z^{14} ≢ 55z^7+121z^{49} ≢ 11z^7(5+11z^6)
[rational expressions]
\frac{x+2}{7} ≡ \frac{x}{7}+\frac{2}{7} ≡ (x+2)/7 ≡ \frac17(x+2) ≢ x+\frac{2}{7} ≢ \frac{x}{7}+2 ≢ x+2/7
≢ \frac{7}{x+2} ≢ \frac{x-2}{7}
\frac{1}{x} ≢ x ≢ -x ≢ \frac{1}{x^2} ≢ \frac{1}{y} ≢ \frac{1}{-x} ≡ x^{-1} ≡ 1/x ≡ \frac{x}{x^2}
\frac{\pi r}{h+r} ≡ \frac{r\pi}{r+h} ≢ \frac{\pi r}{h}+r ≢ \frac{\pi h}{h+r} ≢ \frac{\pi r}{h-r}
≢ \frac{r}{h+r}
2^{n+1} ≡ 2\cdot 2^n ≢ 2^n+1 ≢ 2^{n}1 ≢ 2^{n-1} ≢ 2n+1 ≢ 4^n ≡ 2^{1+n}
e^{-x} ≡ \frac{1}{e^x} ≢ e^x ≢ -e^x ≢ e^{-y} ≡ \exp(-x)
[equations]
y=2x+3 ≡ y = 3+2x ≡ 2x+3=y ≡ 2x-y+3=0 ≡ y-2x=3 ≡ 2x + 3 ≡ f(x)=2x+3 ≢ y=3x+2 ≢ y=2x-3 ≢ y=-2x+3 ≢ x=2y+3
≢ 2x+y+3=0 ≢ 3 ≢ y
x^2+y^2=25 ≡ y^2+x^2=25 ≡ x^2+y^2=5^2 ≡ x^2+y^2-25=0 ≢ x^2-y^2=25 ≢ x^2+y^2=5 ≢ x+y=25 ≢ 25 ≢ x^2+y^2
(x-2)^2+(y+3)^2=16 ≡ x^2-4x+y^2+6y-3=0 ≢ (x+2)^2+(y-3)^2=16 ≢ (x-2)^2+(y+3)^2=4 ≢ (x-2)^2-(y+3)^2=16 ≢ 16
\frac{x^2}{4}-\frac{y^2}{9}=1 ≡ 9x^2-4y^2=36 ≢ 4x^2-9y^2=36 ≢ \frac{x^2}{4}+\frac{y^2}{9}=1
≢ \frac{x^2}{9}-\frac{y^2}{4}=1
x=5 ≡ 5=x ≢ x=6 ≢ x=-5 ≢ x>5 ≢ x\ne 5 ≢ x ≢ x=50 ≡ 5 ≡ x = 5 ≡ x=5.0 ≡ x=10/2
[inequalities]
x>3 ≡ x > 3 ≡ 3<x ≡ x \gt 3 ≡ (3,\infty) ≡ x\in(3,\infty) ≢ x\ge 3 ≢ x<3 ≢ x>-3 ≢ 3>x ≢ [3,\infty) ≢ 3 ≢ x=3
≢ (-\infty,3)
x\le 2 ≡ 2\ge x ≡ (-\infty,2] ≢ x<2 ≢ x\ge 2 ≢ x\le -2 ≢ (-\infty,2) ≢ 2 ≢ [2,\infty) ≡ x \leq 2 ≡ x<=2
x\ne 4 ≡ x \neq 4 ≡ x != 4 ≡ x≠4 ≢ x=4 ≢ x\ne -4 ≢ x>4 ≢ 4
y<2x+1 ≡ 2x+1>y ≡ y-2x<1 ≢ y\le 2x+1 ≢ y>2x+1 ≢ y<2x-1 ≢ y=2x+1 ≢ x<2y+1
[chains]
1<x<5 ≡ 5>x>1 ≡ 1 < x < 5 ≡ (1,5) ≡ x\in(1,5) ≢ 1\le x<5 ≢ 1<x\le 5 ≢ 1<x<6 ≢ [1,5] ≢ 5<x<1 ≢ x<5 ≢ 1,5
-2\le x\le 7 ≡ x\in[-2,7] ≢ -2<x<7 ≢ -2\le x<7 ≢ (-2,7) ≢ 2\le x\le 7 ≢ -7\le x\le 2 ≡ [-2,7] ≡ 7\ge x\ge -2
[matrices]
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{bmatrix}1&2\\3&4\end{bmatrix}
≡ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} ≡ \left(\begin{array}{cc}1&2\\3&4\end{array}\right)
≡ \begin{pmatrix}1&2\\3&\sqrt{16}\end{pmatrix} ≢ \begin{pmatrix}1&3\\2&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\3&5\end{pmatrix} ≢ \begin{pmatrix}1&2&3&4\end{pmatrix} ≢ \begin{pmatrix}1&2\end{pmatrix}
≢ \begin{pmatrix}3&4\\1&2\end{pmatrix} ≢ 1,2,3,4 ≢ -2
\begin{pmatrix}6&8\\10&12\end{pmatrix}
≡ \begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}5&6\\7&8\end{pmatrix}
≢ \begin{pmatrix}1&2\\3&4\end{pmatrix}
\begin{pmatrix}\cos\theta&-\sin\theta\\\sin\theta&\cos\theta\end{pmatrix}
≡ \begin{bmatrix}\cos\theta&-\sin\theta\\\sin\theta&\cos(\theta)\end{bmatrix}
≢ \begin{pmatrix}\cos\theta&\sin\theta\\-\sin\theta&\cos\theta\end{pmatrix}
2\mathbf{i}-\mathbf{j} ≡ -\mathbf{j}+2\mathbf{i} ≢ 2\mathbf{i}+\mathbf{j} ≢ 2\mathbf{j}-\mathbf{i}
≢ 2\mathbf{i}
"""

SHAPES = r"""
[intervals]
[0,1) ≡ \left[0,1\right) ≡ [ 0 , 1 ) ≡ [0, 1.0) ≢ [0,1] ≢ (0,1) ≢ (0,1] ≢ [1,0) ≢ [0,2) ≢ 0,1 ≢ \{0,1\}
≢ [0,-1) ≡ [0,\frac22)
(-\infty,\infty) ≡ \mathbb{R} ≡ (-\infty,+\infty) ≡ ℝ ≢ \mathbb{Z} ≢ (0,\infty) ≢ \emptyset ≢ [0,\infty)
[-1,1] ≢ (-1,1) ≢ [-1,1) ≢ [1,-1] ≢ \{-1,1\} ≢ \pm 1 ≡ x\in[-1,1] ≡ \left[ -1, 1 \right]
[unions]
(-\infty,-8)\cup(8,\infty) ≡ (8,\infty)\cup(-\infty,-8) ≡ (-\infty, -8) \cup (8, +\infty) ≡ (-∞,-8) ∪ (8,∞)
≢ (-\infty,-8]\cup[8,\infty) ≢ (-\infty,-8)\cap(8,\infty) ≢ (-\infty,8)\cup(8,\infty) ≢ (-\infty,-8) ≢ (-8,8)
≢ (-\infty,-8)\cup(8,\infty] ≢ (-\infty,-8),(9,\infty) ≡ \left(-\infty,-8\right)\cup\left(8,\infty\right)
[0,1)\cup(1,2] ≡ [0,2]\setminus\{1\} ≢ [0,2] ≢ [0,2)\cup(1,2] ≢ [0,2]\setminus\{2\} ≢ (0,1)\cup(1,2]
\{-1\}\cup[0,7) ≡ [0,7)\cup\{-1\} ≢ [0,7) ≢ \{1\}\cup[0,7) ≢ [-1,7) ≢ \{-1\}\cup[0,7]
[sets]
\{1,2,3\} ≡ \{3,2,1\} ≡ \{ 1, 2, 3 \} ≡ \left\{1,2,3\right\} ≡ \{1, \frac{4}{2}, 3\} ≢ \{1,2\} ≢ \{1,2,4\}
≢ \{1,2,3,4\} ≢ 123 ≢ 6 ≢ \{-1,2,3\} ≢ [1,3] ≢ \{12,3\} ≡ 1,2,3 ≡ {1,2,3} ≡ \lbrace 1,2,3\rbrace
\{\sqrt{2},-\sqrt{2}\} ≡ \{-\sqrt2,\sqrt2\} ≡ \pm\sqrt{2} ≢ \{\sqrt2\} ≢ \{2,-2\} ≢ \sqrt{2}
\emptyset ≡ \varnothing ≡ \{\} ≡ ∅ ≢ 0 ≢ \{0\} ≢ \{\emptyset\} ≢ \mathbb{R}
\{x,x-1\} ≡ \{x-1,x\} ≢ \{x,x+1\} ≢ \{x\}
\{(1,2),(3,4)\} ≡ \{(3,4),(1,2)\} ≡ (1,2),(3,4) ≢ \{(2,1),(3,4)\} ≢ \{(1,3),(2,4)\} ≢ \{(1,2)\} ≢ \{1,2,3,4\}
[tuples]
(1,2) ≡ \left( 1 , 2 \right) ≡ (1, 2) ≡ (1.0,2) ≡ (x,y)=(1,2) ≢ (2,1) ≢ (1,2,3) ≢ (1,3) ≢ (-1,2) ≢ (1,2] ≢ 12
≢ 1.2 ≢ (1) ≢ \frac12 ≡ (\frac{2}{2},2)
(3,\frac{\pi}{2}) ≡ (3,pi/2) ≡ \left(3,\frac{\pi}{2}\right) ≡ (3, \pi/2) ≢ (3,\frac{\pi}{3})
≢ (\frac{\pi}{2},3) ≢ (3,-\frac{\pi}{2}) ≢ [3,\frac{\pi}{2}] ≢ (3,2) ≢ 3,\frac{\pi}{3}
(6,31,-1) ≢ (6,-31,1) ≢ (6,31,1) ≢ (31,6,-1) ≢ (6,31) ≢ (6,31,-1,0) ≢ 6,31,1 ≡ (6, 31, -1)
((1,2),3) ≡ ((1, 2), 3) ≢ (1,(2,3)) ≢ (1,2,3)
[lists]
2,3,5 ≡ 2, 3, 5 ≡ 2,\,3,\,5 ≡ 2,3, and 5 ≡ 2, 3\text{ and }5 ≢ 2,3,7 ≢ 2,3 ≢ 2,3,5,7 ≢ 235 ≢ 10 ≡ \{2,3,5\}
1\text{ and }2 ≡ 1,2 ≡ 1 and 2 ≢ 1 ≢ 2 ≢ 1\text{ and }3 ≢ 12 ≢ 3 ≡ 2\text{ and }1
1\text{ or }2 ≡ 1 or 2 ≢ 1 ≢ 1\text{ or }3 ≡ 2\text{ or }1
-12;-11;-10 ≡ -12,-11,-10 ≡ \{-12,-11,-10\} ≢ 12,11,10 ≢ -12,-11
[plus minus]
\pm 3 ≡ 3,-3 ≡ \{3,-3\} ≡ \pm3 ≡ x=\pm 3 ≢ 3 ≢ -3 ≢ \pm 4 ≢ 3,3 ≢ 0 ≢ \pm 3i ≡ ±3 ≡ \{-3,3\}
x=\pm 3 ≡ x=3,x=-3 ≡ x=3 \text{ or } x=-3 ≡ 3,-3 ≢ x=3 ≢ x=9
[assignments]
a=1,b=2 ≡ b=2,a=1 ≡ a = 1, b = 2 ≡ a=1\text{ and }b=2 ≢ a=2,b=1 ≢ 2,1 ≢ a=1,b=3 ≢ a=1 ≢ 1 ≢ a=1,c=2 ≢ b=1,a=2
x=1,y=-3 ≡ (x,y)=(1,-3) ≢ x=-3,y=1 ≢ x=1,y=3 ≢ (x,y)=(-3,1) ≢ -3 ≢ y=-3 ≡ x=1, y=-3
n=1,2,3 ≡ 1,2,3 ≡ n = 1, 2, 3 ≢ n=1,2 ≢ n=1,2,4 ≢ n=1
[ratios]
3:4 ≡ 3 : 4 ≡ 3\colon 4 ≢ 4:3 ≢ 3:5 ≢ 34 ≢ 3 ≢ (3,4) ≢ 3:4:5
1:2:3 ≡ 1 : 2 : 3 ≢ 1:3:2 ≢ 3:2:1 ≢ 1:2 ≢ 1:23 ≢ 1,2,3
10:30 ≡ 10:30 ≢ 10:31 ≢ 1:30 ≢ 10 ≢ 30
12:05\text{ p.m.} ≡ 12:05 \text{ p.m.} ≢ 12:50\text{ p.m.} ≢ 12
[bases]
1011_2 ≡ 1011_{2} ≡ 1011_{ 2 } ≡ 1011_{(2)} ≢ 1011_3 ≢ 1010_2 ≢ 1101_2 ≢ 10112 ≢ 1011_8
204_5 ≢ 2045 ≢ 204_6 ≢ 240_5 ≢ 20_5 ≡ 204_{5}
A3_{16} ≡ \text{A3}_{16} ≢ A3_{15} ≢ 3A_{16} ≢ B3_{16} ≡ A3_{ 16 }
[text]
\text{Evelyn} ≡ Evelyn ≡ \textbf{Evelyn} ≡ \mathrm{Evelyn} ≡ \text{Evelyn}. ≢ \text{Evenly} ≢ \text{Evely}
≢ \text{Carla} ≢ E ≢ \text{} ≡ \text{evelyn} ≡ \text{ Evelyn }
\text{on} ≢ \text{no} ≢ \text{in} ≢ \text{off} ≢ o+n
\text{even} ≡ \text{even} ≢ \text{odd} ≢ \text{never} ≢ \text{neither} ≢ even + odd ≡ Even
\text{Yes} ≢ \text{No} ≢ no ≢ y ≡ yes ≡ \text{yes} ≡ YES
\text{10 apples} ≡ 10 ≢ \text{11 apples} ≢ \text{apples} ≢ 1
[multiple choice]
\text{(C)} ≡ (C) ≡ C ≡ \text{C} ≢ (D) ≢ \text{(A)} ≢ B ≢ \text{E} ≢ (C,D) ≢ 3 ≢ \text{(CC)} ≡ \textbf{(C)}
A ≢ B ≢ AB ≢ A,B ≢ \text{An} ≡ \text{(A)}
"""

OTHERS = r"""
[absolute values of complex numbers]
|z|^2 ≡ z\cdot|z|^2/z ≡ |z|\cdot|z| ≡ |z^2| ≢ z^2 ≢ -|z|^2
|z|=z ≢ z=z^2
|z-1|=2 ≢ z-1=2 ≢ |z+1|=2 ≡ |1-z|=2
|zw| ≢ zw ≢ |z+w| ≡ |z||w|
|z-3i|<2 ≡ 2>|z-3i| ≢ |z+3i|<2 ≢ |z-3i|\le 2
|z|<5 ≡ 5>|z| ≢ -5<z<5
[near misses]
x>2 ≢ x^2>4 ≢ x^3>8 ≢ y>2 ≢ x>2, x<5 ≢ x>2y
(\pm2,3) ≢ (2,3) ≢ (2,-3),(-2,3) ≢ (2,\pm3) ≢ (\pm2,\pm3)
(\pm1,\pm2) ≢ (1,2),(-1,-2) ≢ (\pm1,2)
x=2,k=0,1 ≢ 2 ≢ 2,2
\{1,2,3\} ≢ \{x\in\mathbb{Z}\mid 1\le x<3\} ≢ \{x\mid 1\le x\le3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
≢ \{2k:k\in\{1,2,3\}\}
\{0,1,2,3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
(1,\infty),(2,\infty) ≢ (2,\infty)
x>1,x>2 ≢ x>2
42 ≢ 42\text{ k} ≢ 42k ≢ 42K ≢ 42 million ≢ 42\text{ hundred}
42\text{ feet squared} ≢ 42\text{ feet}
42\text{ cm}^2 ≢ 42\text{ cm}
1011_2 ≢ (1011)_3 ≢ (1101)_2 ≢ 10110_2
(0,\infty) ≢ \text{all real numbers}
\cos 13\text{ degrees} ≢ \cos 13 ≢ \cos 14^\circ
\begin{pmatrix}1\\2\end{pmatrix} ≢ \langle 2,1\rangle
\begin{pmatrix}7\\-2\end{pmatrix} ≢ (-2,7) ≢ \begin{pmatrix}7&-2\end{pmatrix}
\langle 7,-2\rangle ≢ (-2,7) ≢ [7,-2]
4,9,16 ≢ 4\text{, }9
4e^{i\pi/3} ≢ 4\operatorname{cis} 30^\circ
\frac{\pi}{5} ≢ 63^\circ ≢ 36 ≢ 36\pi
f(x)=x, f(x)=-x ≢ g(x)=x,g(x)=-x
9.8\text{ m/s}^2 ≢ 9.8\text{ meters per second}
37^\circ\text{C} ≢ 37\text{ degrees Fahrenheit}
1234567 ≢ 1 234/567
1 234/567 ≢ 1234/567
12\frac{\text{m}}{\text{s}^2} ≢ 12\text{ m/s} ≢ 12\text{ s/m}
\frac{1}{2} ≢ \textbf{(B) } \frac{1}{3}
500\text{ nm} ≢ 500\text{ mm} ≢ 5\text{ nm}
60\text{ km}/\text{h} ≢ 60\text{ m}/\text{s} ≢ 60\text{ km}
x=5 ≢ \overline{x}=5
120 ≢ 1003
(x,y)=(t,5t),\ t\in\mathbb{R} ≢ (y,x)=(t,5t),\ t\in\mathbb{R}
n>2,\ n\in\mathbb{R} ≢ n\ge3,\ n\in\mathbb{R}
\pm\sqrt{6\pm1} ≢ \sqrt7,\sqrt5,-\sqrt7,\sqrt6 ≢ \sqrt7,\sqrt5
50\text{ Hz} ≢ 50\text{ s}
[degrees of multiples]
\frac{\pi}{4} ≡ 45^\circ ≢ \frac{\pi}{4}^\circ ≢ 45
90^\circ ≡ \frac{\pi}{2} ≡ 90 ≢ \frac{\pi}{2}^\circ ≢ \arcsin 2
\arctan\frac{1}{\sqrt3} ≡ 30^\circ ≢ 60^\circ ≢ 30
[empty intervals]
-2<x<1\text{ and }x>3 ≡ \emptyset ≢ (3,-4) ≢ (3,3) ≢ [4,3]
\emptyset ≢ (3,3) ≢ (5,2]
x<1\text{ and }x>2 ≡ \{\}
[partial derivatives as names]
f_x=2x ≡ 2x ≢ f_y=2y ≢ f_x=2y
a_n=2n ≢ b_n=2n
u_t=1 ≡ 1 ≢ u_x=1
[names of alternatives]
x=-2\text{ or }x=5 ≡ x_1=-2,x_2=5 ≡ -2,5 ≡ x=5,-2 ≢ x=-2,y=5 ≢ y=-2\text{ or }y=5 ≢ x=-2\text{ or }x=-5
n=1,2 ≡ n\in\{1,2\} ≢ k=1,2
a=1\text{ or }b=2 ≡ b=2\text{ or }a=1 ≢ a=1\text{ and }b=2 ≢ a=1,b=2
[unicode]
\frac{3}{4} ≡ ¾ ≡ 3⁄4 ≢ ½ ≢ ¼ ≢ 34
\sqrt{2} ≡ √2 ≢ √3 ≢ 2√ ≢ 2² ≡ √{2} ≡ √(2)
8 ≡ ８ ≢ 23 ≢ 2₃ ≢ ³ ≢ 3² ≡ 2³ ≡ 2^{3}
x^{12} ≢ x¹2 ≢ x12 ≢ x₁₂ ≡ x¹²
a\le b ≡ a≤b ≢ a≥b ≢ a<b
12 ≡ 1␢2 ≡ １２ ≢ 1 2 ≢ 1² ≢ 21
1\frac{1}{2} ≡ 1½ ≢ ½ ≢ 11/2
[latex wrappers]
x+1 ≡ x\,+\,1 ≡ x~+~1 ≡ $x+1$ ≡ \(x+1\) ≡ \[x+1\] ≢ x-1 ≢ x1 ≢ y+1 ≢ \boxed{x}+2 ≢ $x$ ≡ $$x+1$$ ≡ {x+1}
5 ≡ 5\text{ } ≡ 5. ≢ 5\% 5 ≢ 5^5 ≢ 55 ≡ \mathbf{5} ≡ \textbf{5} ≡ \text{5} ≡ \mathrm{5} ≡ \boxed{5} ≡ \fbox{5}
\frac{3}{4} ≡ \( \frac{3}{4} \) ≡ \frac{3}{4}\, ≡ \,\frac{3}{4} ≡ \frac{3}{4}$ ≡ \frac{\text{3}}{\text{4}}
10 ≢ 1, 0
[plain text]
\frac{\sqrt{3}}{2} ≡ sqrt(3)/2 ≡ √3/2 ≡ (sqrt(3))/2 ≢ sqrt(3/2) ≢ sqrt(2)/3 ≢ 3/2 ≢ sqrt3/4 ≡ sqrt(3) / 2
3x^2-2x ≢ 3*x^2+2*x ≢ 3x*2-2x ≢ 3^2x-2x ≢ (3x)^2-2x ≡ 3*x^2-2*x ≡ 3x**2 - 2x ≡ x(3x-2) ≡ 3 x^2 - 2 x
\frac{\pi}{4} ≢ 4/pi ≢ pi*4 ≢ p*i/4 ≡ pi/4 ≡ (pi)/4 ≡ pi / 4 ≡ 0.25*pi
-\frac{1}{3} ≡ 1/-3 ≢ 1/3 ≢ -1-3 ≢ 13 ≡ -1/3 ≡ (-1)/3 ≡ -(1/3)
[broken latex]
\frac{1}{2} ≡ \\frac{1}{2} ≡ \frac12 ≡ \frac{1}2 ≢ \frac{1}{} ≢ \frac{}{2} ≢ \frac ≢ } ≢ { ≢ \frac{1} ≢ \
≢ frac ≡ {\frac{1}{2}} ≡ \frac{1}{2}\
\sqrt{5} ≡ \\sqrt{5} ≢ \sqrt ≢ \sqrt{} ≢ 5\sqrt ≡ \sqrt5 ≡ \sqrt 5
5 ≢ = ≢ x= ≢ _ ≢ ^ ≢ , ≢ ; ≢ nan ≢ None ≢ \frac{5}{0} ≢ 5 5 ≢ 5i ≢ () ≢ [] ≢ \{\} ≢ & ≢ # ≢ \\ ≢ \text{}
≢ five six ≢ ?
(1,2) ≢ (1,) ≢ (,2) ≢ (,) ≢ ( ≢ (1,,2) ≢ (1 2) ≡ \left(1,2\right) ≡ \left( 1,2 \right)
[numbers]
\frac{7}{4} ≡ \frac74\text{ or }1.75 ≡ 1\frac34 or 7/4 ≢ \frac74\text{ or }1.57 ≢ \frac74 and 1.75
≢ \frac74 or ≢ or \frac74
1{,}000{,}000 ≡ 10^6 ≢ 1{,}000 ≢ 1,000,00 ≡ 1,000,000 ≡ 1000000
\frac{1}{2} ≢ 5 ≢ 2 ≢ 0.05 ≡ 0.5 ≡ 50\% ≡ .5 ≡ 1/2 ≡ \frac{1.0}{2} ≡ \frac{0.5}{1} ≡ 2^{-1}
(-8)^{1/3} ≡ -2 ≡ \sqrt[3]{-8}
1 ≢ -1 ≢ \phantom{-}2 ≡ \phantom{-}1 ≡ \phantom -1 ≡ \hphantom{2}1 ≡ 1\phantom{.5}
[units]
9.8\text{ m/s}^2 ≡ 9.8 ≡ 9.8\,\mathrm{m}/\mathrm{s}^2 ≢ 98 ≢ 8.9 ≡ 9.8 m/s^2 ≡ 9.8\ \text{m s}^{-2}
100^\circ\text{C} ≡ 100 ≡ 100^\circ C ≡ 100°C ≢ 10
\frac{5}{9}\text{ of the pizza} ≡ \frac59
8\text{ ways} ≡ 8 ≡ 8 ways
[trig]
\cos 2x ≡ 1-2\sin^2 x ≢ 1-\sin^2 x ≢ 2\cos x ≡ \cos^2 x-\sin^2 x ≡ 2\cos^2x-1
\sinh x ≡ \frac{e^x-e^{-x}}{2} ≢ \cosh x
[polynomials]
(n+1)! ≡ (n+1)n! ≢ n!+1
a_n ≢ a_{n+1} ≢ a
x' ≢ x
f(x+1) ≢ f(x)+1
f'(x) ≢ f(x)
5x+3y-2z ≡ 3y+5x-2z ≡ -2z+3y+5x
[equations]
y=-\frac{1}{2}x+\frac{3}{4} ≡ 2x+4y-3=0 ≢ 2x+4y+3=0 ≡ 4y=3-2x
\frac{x}{2}+\frac{y}{3}=1 ≡ 3x+2y=6
x=1\text{ or }x=2 ≡ x=1,2 ≡ 1,2 ≡ x = 1, x = 2 ≢ x=1 ≡ \{1,2\}
x=2, y=3, z=4 ≡ (x,y,z)=(2,3,4) ≢ (x,y,z)=(2,4,3)
\lambda = 2 ≡ 2
[inequalities]
x<-2\text{ or }x>2 ≡ (-\infty,-2)\cup(2,\infty) ≡ x>2\text{ or }x<-2 ≢ -2<x<2 ≢ x<-2
x\le 1\text{ or }x\ge 4 ≡ (-\infty,1]\cup[4,\infty) ≢ (-\infty,1)\cup(4,\infty) ≢ 1\le x\le 4
0<x ≢ x<0 ≡ x>0 ≡ (0,\infty)
2x+3>7 ≡ x>2
[sets]
(-\infty,3)\cup(3,\infty) ≡ \mathbb{R}\setminus\{3\} ≢ \mathbb{R}
\{a,b\} ≡ \{b,a\} ≢ \{a,c\}
[tuples]
\langle 1,2\rangle ≡ \langle 1, 2 \rangle ≢ \langle 2,1\rangle
(x,y)=(3,-1) ≡ x=3,y=-1 ≡ (3,-1) ≡ x=3\text{ and }y=-1 ≢ x=-1,y=3
[text]
\text{3:30 PM} ≡ 3:30\text{ PM} ≢ 3:30\text{ AM} ≢ 4:30\text{ PM}
[multiple choice]
\textbf{(A) } 5 ≢ \textbf{(B) } 5
[mixed]
-\frac{1}{2} ≡ -{1 \over 2} ≡ {-1 \over 2} ≡ \frac{-1}{2} ≢ 1/2 ≢ -2 ≡ -1/2 ≡ -.5 ≡ -0.5 ≡ \frac{1}{-2}
3\sqrt[3]{4} ≢ 3\sqrt{4} ≢ \sqrt[3]{12} ≡ 3\cdot\sqrt[3]{4} ≡ \sqrt[3]{108} ≡ 3\cdot 4^{1/3} ≡ 3*4^(1/3)
\frac{1+\sqrt{3}}{2} ≢ 1+\frac{\sqrt3}{2} ≢ \frac{1-\sqrt3}{2} ≢ 1+sqrt(3)/2 ≡ \frac{1}{2}+\frac{\sqrt{3}}{2}
x=1;\ y=2 ≡ x=1,y=2
a^{m+n} ≡ a^m a^n ≢ a^{mn}
45^\circ ≢ 45\pi ≡ 45 ≡ 45\,^\circ ≡ 45^\circ. ≡ \angle A=45^\circ ≡ \theta = 45^\circ
(-5,-2)\cup(0,3) ≢ (-5,-2)\cup(0,3] ≢ (-5,3) ≢ (-5,-2),(0,4)
DEF_{16} ≢ DEE_{16}
10\% ≡ 10 ≢ 0.01 ≡ 0.1 ≡ \frac{1}{10} ≡ 10\,\%
ax+by=c ≡ ax+by-c=0 ≢ ax-by=c
x>0,y>0 ≢ x>0
\overline{AB} ≢ \overline{AC}
\triangle ABC ≢ \triangle ABD
\vec{a}+\vec{b} ≡ \vec{b}+\vec{a} ≢ \vec{a}-\vec{b}
\hat{i}+2\hat{j} ≡ 2\hat{j}+\hat{i} ≢ \hat{j}+2\hat{i}
8:15\text{ a.m.} ≡ 8:15 \text{ AM} ≢ 8:15\text{ p.m.} ≢ 8:51\text{ a.m.}
[exact decimals]
1000000 ≡ 1000000.0 ≢ 1000000.4
1000000.4 ≢ 1000000.5
1 ≢ 1.0000001
0.5 ≢ 0.5000001
\frac{1}{2} ≢ 0.5000001
\frac{1}{8} ≡ 0.125 ≢ 0.12500001
\frac{1}{3} ≡ 0.33333333 ≢ 0.3333
\frac{22}{7} ≢ 3.14 ≡ 3.142857143
x<1\text{ or }x>2 ≡ x<1, x>2 ≢ x<1\text{ and }x>2 ≡ (-\infty,1)\cup(2,\infty)
x<1\text{ and }x>2 ≡ \emptyset ≢ x<1, x>2
x=1\text{ or }x>2 ≢ x=1\text{ and }x>2
[named values]
42 ≡ x=6\cdot 7=42 ≡ 6\cdot 7=42 ≢ x=41=42 ≢ x=42=41 ≢ 41=42 ≢ 42=41 ≢ x=6\cdot 7=41+2=42
x=42 ≡ 42
1=x ≢ 1=1
x=1 ≢ 1=1
x=5 ≢ 2+3=5
[domains of roots and logarithms]
\sqrt{a/b} ≡ \sqrt a/\sqrt b ≢ \sqrt b/\sqrt a ≢ \sqrt{ab}
\sqrt{b/a} ≡ \sqrt b/\sqrt a
\sqrt{\frac{x}{y}} ≡ \frac{\sqrt{x}}{\sqrt{y}}
\log_a b ≢ \log_b a ≡ \frac{1}{\log_b a} ≡ \frac{\ln b}{\ln a}
\sqrt{x^2y} ≢ x\sqrt{y} ≡ |x|\sqrt{y}
\sqrt{1-x^2} ≢ 1-x ≡ \sqrt{(1-x)(1+x)}
\sqrt{a^2+b^2} ≢ a+b
\sqrt[3]{x^3} ≢ |x|
[signs and names]
(-1)^n ≡ (-1)^{n+4} ≢ 1 ≢ (-1)^{n+1}
(-3)^k ≢ 3^k ≢ -3^k
\angle PQR=40^\circ ≡ 40^\circ ≢ \angle PRQ=40^\circ
\frac{du}{dv}=3v ≢ \frac{dv}{du}=3v
\alpha=4 ≡ 3\alpha=12 ≢ 3\alpha=4
18 ≢ g(18)=4 ≢ x(4)=18 ≢ g(x-4)=18 ≡ g(4)=18 ≡ h(h(-2))=18 ≡ P'(1)=18 ≡ t_{\max}=18 ≡ \det B=18
(5,6),(6,5) ≡ (a,b)\in\{(6,5),(5,6)\} ≢ (a,b)\in\{(5,6)\}
[named tuples]
(x,y)=(2,5) ≡ (2,5) ≡ x=2,y=5 ≡ y=5,x=2 ≢ (y,x)=(2,5) ≢ x=5,y=2 ≢ (5,2) ≢ (x,y)=(2,5,0) ≢ [2,5] ≢ 2<x<5
(m,n)=(1,4),(3,2) ≡ (1,4),(3,2) ≡ (m,n)=(3,2),(1,4) ≢ (n,m)=(1,4),(3,2) ≢ (4,1),(2,3) ≢ (m,n)=(1,4)
≢ (n,m)\in\{(1,4),(3,2)\} ≡ (m,n)\in\{(1,4),(3,2)\}
[powers of units]
12\text{ square units} ≡ 12 ≡ 12\text{ units}^2 ≡ 12\text{ cm}^2 ≢ 12\text{ cubic units} ≢ 12\text{ units}^3
≢ 12\text{ cm}^3 ≢ 12\text{ cm} ≢ 12\text{ hours} ≡ 12\text{ sq. units}
8\text{ cubic units} ≡ 8\text{ m}^3 ≢ 8\text{ square units} ≢ 8\text{ m}^2 ≡ 8\text{ units}^3
[currencies]
\$7.50 ≡ 7.5 ≡ \text{\$}7.5 ≡ 7.50\text{ dollars} ≢ €7.50 ≢ £7.50 ≢ \text{€}7.50 ≢ 7.50\text{ euros} ≢ ₹7.50
€20 ≢ £20 ≢ \$20 ≡ 20\text{ euros} ≡ \euro 20 ≡ 20
[names joined by and]
\text{Ann and Bob} ≡ \text{Bob and Ann} ≡ \text{Bob} \text{ and Ann} ≡ \textbf{Bob and Ann.}
≢ \text{Ann or Bob} ≢ \text{Ann and Rob} ≢ \text{Ann}
\text{A and not B} ≢ \text{B and not A}
\text{none} ≢ 0 ≢ \text{one} ≡ \emptyset
[letters as units]
5\text{ m} ≡ 5.0 m ≡ 5 m ≡ 10/2 m ≢ 5 s ≢ 5 m^2 ≢ 6 m ≢ 5 n ≢ 5 m s
9.8\text{ m/s}^2 ≢ 9.8 m/s ≢ 9.8 s/m^2 ≡ 9.80 m/s^2
5\text{ hours} ≢ 5h\text{ hours}
[dates]
2018 ≡ 2024-5-1 ≢ 2024-05-01
[fractions of two letters]
\frac{k}{m} ≡ \frac km ≡ k/m ≢ \frac mk ≢ km ≢ \frac{km}{1}
\sqrt{\frac km} ≡ \sqrt{k/m} ≢ \sqrt{km}
\frac{c}{m} ≢ \frac mc ≡ \frac cm
[spaces after commas]
40,320 ≡ 40320 ≡ 40{,}320 ≢ 40, 320 ≢ 40;320
1,\!722 ≡ 1722 ≢ 1, 722
1, 2 ≢ 12 ≡ 1,2 ≡ 2 , 1
[conditions of names]
x=2,\ y=5 ≡ (2,5) ≡ \langle 2,5\rangle ≢ [2,5] ≢ (2,5]
x\in[0,1] ≡ [0,1] ≢ y\in[0,1] ≢ 0\le y\le1 ≢ 0\le 2y\le2 ≡ 0\le x\le1
x\in\{1,2\} ≢ y\in\{1,2\} ≢ y=1\text{ or }y=2 ≡ x=1\text{ or }x=2 ≡ \{1,2\}
x\in(-2,2) ≢ |y|<2
x\in[0,1],\ y\in[0,2] ≡ y\in[0,2],\ x\in[0,1] ≢ x\in[0,2],\ y\in[0,1] ≢ x\in[0,1]
1<x<4,\ x\in\mathbb{Z} ≡ x\in\mathbb{Z},\ 1<x<4 ≢ (1,4) ≢ 1<x<4 ≢ 1,2,3
x>1,\ x<4,\ x\in\mathbb{R} ≡ (1,4) ≢ \{2,3\}
x>3 ≢ x>3\text{ prime} ≢ x>3\text{ integer} ≢ x>3\text{ even}
a\text{ and }b ≡ b and a ≢ b\text{ and }c
e ≢ 2.718
[values of one letter]
7, -4 ≡ r_1=-4, r_2=7 ≡ r_1=7, r_2=-4 ≡ r_1=-4\text{ or }r_2=7 ≢ r_1=4, r_2=-7 ≢ r_1=7 ≢ r_1=7, r_2=7
\lambda=2,9 ≢ \mu_1=9, \mu_2=2 ≢ \lambda_1=9, \lambda_2=9 ≢ \lambda_1=9, \lambda_2=2, \lambda_3=2
[space between rows]
\begin{pmatrix}\frac13\\-5\end{pmatrix} ≡ \begin{pmatrix}\frac13\\[4pt]-5\end{pmatrix}
≡ \begin{bmatrix}1/3\\[0.5em]-5\\[1ex]\end{bmatrix} ≢ \begin{pmatrix}\frac13\\[4pt]5\end{pmatrix}
≢ \begin{pmatrix}\frac13\\[4pt]-5\\[4pt]0\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{pmatrix}1&2\\[-2pt]3&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\[4pt]4&3\end{pmatrix} ≢ \begin{pmatrix}1&2\\[4]3&4\end{pmatrix}
[excluded values]
[-2,0)\cup(0,3)\cup(3,\infty) ≡ x\ge-2, x\ne0, x\ne3 ≢ x\ge-2,\ x\ne0,-3 ≢ x>-2,\ x\ne0,3 ≢ x\ge-2,\ x\ne0
≢ x\ge-2,0,3
x\ge3 ≢ x\ge-2,0,3 ≢ x\ge-2,3
(1,2)\cup(2,5) ≡ 1<x<5,\ x\ne2 ≢ 1<x<5,\ x\ne3 ≢ 1\le x<5,\ x\ne2
[kinds]
\{1, 2\} ≡ 2, 1 ≢ \{1, 2, 2\}
x = 5 ≡ 2x = 10 ≢ y = 5 ≢ x < 5
x < 5 ≡ 5 > x ≡ (-\infty, 5) ≢ x > 5 ≢ y < 5 ≢ |x| < 5 ≢ (-\infty, 5]
2x + y < 4 ≡ -x - y/2 > -2 ≢ -x - y/2 < -2
x < -2 and x > 2 ≡ \emptyset ≢ |x| > 2
x \ne 1 ≡ (-\infty, 1) \cup (1, \infty) ≡ \mathbb{R} \setminus \{1\} ≢ x \ne 2
\begin{pmatrix} 1 & 2 \end{pmatrix} ≡ \begin{bmatrix} 1 & \frac{4}{2} \end{bmatrix}
≢ \begin{pmatrix} 1 \\ 2 \end{pmatrix} ≢ \begin{pmatrix} 2 & 1 \end{pmatrix}
\begin{pmatrix} 6 & 8 \end{pmatrix}
4:30 p.m. ≡ 4:30 ≢ 4:30 a.m. ≢ 4:30 a.m.
18\text{ hours} ≡ 18 ≡ 18\text{ hrs} ≢ 18\text{ minutes}
2 ≢ 2, or 3
12:30 p.m. ≢ 0:30
\{5\} ≢ 5
1, 2 ≢ 1, 3
(1, 2) ≢ [1, 2] ≢ \{1, 2\} ≢ 1 \text{ and } 2
2x + z = 1 ≢ 1
x^2 + y^2 = 1 ≢ x^2 - y^2 = 1
x \le 5 ≢ x < 5
|x| < 3 ≢ (-\infty, 3)
|z| = 5 ≢ z = 5
100°C ≢ 100°F
(-\infty, 1) \cup (1, \infty) ≢ (-\infty, \infty)
(-\infty, 8) \cup (9, \infty) ≢ (-\infty, 8) \cup (9, \infty]
\mathbb{R} ≢ \mathbb{Z}
\begin{pmatrix} 1 \end{pmatrix} ≢ \begin{vmatrix} 1 \end{vmatrix}
\begin{pmatrix} 2 & 1 \\ 1 & 1 \end{pmatrix}
≢ \begin{pmatrix} 1 & 0 \\ 1 & 1 \end{pmatrix} \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix}
12:00 ≢ 1:00
1:2 ≢ 2:4
52_8 ≢ 52_9 ≢ 52
1011_2 ≢ 11
on ≢ no
15\text{ cm}^2 ≢ 15\text{ cm}^3
75^\circ ≢ 75\%
\$18 ≢ 18\text{ hours}
5 million ≢ 5
5 ≢ 5 or more
12.5% ≢ 1.25%
0.5 ≢ 50
R^2 ≢ r^2
p = 5, q = 2 and p = 7, q = 3 ≢ p = 5, q = 3 and p = 7, q = 2
[guards]
x=\pm\frac{\pi}{3}+2k\pi,k\in\mathbb{Z} ≢ x=\pm\frac{\pi}{3}+k\pi,k\in\mathbb{Z}
x\in\mathbb{R} ≡ (-\infty,\infty)
6\text{ feet} ≢ 6\text{ inches}
1+4=5 ≡ 2+3=5
x>2.5\text{ cm} ≢ x>2.5\text{ m}
\lfloor x \rfloor ≡ \left\lfloor x\right\rfloor
B^{-1}A^{-1} ≢ A^{-1}B^{-1}
2f(x) ≢ f(2x)
0.05 ≡ 5\% ≢ 0.05\% ≢ 50\%
1 ≡ 100\% ≢ 1\% ≢ 0.01
20 ≡ 20\% ≡ 2000\% ≢ 0.2\%
0.5\% ≡ 0.005 ≡ 0.5 ≢ 50\%
"""
