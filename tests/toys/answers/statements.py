"""Labelled pairs of parts, approximations, named sets and matrices, words; `pairs.py` says how to read it."""

STATEMENTS = r"""
[parts with labels]
(a) 4, (b) 9 ≡ \text{(a) }4\text{ (b) }9 ≡ (a) 4; (b) 9 ≡ (a) 2^2 \text{ and } (b) 9 ≡ 4, 9 ≢ (a) 9, (b) 4
≢ \text{(a) }9\text{ (b) }4 ≢ 9, 4 ≢ (a) 4 ≢ (a) 4, (b) 9, (c) 1 ≢ 36ab
\text{(i) }x+1\text{ (ii) }x-1 ≡ (i) 1+x (ii) x-1 ≢ (i) x-1 (ii) x+1 ≢ \text{(a) }x+1\text{ (b) }x-1
(1) 6 (2) 7 ≡ (1) 6, (2) 7 ≢ (1) 7 (2) 6 ≢ 42
(A) 6 (B) 7 ≢ (A) 7 (B) 6
(a)(b) ≡ ab ≡ (b)(a)

[approximations]
\frac{5}{8} ≡ \frac58\approx 0.6 ≡ \frac58\approx 0.63 ≡ \frac58 \approx 62.5\% ≢ \frac58\approx 0.4
≢ \frac58\approx 6.25
\frac16 ≡ \frac16\approx 0.2 ≡ x=\frac16\approx 0.17 ≢ \frac16\approx 0.6 ≢ x=\frac16\approx 0.83
\arctan\frac34 ≡ \arctan\frac34\approx 36.87^\circ ≢ \arctan\frac34\approx 2
15\pi ≡ 15\pi\approx 47.1\text{ cm} ≡ 15\pi\approx 47 ≢ 15\pi\approx 15

x\approx 2.236 ≡ 2.236 ≡ x=2.236 ≢ x ≢ x\approx 5.1 ≢ -2.236
2x\approx 5 ≡ 2x=5 ≢ 2x\approx 7 ≢ 2x
A=\pi r^2\approx 78.5 ≡ 78.5 ≢ \pi r^2 ≢ A=\pi r^2\approx 79.5
\frac74 ≡ \frac74\text{ or }1.75 ≡ 1.75 or 7/4 ≢ \frac74\text{ or }1.57 ≢ \frac74\text{ or }-\frac74
12.57 ≡ about 12.57 ≡ \text{about }12.57 ≡ \text{approximately }12.57 ≢ about 12.75

[conditions of names]
x=2,\ y=5 ≡ (2,5) ≡ \langle 2,5\rangle ≢ [2,5] ≢ (2,5]
x\in[0,1] ≡ [0,1] ≡ 0\le x\le1 ≢ y\in[0,1] ≢ 0\le y\le1 ≢ 0\le 2y\le2
x\in\{1,2\} ≡ x=1\text{ or }x=2 ≡ \{1,2\} ≢ y\in\{1,2\} ≢ y=1\text{ or }y=2
(2t+1,t),\ t\in\mathbb{R} ≡ (2s+1,s) \text{ for } s\in\mathbb{R} ≡ \{(2s+1,s):s\in\mathbb{R}\}
≢ (2s-1,s),\ s\in\mathbb{R} ≢ (t,2t+1),\ t\in\mathbb{R} ≢ (2t+1,t),\ t\in\mathbb{Z} ≢ 2t+1,\ t\in\mathbb{R}
x\in(-2,2) ≡ |x|<2 ≢ |y|<2
x\in[0,1],\ y\in[0,2] ≡ y\in[0,2],\ x\in[0,1] ≢ x\in[0,2],\ y\in[0,1] ≢ x\in[0,1]
1<x<4,\ x\in\mathbb{Z} ≡ 2,3 ≡ x\in\{2,3\} ≡ x\in\mathbb{Z},\ 1<x<4 ≢ (1,4) ≢ 1<x<4 ≢ 1,2,3
x>1,\ x<4,\ x\in\mathbb{R} ≡ (1,4) ≢ \{2,3\}
x\ne-1,0,1 ≡ x\neq 0,\pm1 ≡ \mathbb{R}\setminus\{-1,0,1\} ≢ x\ne\pm1 ≢ x=-1,0,1 ≢ -1,0,1
x>3 ≡ x>3\text{ cm} ≢ x>3\text{ prime} ≢ x>3\text{ integer} ≢ x>3\text{ even}
\text{A and C} ≡ C and A ≡ A, C ≡ A and C ≢ A or C ≢ \text{A and B} ≢ C
a\text{ and }b ≡ b and a ≢ b\text{ and }c

e ≡ e\approx 2.718 ≢ 2.718
\pi ≡ \pi\approx 3.14 ≢ 3.14
f(3)\approx 2.1 ≡ 2.1 ≢ f(3)\approx 5

[units of named values]
t=4\text{ seconds} ≡ t=4 ≡ 4\text{ s} ≢ t=4\text{ minutes} ≢ t=4\text{ m}
x=20\text{ cm} ≡ x=0.2\text{ m} ≢ x=20\text{ m} ≢ x=20\text{ cm}^2
f(t)=3\text{ m/s} ≡ 3\text{ m/s} ≢ f(t)=3\text{ km/h}

x>2.5\text{ cm} ≡ x>2.5 ≢ x>2.5\text{ m} ≢ x>2.5\text{ hours} ≢ x\ge 2.5\text{ cm}
1<x<4\text{ kg} ≡ (1,4) ≢ 1<x<4\text{ g}
a+b=5\text{ cm} ≡ a+b=5 ≡ b+a=5\text{ cm} ≢ a+b=5\text{ m} ≢ a-b=5\text{ cm}

\$50 ≡ USD 50 ≡ 50 dollars ≢ EUR 50 ≢ €50 ≢ Rs. 50
€50 ≡ EUR 50 ≡ 50 ≢ USD 50
\$5\text{ profit} ≡ 5 ≡ \$5 ≢ \$5\text{ loss}
3\text{ years ago} ≡ 3\text{ years} ≡ 3\text{ years earlier} ≢ 3\text{ years later}
4\text{ more apples} ≡ 4 ≡ 4\text{ apples} ≢ 4\text{ fewer apples}

60\text{ km}/\text{h} ≡ 60 ≡ 60\text{ km/h} ≢ 60\text{ m}/\text{s} ≢ 60\text{ km}
3x/m ≢ 3x/\text{s} ≢ 3x
3x/\text{m} ≢ 3x
-110_2 ≡ (-110)_2 ≡ -(110)_2 ≢ 110_2 ≢ (110)_2
x^*=3 ≡ 3 ≡ x^{*}=3 ≢ x^*=4 ≢ y^*=3 ≢ x=3
\|\mathbf{v}\|=5 ≡ 5 ≢ \|\mathbf{v}\|=6 ≢ \mathbf{v}=5

[names of alternatives]
2,-7 ≡ x=2\text{ or }x=-7 ≡ x=2, x=-7 ≢ x=2\text{ or }y=-7 ≢ a=2\text{ or }b=-7
\{2,-7\} ≡ x=2\text{ or }x=-7 ≢ x=2\text{ or }y=-7
x=\pm 6 ≡ x_1=6, x_2=-6 ≡ x_1=-6, x_2=6 ≢ x_1=6, x_2=6 ≢ x=6, y=-6 ≢ y_1=6, y_2=-6

[absolute values of complex numbers]
|z-3i|=2 ≡ |3i-z|=2 ≡ 2=|z-3i| ≡ 2|z-3i|=4 ≢ |z+3i|=2 ≢ |z-3i|=4 ≢ |z-3|=2
|z-3i|<2 ≡ 2>|z-3i| ≢ |z+3i|<2 ≢ |z-3i|\le 2
|z-1|=|z-i| ≡ |z-i|=|z-1| ≢ |z+1|=|z+i| ≢ |z-1|=|z+i|
|z-1|<3 ≢ -2<z<4
|z|<5 ≡ 5>|z| ≢ -5<z<5
|x|<5 ≡ 5>|x| ≡ -5<x<5

[named sets and matrices]
A\cap B=\{1,5\} ≡ \{5,1\} ≡ A \cap B = \{5,1\} ≢ A\cup B=\{1,5\} ≢ \{1\} ≢ B\cap C=\{1,5\}
x\cap y=3 ≢ 3
A\setminus B=\{7\} ≡ \{7\} ≢ B\setminus A=\{7\}
\begin{pmatrix}x\\y\end{pmatrix}=\begin{pmatrix}3\\-1\end{pmatrix} ≡ x=3, y=-1 ≡ (3,-1)
≡ \begin{bmatrix}3\\-1\end{bmatrix} ≢ \begin{pmatrix}y\\x\end{pmatrix}=\begin{pmatrix}3\\-1\end{pmatrix}
≢ (-1,3)
n(A\cup B)=12 ≡ 12 ≢ n(A\cap B)=12
A^{-1}=\begin{pmatrix}0&1\\2&3\end{pmatrix} ≡ \begin{pmatrix}0&1\\2&3\end{pmatrix}
≡ A^{-1} = \begin{bmatrix} 0 & 1 \\ 2 & 3 \end{bmatrix} ≢ A=\begin{pmatrix}0&1\\2&3\end{pmatrix}
≢ A^{-1}=\begin{pmatrix}0&1\\3&2\end{pmatrix} ≢ A^T=\begin{pmatrix}0&1\\2&3\end{pmatrix}
2A-B=\begin{pmatrix}0&1\\2&3\end{pmatrix} ≡ \begin{pmatrix}0&1\\2&3\end{pmatrix}
≢ A-2B=\begin{pmatrix}0&1\\2&3\end{pmatrix}
\mathbb{Z} ≡ \{k:k\in\mathbb{Z}\} ≢ \{2k:k\in\mathbb{Z}\} ≢ \{k:k\in\mathbb{N}\}
\mathbb{Q} ≡ \{q \mid q\in\mathbb{Q}\} ≢ \{q^2 \mid q\in\mathbb{Q}\} ≢ \{q \mid q\in\mathbb{Q}, q>0\}
E[X]=\frac52 ≡ \mathbb{E}[X]=2.5 ≡ \mathbb{E}(X)=2.5 ≢ \mathbb{P}(X)=2.5
\frac{\partial f}{\partial x}=2y ≡ f_x=2y ≡ \frac{\partial f}{\partial x} = y+y ≢ f_y=2y
≢ \frac{\partial f}{\partial y}=2y

[curves with a constant]
x^2-y^2=C ≡ x^2-y^2=c ≡ C=x^2-y^2 ≡ 2x^2-2y^2=K ≡ y^2-x^2=C ≢ x^2+y^2=C ≢ x^2-y^2=4 ≢ x^2-y^2=C^2
≢ x-y=C
\ln|2x|+C ≡ \ln|x|+c ≢ \ln x+C ≢ \ln|x+1|+C
\ln x+C ≡ \ln 3x+c ≢ \ln|x|+C
\ln|y|=x^2+C ≡ \ln|y|=x^2+c ≡ \ln|y|=K+x^2 ≢ \ln|y|=x^2 ≢ \ln|y|=x+C ≢ \ln|x|=y^2+C
a+b=c ≢ a+b=C ≢ 2a+2b=c ≢ a-b=c
x+y=c ≢ 3x+3y=c

[chains of inequalities]
|x-4|<7 ≡ -7<x-4<7 ≡ -3<x<11 ≢ -7\le x-4\le 7 ≢ -7<x+4<7
-5\le 2x+1<7 ≡ [-3,3) ≡ -3\le x<3 ≢ (-3,3) ≢ [-3,3] ≢ -5\le 2x-1<7
1<x^2<4 ≡ (-2,-1)\cup(1,2) ≢ (1,2) ≢ 1\le x^2\le 4

0<|x-1|<2 ≡ (-1,1)\cup(1,3) ≢ (-1,3) ≢ |x-1|<2
x\ne1 ≡ |x-1|>0 ≢ |x-1|\ge0 ≢ |x+1|>0

[short words]
12\text{ p.m.} ≡ \text{noon} ≡ Noon ≢ midnight ≢ 12\text{ a.m.}
12\text{ a.m.} ≡ \text{midnight} ≡ Midnight ≢ noon
\text{diverges} ≡ The series diverges. ≡ \text{the integral diverges} ≡ The sequence diverges
≢ the series converges ≢ the test diverges
\text{does not exist} ≡ The limit does not exist ≡ \text{DNE} ≢ The limit does exist
\text{parabola} ≡ a parabola ≡ A parabola. ≡ The parabola ≢ a circle ≢ not a parabola
\emptyset ≡ empty set ≡ the empty set ≢ set
12 ≡ \text{exactly }12 ≡ \text{Total: }12 ≡ Answer = 12 ≢ \text{not exactly }12 ≢ \text{Total: }21
\text{reject }H_0 ≡ Reject H_0 ≢ accept H_0

\frac12 ≡ \text{half} ≡ one half ≢ \text{double} ≢ two halves
1000000 ≡ \text{one million} ≡ 1 million ≢ \text{one billion} ≢ \text{one thousand}
2000305 ≡ \text{two million three hundred five} ≢ \text{two million three hundred fifty}
D ≡ \text{choice (D)} ≡ option D ≡ Option D. ≢ \text{choice (B)}
AB=5 ≡ \overline{AB}=5 ≢ \overline{CD}=5
x=5 ≡ \therefore x=5 ≢ \overline{x}=5
a and bob ≡ bob and a ≢ bob
\text{store B} ≡ Store B ≢ Store A ≢ \text{store}
125 ≡ one hundred and twenty-five ≡ one hundred twenty-five ≢ one hundred and five ≢ one hundred, twenty
3:1 ≡ 3 to 1 ≡ 3\text{ to }1 ≢ 1 to 3 ≢ 31
8 by 3 ≢ 3 by 8 ≢ 24 ≢ 8
\frac25 ≡ 2 out of 5 ≢ 5 out of 2 ≢ 2
45\text{ minutes} ≡ 3/4 of an hour ≢ 4/3 of an hour ≢ 3/4 of a minute
\varphi(60)=16 ≡ 16 ≡ \phi(60)=16 ≢ \phi(16)=60 ≢ \sigma(60)=16

[signs of plain text]
120 ≡ 10C3 ≡ \binom{10}{3} ≢ 10C4 ≢ 10C3_{16} ≢ 1003
\cos 13^\circ ≡ \cos{13\text{ degrees}} ≡ \cos(13\text{ degrees}) ≢ \cos 13
$18 ≡ 18 ≡ \$18 ≡ $18.00 ≢ 18 cents ≢ 18 euros ≢ not $18
ax+by=3 ≡ by+ax=3 ≢ ax-by=3
(-\infty,-1]\cup[4,\infty) ≡ (-inf, -1] U [4, inf) ≡ (−∞, −1] ∪ [4, ∞) ≢ (-inf, -1) U (4, inf) ≢ (-inf, -1]
\sqrt[3]{5} ≡ ∛5 ≡ ∛{5} ≢ √5 ≢ ∜5 ≢ 3\sqrt{5}
\varepsilon/3 ≡ \epsilon/3 ≢ e/3 ≢ \epsilon/2
\varphi-1 ≡ \phi-1 ≢ \phi
mgh ≡ mg h ≢ mg
\frac{mg}{k} ≡ mg/k ≢ m/gk ≢ mg
70\text{ inches} ≡ 5'10" ≡ 5'10'' ≢ 5'11" ≢ 10'5" ≢ 5'
\frac23\text{ cup} ≡ 2/3 of a cup ≢ 2/3 of a teaspoon ≢ 2 of 3 cups
30^\circ 15' ≡ 30 degrees 15 minutes ≡ 30.25^\circ ≢ 30 degrees 51 minutes ≢ 30.15^\circ
5\text{ C} ≡ 5 ≢ 5\text{ V}

[units in upright type]
0.5\mathrm{~kg} ≡ 0.5\text{~kg} ≡ 500\text{ g} ≡ 0.50\ \mathrm{kg} ≡ 0.5 ≢ 500\text{ kg} ≢ 0.5\mathrm{~g}
12\,\text{N}\cdot\text{m} ≡ 12\mathrm{~N\,m} ≡ 12\mathrm{~N\cdot m} ≡ 12 ≢ 12\text{ N}
3.0\mathrm{~A} ≡ 3000\text{ mA} ≡ 3\text{ amperes} ≡ 3 ≢ 3\text{ V} ≢ 3\text{ mA}
2\mathrm{~T} ≡ 2\text{ tesla} ≢ 2\mathrm{~A}
2500\mathrm{~m} ≡ 2.5\mathrm{~km} ≢ 2.5\mathrm{~m}
1000\text{ kg/m}^3 ≡ 1000\ \mathrm{kg}\,\mathrm{m}^{-3} ≢ 1000\ \mathrm{kg}\,\mathrm{m}^{3}
298\text{ K} ≡ 298 ≡ 298\,\mathrm{K} ≡ 298\text{ kelvin} ≢ 298^\circ\text{C} ≢ 298\text{ A}
300 ≢ 300\text{K} ≢ 300K ≢ \$300\text{K}
4.2\mathrm{~J\,kg^{-1}\,K^{-1}} ≡ 4.2\text{ J/(kg K)} ≡ 4.2\text{~J/(kg\,K)} ≡ 4.2 ≢ 4.2\mathrm{~J\,kg^{-1}}
2\mathrm{A} ≡ 2A ≢ 2\text{ amperes}
3\text{:}45\text{ p.m.} ≡ 15:45 ≢ 3:54 p.m.
"""
