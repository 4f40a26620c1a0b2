"""Labelled pairs of answers; `labelled.py` says how to read the tables.

A pair is here for a path through the code, or for a fault in it, that few others show.
"""

NUMBERS = r"""
[integers]
0 ≢ 0.0000003 ≢ 10^{-9} ≢ 1 ≢ \emptyset ≢ \frac{0}{0} ≢ \infty
100 ≡ 4 \times 25 ≢ 1 ≢ 10 ≢ 10^1 ≢ 1000 ≢ 10_2 ≢ 0.01 ≢ 1,00
15 ≢ 1,5 ≢ 1 5 ≢ 1.5 ≢ 51 ≢ 15, 16 ≢ (1,5) ≢ 1:5 ≢ 1/5
[thousands]
25000 ≡ 25 \times 10^3 ≢ 25,00 ≢ 25 ≢ 2500
10,000.50 ≡ 10000\frac12 ≢ 10,000.05 ≢ 10000
[big integers]
123456789012345678901234567890 ≡ 123,456,789,012,345,678,901,234,567,890 ≢ 123456789012345678901234567891
≢ 123456789012345678901234567880 ≢ -123456789012345678901234567890
[decimals]
0.\overline{3} ≢ 0.3 ≢ \frac{3}{10} ≢ 0.\overline{6} ≢ 3
0.1\overline{6} ≡ \frac16 ≢ 0.16 ≢ 0.\overline{16} ≢ 0.1\overline{7}
\frac{1}{3} ≡ 0.3333333333 ≡ 0.33333333333333333 ≢ 0.34 ≢ 0.3 ≢ 3 ≢ 0.4
[tiny differences]
\sqrt{10^{20}+1} ≢ 10^{10} ≢ \sqrt{10^{20}}
\sqrt{2} ≡ 1.41421356237309 ≢ \frac{99}{70} ≢ \frac{577}{408} ≢ \frac{665857}{470832}
[scientific]
1500 ≡ 1.5\times 10^3 ≢ 1.5\times 10^2 ≢ 1.5 ≢ 1.5 + 10^3
[fractions]
\frac{3}{4} ≡ {3 \over 4} ≡ 3 \over 4 ≢ \frac{4}{3} ≢ \frac{3}{5} ≢ -\frac{3}{4} ≢ 3,4 ≢ \frac{3}{4}x
≢ \frac{3}{40} ≢ 3 ≢ 4 ≢ (3,4)
[mixed numbers]
1\frac{1}{2} ≡ 1 1/2 ≢ \frac{1}{2} ≢ \frac{11}{2} ≢ 1-\frac12 ≢ 2 ≢ 1\frac{1}{3} ≢ 1\cdot\frac{1}{2}
≡ 1+\frac12
[percent]
35\% ≡ 35 percent ≡ 35\text{ percent} ≢ 3.5\% ≢ 350\% ≢ 53\% ≢ 0.035 ≢ 36
12.5\% ≡ 12.5 ≢ 1.25 ≢ 125 ≢ 12\% ≡ \frac18
[currency]
\$3.40 ≡ \text{\$}3.40 ≢ 3.04 ≢ 4.30 ≢ 34
[units]
5\text{ hours} ≡ 5\text{ hours} ≢ 6\text{ hours} ≢ \text{hours} ≢ 50
24\pi\text{ cm}^3 ≡ 24\pi \text{ cubic centimeters} ≢ 24 ≢ 24\text{ cm}^3 ≢ 42\pi ≢ 24\pi^3
[degrees]
60^\circ ≡ 60 ≢ 6^\circ ≢ 61^\circ ≢ 600 ≢ -60^\circ ≡ 60\text{ degrees} ≡ 60 degrees
\angle ABC = 74^\circ ≡ 74 ≡ 74^\circ ≢ 47^\circ
"""

ALGEBRA = r"""
[radicals]
2\sqrt{3} ≢ 3\sqrt{2} ≢ 2\sqrt{2} ≢ \sqrt{6} ≢ 2^{\sqrt{3}} ≢ 2\sqrt{3}x ≢ 2+\sqrt{3} ≢ -2\sqrt{3}
≢ 2\sqrt[3]{3} ≢ 23 ≢ 2\sqrt{33}
\sqrt{x^2} ≡ |x| ≢ x ≢ -x
[constants]
2\pi ≡ \pi 2 ≢ \pi ≢ \pi^2 ≢ 2 ≢ -2\pi ≢ 2\pi r ≢ 6 ≢ 6.3
e ≢ \pi ≢ \frac1e ≢ e^2 ≢ 2.71 ≢ 1
[trig]
\sin 2x ≡ \sin(2x) ≢ x\sin 2
\frac{1}{2} ≡ \cos(\pi/3) ≡ \sin 30^\circ ≡ \cos 60^{\circ} ≢ \sin\frac{\pi}{3} ≢ \cos 30^\circ
≢ -\cos 60^\circ
2\sin x\cos x ≡ \sin(2x) ≢ 2\sin x ≢ \cos 2x ≢ \sin^2 x ≢ 2\sin x\cos y
3\sin\theta ≡ 3\sin(\theta) ≢ 3\sin\phi ≢ \sin 3\theta ≢ 3\cos\theta
[logarithms]
3 ≡ \log_2 8 ≢ \log_8 2 ≢ \log_2 9 ≢ \log_3 8
-\ln 3 ≢ \ln 3 ≢ \frac{1}{\ln 3} ≢ \ln(-3) ≡ \ln\left(\frac{1}{3}\right)
[complex]
3+4i ≡ 3+i4 ≡ 3+4\mathrm{i} ≢ 3-4i ≢ 4+3i ≢ 7i ≢ 5 ≢ 3+4 ≢ -3+4i ≢ (3,4)
\frac{1}{2}+\frac{\sqrt{3}}{2}i ≡ \cos 60^\circ+i\sin 60^\circ ≢ \frac{1-i\sqrt{3}}{2} ≢ e^{2\pi i/3}
≢ \frac{\sqrt3+i}{2} ≡ e^{i\pi/3}
[factorials]
120 ≡ \frac{6!}{6} ≢ 5 ≢ 6! ≢ 4! ≢ 15
10 ≡ \binom{5}{2} ≡ \dbinom{5}{2} ≡ {5 \choose 2} ≢ \binom{5}{1} ≢ \frac{5}{2} ≢ \binom{2}{5} ≢ \binom{6}{2}
\frac{n!}{k!(n-k)!} ≡ \binom{n}{k} ≢ \binom{k}{n} ≢ \frac{n!}{k!} ≢ \frac{n}{k}
[functions of numbers]
|x-1| ≢ x-1 ≢ |x+1| ≢ |x|-1 ≢ 1-x
[polynomials]
x^2+2x+1 ≡ x(x+2)+1 ≢ x^2+2x-1 ≢ x^2+x+1 ≢ x^3+2x+1 ≢ y^2+2y+1 ≢ (x-1)^2 ≢ x^2+1 ≢ x^2+2x ≢ x^2+2x+2
≢ x^{2+2x+1} ≢ 4
xy ≡ yx ≢ x+y ≢ x/y ≢ xz ≢ x^y ≢ x,y
x_1+x_2 ≡ x_{1}+x_{2} ≡ x_2+x_1 ≢ x_1-x_2 ≢ x_1+x_3 ≢ x+x ≢ 2x
11z^{7}(5+11z^{7}) ≢ 55z^7+121z^{49} ≢ 11z^7(5+11z^6)
[rational expressions]
\frac{\pi r}{h+r} ≢ \frac{\pi r}{h}+r ≢ \frac{\pi h}{h+r} ≢ \frac{\pi r}{h-r} ≢ \frac{r}{h+r}
[equations]
y=2x+3 ≡ 2x+3=y ≡ f(x)=2x+3 ≢ y=3x+2 ≢ y=2x-3 ≢ y=-2x+3 ≢ x=2y+3 ≢ 2x+y+3=0 ≢ 3 ≢ y
x^2+y^2=25 ≢ x^2-y^2=25 ≢ x^2+y^2=5 ≢ x+y=25 ≢ 25 ≢ x^2+y^2
(x-2)^2+(y+3)^2=16 ≡ x^2-4x+y^2+6y-3=0 ≢ (x+2)^2+(y-3)^2=16 ≢ (x-2)^2+(y+3)^2=4 ≢ (x-2)^2-(y+3)^2=16 ≢ 16
x=5 ≡ 5=x ≢ x=6 ≢ x=-5 ≢ x>5 ≢ x\ne 5 ≢ x ≢ x=50
[inequalities]
x>3 ≡ x\in(3,\infty) ≢ x\ge 3 ≢ x<3 ≢ x>-3 ≢ 3>x ≢ [3,\infty) ≢ 3 ≢ x=3 ≢ (-\infty,3)
y<2x+1 ≡ 2x+1>y ≢ y\le 2x+1 ≢ y>2x+1 ≢ y<2x-1 ≢ y=2x+1 ≢ x<2y+1
[chains]
1<x<5 ≡ 5>x>1 ≢ 1\le x<5 ≢ 1<x\le 5 ≢ 1<x<6 ≢ [1,5] ≢ 5<x<1 ≢ x<5 ≢ 1,5
-2\le x\le 7 ≢ -2<x<7 ≢ -2\le x<7 ≢ (-2,7) ≢ 2\le x\le 7 ≢ -7\le x\le 2 ≡ 7\ge x\ge -2
[matrices]
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \left(\begin{array}{cc}1&2\\3&4\end{array}\right)
≡ \begin{pmatrix}1&2\\3&\sqrt{16}\end{pmatrix} ≢ \begin{pmatrix}1&3\\2&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\3&5\end{pmatrix} ≢ \begin{pmatrix}1&2&3&4\end{pmatrix}
≢ \begin{pmatrix}1&2\end{pmatrix} ≢ \begin{pmatrix}3&4\\1&2\end{pmatrix} ≢ 1,2,3,4 ≢ -2
\begin{pmatrix}6&8\\10&12\end{pmatrix}
≡ 2\begin{pmatrix}3&4\\5&6\end{pmatrix} ≢ -2\begin{pmatrix}3&4\\5&6\end{pmatrix}
≢ \begin{pmatrix}1&2\\3&4\end{pmatrix}
"""

SHAPES = r"""
[intervals]
[0,1) ≡ [0, 1.0) ≢ [0,1] ≢ (0,1) ≢ (0,1] ≢ [1,0) ≢ [0,2) ≢ 0,1 ≢ \{0,1\} ≢ [0,-1)
(-\infty,\infty) ≡ \mathbb{R} ≡ ℝ ≢ \mathbb{Z} ≢ (0,\infty) ≢ \emptyset ≢ [0,\infty)
[unions]
(-\infty,-8)\cup(8,\infty) ≢ (-\infty,-8]\cup[8,\infty) ≢ (-\infty,-8)\cap(8,\infty)
≢ (-\infty,8)\cup(8,\infty) ≢ (-\infty,-8) ≢ (-8,8) ≢ (-\infty,-8)\cup(8,\infty] ≢ (-\infty,-8),(9,\infty)
[0,1)\cup(1,2] ≡ [0,2]\setminus\{1\} ≢ [0,2] ≢ [0,2)\cup(1,2] ≢ [0,2]\setminus\{2\} ≢ (0,1)\cup(1,2]
[sets]
\emptyset ≡ \varnothing ≡ \{\} ≡ ∅ ≢ 0 ≢ \{0\} ≢ \{\emptyset\} ≢ \mathbb{R}
[tuples]
(1,2) ≡ (x,y)=(1,2) ≢ (2,1) ≢ (1,2,3) ≢ (1,3) ≢ (-1,2) ≢ (1,2] ≢ 12 ≢ 1.2 ≢ (1) ≢ \frac12
(3,\frac{\pi}{2}) ≡ (3,pi/2) ≡ (3, \pi/2) ≢ (3,\frac{\pi}{3}) ≢ (\frac{\pi}{2},3) ≢ (3,-\frac{\pi}{2})
≢ [3,\frac{\pi}{2}] ≢ (3,2) ≢ 3,\frac{\pi}{3}
((1,2),3) ≡ ((1, 2), 3) ≢ (1,(2,3)) ≢ (1,2,3)
[lists]
2,3,5 ≡ 2,3, and 5 ≢ 2,3,7 ≢ 2,3 ≢ 2,3,5,7 ≢ 235 ≢ 10
-12;-11;-10 ≡ -12,-11,-10 ≢ 12,11,10 ≢ -12,-11
[plus minus]
\pm 3 ≡ 3,-3 ≡ \{3,-3\} ≢ 3 ≢ -3 ≢ \pm 4 ≢ 3,3 ≢ 0 ≢ \pm 3i
x=\pm 3 ≡ 3,-3 ≢ x=3 ≢ x=9
[assignments]
a=1,b=2 ≡ b=2,a=1 ≢ a=2,b=1 ≢ 2,1 ≢ a=1,b=3 ≢ a=1 ≢ 1 ≢ a=1,c=2 ≢ b=1,a=2
x=1,y=-3 ≡ (x,y)=(1,-3) ≢ x=-3,y=1 ≢ x=1,y=3 ≢ (x,y)=(-3,1) ≢ -3 ≢ y=-3
[ratios]
3:4 ≢ 4:3 ≢ 3:5 ≢ 34 ≢ 3 ≢ (3,4) ≢ 3:4:5
1:2:3 ≢ 1:3:2 ≢ 3:2:1 ≢ 1:2 ≢ 1:23 ≢ 1,2,3
10:30 ≡ 10:30 ≢ 10:31 ≢ 1:30 ≢ 10 ≢ 30
12:05\text{ p.m.} ≢ 12:50\text{ p.m.} ≢ 12
[bases]
1011_2 ≡ (1011)_2 ≡ 01011_{\text{2}} ≡ 1011_{2} ≡ 1011_{ 2 } ≢ 1011_3 ≢ 1010_2 ≢ 1101_2 ≢ 10112 ≢ 1011_8
204_5 ≢ 2045 ≢ 204_6 ≢ 240_5 ≢ 20_5
[text]
\text{Evelyn} ≡ \text{Evelyn}. ≢ \text{Evenly} ≢ \text{Evely} ≢ \text{Carla} ≢ E ≢ \text{}
\text{on} ≢ \text{no} ≢ \text{in} ≢ \text{off} ≢ o+n
\text{even} ≡ \text{even} ≢ \text{odd} ≢ \text{never} ≢ \text{neither} ≢ even + odd
\text{Yes} ≢ \text{No} ≢ no ≢ y
\text{10 apples} ≡ 10 ≢ \text{11 apples} ≢ \text{apples} ≢ 1
[multiple choice]
\text{(C)} ≡ (C) ≡ C ≡ \text{C} ≢ (D) ≢ \text{(A)} ≢ B ≢ \text{E} ≢ (C,D) ≢ 3 ≢ \text{(CC)}
A ≢ B ≢ AB ≢ A,B ≢ \text{An}
"""

OTHERS = r"""
[absolute values of complex numbers]
|z|^2 ≡ |z|\cdot|z| ≡ |z^2| ≢ z^2 ≢ -|z|^2
|zw| ≢ zw ≢ |z+w| ≡ |z||w|
|z-3i|<2 ≡ 2>|z-3i| ≢ |z+3i|<2 ≢ |z-3i|\le 2
[near misses]
(\pm2,3) ≢ (2,3) ≢ (2,-3),(-2,3) ≢ (2,\pm3) ≢ (\pm2,\pm3)
x>1,x>2 ≢ x>2
42 ≢ 42\text{ k} ≢ 42k ≢ 42K ≢ 42 million ≢ 42\text{ hundred}
1011_2 ≢ (1011)_3 ≢ (1101)_2 ≢ 10110_2
\cos 13\text{ degrees} ≢ \cos 13 ≢ \cos 14^\circ
\begin{pmatrix}1\\2\end{pmatrix} ≢ \langle 2,1\rangle
\begin{pmatrix}7\\-2\end{pmatrix} ≢ (-2,7) ≢ \begin{pmatrix}7&-2\end{pmatrix}
\langle 7,-2\rangle ≢ (-2,7) ≢ [7,-2]
4,9,16 ≢ 4\text{, }9
4e^{i\pi/3} ≢ 4\operatorname{cis} 30^\circ
\sin x ≡ \mathrm{sin} x ≢ \mathrm{cos} x
37^\circ\text{C} ≢ 37\text{ degrees Fahrenheit}
1234567 ≢ 1 234/567
1 234/567 ≢ 1234/567
12\frac{\text{m}}{\text{s}^2} ≢ 12\text{ m/s} ≢ 12\text{ s/m}
500\text{ nm} ≢ 500\text{ mm} ≢ 5\text{ nm}
60\text{ km}/\text{h} ≢ 60\text{ m}/\text{s} ≢ 60\text{ km}
(x,y)=(t,5t),\ t\in\mathbb{R} ≢ (y,x)=(t,5t),\ t\in\mathbb{R}
n>2,\ n\in\mathbb{R} ≢ n\ge3,\ n\in\mathbb{R}
50\text{ Hz} ≢ 50\text{ s}
[degrees of multiples]
90^\circ ≡ \frac{\pi}{2} ≡ 90 ≢ \frac{\pi}{2}^\circ ≢ \arcsin 2
\arctan\frac{1}{\sqrt3} ≡ 30^\circ ≢ 60^\circ ≢ 30
[empty intervals]
-2<x<1\text{ and }x>3 ≡ \emptyset ≢ (3,-4) ≢ (3,3) ≢ [4,3]
x<1\text{ and }x>2 ≡ \{\}
[partial derivatives as names]
f_x=2x ≢ f_y=2y ≢ f_x=2y
[names of alternatives]
x=-2\text{ or }x=5 ≡ x_1=-2,x_2=5 ≡ -2,5 ≡ x=5,-2 ≢ x=-2,y=5 ≢ y=-2\text{ or }y=5 ≢ x=-2\text{ or }x=-5
n=1,2 ≡ n\in\{1,2\} ≢ k=1,2
a=1\text{ or }b=2 ≡ b=2\text{ or }a=1 ≢ a=1\text{ and }b=2 ≢ a=1,b=2
[unicode]
\frac{3}{4} ≢ ½ ≢ ¼ ≢ 34
\sqrt{2} ≢ √3 ≢ 2√ ≢ 2²
8 ≡ ８ ≢ 23 ≢ 2₃ ≢ ³ ≢ 3²
x^{12} ≢ x¹2 ≢ x12 ≢ x₁₂
12 ≡ 1␢2 ≡ １２ ≢ 1 2 ≢ 1² ≢ 21
1\frac{1}{2} ≡ 1½ ≢ ½ ≢ 11/2
[latex wrappers]
x+1 ≡ $x+1$ ≡ \(x+1\) ≡ \[x+1\] ≢ x-1 ≢ x1 ≢ y+1 ≢ \boxed{x}+2 ≢ $x$ ≡ $$x+1$$
5 ≡ 5\text{ } ≢ 5\% 5 ≢ 5^5 ≢ 55 ≡ \fbox{5}
\frac{3}{4} ≡ \( \frac{3}{4} \) ≡ \frac{3}{4}$
[plain text]
3x^2-2x ≢ 3*x^2+2*x ≢ 3x*2-2x ≢ 3^2x-2x ≢ (3x)^2-2x ≡ x(3x-2)
\frac{\pi}{4} ≢ 4/pi ≢ pi*4 ≢ p*i/4 ≡ pi/4 ≡ 0.25*pi
-\frac{1}{3} ≡ 1/-3 ≢ 1/3 ≢ -1-3 ≢ 13
[broken latex]
\frac{1}{2} ≡ \\frac{1}{2} ≡ \frac{1}2 ≢ \frac{1}{} ≢ \frac{}{2} ≢ \frac ≢ } ≢ { ≢ \frac{1} ≢ \ ≢ frac
≡ \frac{1}{2}\
\sqrt{5} ≡ \\sqrt{5} ≢ \sqrt ≢ \sqrt{} ≢ 5\sqrt
5 ≢ = ≢ x= ≢ _ ≢ ^ ≢ , ≢ ; ≢ nan ≢ None ≢ \frac{5}{0} ≢ 5 5 ≢ 5i ≢ () ≢ [] ≢ \{\} ≢ & ≢ # ≢ \\ ≢ \text{}
≢ five six ≢ ?
(1,2) ≢ (1,) ≢ (,2) ≢ (,) ≢ ( ≢ (1,,2) ≢ (1 2)
[numbers]
\frac{7}{4} ≡ 1\frac34 or 7/4 ≢ \frac74\text{ or }1.57 ≢ \frac74 and 1.75 ≢ \frac74 or ≢ or \frac74
1{,}000{,}000 ≢ 1{,}000 ≢ 1,000,00
(-8)^{1/3} ≡ -2
[units]
9.8\text{ m/s}^2 ≡ 9.8\,\mathrm{m}/\mathrm{s}^2 ≢ 98 ≢ 8.9 ≡ 9.8 m/s^2 ≡ 9.8\ \text{m s}^{-2}
100^\circ\text{C} ≡ 100 ≡ 100^\circ C ≡ 100°C ≢ 10
20\text{ degrees Celsius} ≡ 20\text{ celsius} ≡ 20^\circ\text{C} ≢ 20\text{ degrees Fahrenheit}
15\text{ cm}^3 ≡ 15\text{ units}
50\% ≡ 50\text{%} ≢ 51\text{%}
\frac{5}{9}\text{ of the pizza} ≡ \frac59
8\text{ ways} ≡ 8 ≡ 8 ways
[trig]
\cos 2x ≡ 1-2\sin^2 x ≢ 1-\sin^2 x ≢ 2\cos x ≡ \cos^2 x-\sin^2 x ≡ 2\cos^2x-1
\sinh x ≡ \frac{e^x-e^{-x}}{2} ≢ \cosh x
[polynomials]
(n+1)! ≡ (n+1)n! ≢ n!+1
x' ≢ x
f(x+1) ≢ f(x)+1
f'(x) ≢ f(x)
[equations]
x=2, y=3, z=4 ≡ (x,y,z)=(2,3,4) ≢ (x,y,z)=(2,4,3)
[sets]
(-\infty,3)\cup(3,\infty) ≡ \mathbb{R}\setminus\{3\} ≢ \mathbb{R}
[tuples]
\langle 1,2\rangle ≢ \langle 2,1\rangle
(x,y)=(3,-1) ≡ x=3,y=-1 ≡ x=3\text{ and }y=-1 ≢ x=-1,y=3
[text]
\text{3:30 PM} ≡ 3:30\text{ PM} ≡ 15:30 ≢ 3:30\text{ AM} ≢ 4:30\text{ PM}
15:30 ≢ 3:30
[mixed]
3\sqrt[3]{4} ≢ 3\sqrt{4} ≢ \sqrt[3]{12} ≡ \sqrt[3]{108} ≡ 3\cdot 4^{1/3}
a^{m+n} ≡ a^m a^n ≢ a^{mn}
(-5,-2)\cup(0,3) ≢ (-5,-2)\cup(0,3] ≢ (-5,3) ≢ (-5,-2),(0,4)
DEF_{16} ≢ DEE_{16}
ax+by=c ≡ ax+by-c=0 ≢ ax-by=c
x>0,y>0 ≢ x>0
\triangle ABC ≢ \triangle ABD
\vec{a}\times\vec{b} ≢ \vec{b}\times\vec{a}
\mathbf{a}\times\mathbf{b} ≢ \mathbf{b}\times\mathbf{a}
\vec{a}+\vec{b} ≡ \vec{b}+\vec{a} ≢ \vec{a}-\vec{b}
\hat{i}+2\hat{j} ≡ 2\hat{j}+\hat{i} ≢ \hat{j}+2\hat{i}
8:15\text{ a.m.} ≡ 8:15 \text{ AM} ≢ 8:15\text{ p.m.} ≢ 8:51\text{ a.m.}
[exact decimals]
\frac{1}{2} ≢ 0.5000001
x<1\text{ and }x>2 ≡ \emptyset ≢ x<1, x>2
x=1\text{ or }x>2 ≢ x=1\text{ and }x>2
[named values]
1=x ≢ 1=1
x=1 ≢ 1=1
x=5 ≢ 2+3=5
[domains of roots and logarithms]
\sqrt{a/b} ≡ \sqrt a/\sqrt b ≢ \sqrt b/\sqrt a ≢ \sqrt{ab}
\sqrt{b/a} ≡ \sqrt b/\sqrt a
\log_a b ≢ \log_b a ≡ \frac{1}{\log_b a} ≡ \frac{\ln b}{\ln a}
[signs and names]
(-1)^n ≡ (-1)^{n+4} ≢ 1 ≢ (-1)^{n+1}
(-3)^k ≢ 3^k ≢ -3^k
\angle PQR=40^\circ ≡ 40^\circ ≢ \angle PRQ=40^\circ
\alpha=4 ≡ 3\alpha=12 ≢ 3\alpha=4
18 ≢ g(18)=4 ≢ x(4)=18 ≢ g(x-4)=18
(5,6),(6,5) ≡ (a,b)\in\{(6,5),(5,6)\} ≢ (a,b)\in\{(5,6)\}
[named tuples]
(x,y)=(2,5) ≢ (y,x)=(2,5) ≢ x=5,y=2 ≢ (5,2) ≢ (x,y)=(2,5,0) ≢ [2,5] ≢ 2<x<5
(m,n)=(1,4),(3,2) ≡ (1,4),(3,2) ≡ (m,n)=(3,2),(1,4) ≢ (n,m)=(1,4),(3,2) ≢ (4,1),(2,3) ≢ (m,n)=(1,4)
≢ (n,m)\in\{(1,4),(3,2)\} ≡ (m,n)\in\{(1,4),(3,2)\}
[powers of units]
12\text{ square units} ≢ 12\text{ cubic units} ≢ 12\text{ units}^3 ≢ 12\text{ cm}^3 ≢ 12\text{ cm}
≢ 12\text{ hours}
8\text{ cubic units} ≡ 8\text{ m}^3 ≢ 8\text{ square units} ≢ 8\text{ m}^2 ≡ 8\text{ units}^3
[currencies]
\$7.50 ≡ \text{\$}7.5 ≡ 7.50\text{ dollars} ≢ €7.50 ≢ £7.50 ≢ \text{€}7.50 ≢ 7.50\text{ euros} ≢ ₹7.50
€20 ≢ £20 ≢ \$20 ≡ 20\text{ euros}
[names joined by and]
\text{Ann and Bob} ≡ \text{Bob and Ann} ≡ \text{Bob} \text{ and Ann} ≢ \text{Ann or Bob}
≢ \text{Ann and Rob} ≢ \text{Ann}
\text{none} ≢ 0 ≢ \text{one} ≡ \emptyset
[letters as units]
5\text{ m} ≡ 5.0 m ≡ 5 m ≢ 5 s ≢ 5 m^2 ≢ 6 m ≢ 5 n ≢ 5 m s
[dates]
2018 ≢ 2024-05-01
[fractions of two letters]
\frac{k}{m} ≡ \frac km ≢ \frac mk ≢ km ≢ \frac{km}{1}
\sqrt{\frac km} ≡ \sqrt{k/m} ≢ \sqrt{km}
\frac{c}{m} ≢ \frac mc ≡ \frac cm
[spaces after commas]
40,320 ≡ 40{,}320 ≢ 40, 320 ≢ 40;320
[conditions of names]
x\in[0,1] ≢ y\in[0,1] ≢ 0\le y\le1 ≢ 0\le 2y\le2 ≡ 0\le x\le1
x\in\{1,2\} ≢ y\in\{1,2\} ≢ y=1\text{ or }y=2 ≡ x=1\text{ or }x=2
x\in(-2,2) ≢ |y|<2
x\in[0,1],\ y\in[0,2] ≡ y\in[0,2],\ x\in[0,1] ≢ x\in[0,2],\ y\in[0,1] ≢ x\in[0,1]
1<x<4,\ x\in\mathbb{Z} ≡ x\in\mathbb{Z},\ 1<x<4 ≢ (1,4) ≢ 1<x<4 ≢ 1,2,3
x>1,\ x<4,\ x\in\mathbb{R} ≡ (1,4) ≢ \{2,3\}
x>3 ≢ x>3\text{ prime} ≢ x>3\text{ integer} ≢ x>3\text{ even}
[values of one letter]
\lambda=2,9 ≢ \mu_1=9, \mu_2=2 ≢ \lambda_1=9, \lambda_2=9 ≢ \lambda_1=9, \lambda_2=2, \lambda_3=2
[excluded values]
[-2,0)\cup(0,3)\cup(3,\infty) ≡ x\ge-2, x\ne0, x\ne3 ≢ x\ge-2,\ x\ne0,-3 ≢ x>-2,\ x\ne0,3 ≢ x\ge-2,\ x\ne0
≢ x\ge-2,0,3
(1,2)\cup(2,5) ≡ 1<x<5,\ x\ne2 ≢ 1<x<5,\ x\ne3 ≢ 1\le x<5,\ x\ne2
[kinds]
2x + y < 4 ≢ -x - y/2 < -2
x \ne 1 ≡ \mathbb{R} \setminus \{1\} ≢ x \ne 2
4:30 p.m. ≡ 4:30 ≢ 4:30 a.m. ≢ 4:30 a.m.
18\text{ hours} ≡ 18\text{ hrs} ≢ 18\text{ minutes}
|x| < 3 ≢ (-\infty, 3)
(-\infty, 8) \cup (9, \infty) ≢ (-\infty, 8) \cup (9, \infty]
\begin{pmatrix} 1 \end{pmatrix} ≢ \begin{vmatrix} 1 \end{vmatrix}
52_8 ≢ 52_9 ≢ 52
A3_{16} ≢ A3_{15} ≢ 3A_{16} ≢ B3_{16}
on ≢ no
75^\circ ≢ 75\%
5 million ≢ 5
5 ≢ 5 or more
p = 5, q = 2 and p = 7, q = 3 ≢ p = 5, q = 3 and p = 7, q = 2
[guards]
x=\pm\frac{\pi}{3}+2k\pi,k\in\mathbb{Z} ≢ x=\pm\frac{\pi}{3}+k\pi,k\in\mathbb{Z}
6\text{ feet} ≢ 6\text{ inches}
1+4=5 ≡ 2+3=5
x>2.5\text{ cm} ≢ x>2.5\text{ m}
\lfloor x \rfloor ≡ \left\lfloor x\right\rfloor
B^{-1}A^{-1} ≢ A^{-1}B^{-1}
2f(x) ≢ f(2x)
0.05 ≡ 5\% ≢ 0.05\% ≢ 50\%
1 ≢ 1\% ≢ 0.01
20 ≡ 20\% ≡ 2000\% ≢ 0.2\%
0.5\% ≡ 0.5 ≢ 50\%
[points and intervals]
(2, 3) ≡ 2 < x < 3 ≡ x = 2, y = 3 ≢ 2, 3
(-1, 4) ≡ -1 < x < 4 ≡ x = -1, y = 4 ≢ -1, 4
2, 3 ≢ (2, 3) ≢ x = 2, y = 3
\{1, 2\} ≢ x = 1, y = 2
(3, -4) ≡ 3, -4 ≢ -4, 3
(1, 2, 3) ≡ 1, 2, 3 ≢ 3, 2, 1
(x, y) = (1, 2) ≡ 1, 2 ≢ 2, 1
AB = 1, BC = 2 ≡ 1, 2 ≡ (1, 2) ≢ 2, 1
[units that are not converted]
10 cm ≢ 10 m ≢ 0.1 m
12 square units ≡ 12 m^2 ≢ 12 m^3
60\text{ mph} ≡ 60 miles per hour
\$5 ≢ €5
21\text{ dogs} ≡ 21 ≢ 21 cm ≢ 21\text{ cats}
"""
