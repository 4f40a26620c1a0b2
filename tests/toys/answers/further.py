"""Further labelled pairs of all kinds; `pairs.py` says how to read the table."""

FURTHER = r"""
[numbers]
1{,}000{,}000 ≡ 10^6 ≡ 1,000,000 ≡ 1000000 ≟ 1 000 000 ≢ 1{,}000 ≢ 1,000,00
\frac{1}{2} ≡ 0.5 ≡ 50\% ≡ .5 ≡ 1/2 ≡ \frac{1.0}{2} ≡ \frac{0.5}{1} ≡ 2^{-1} ≢ 5 ≢ 2 ≟ \frac{1}{2}\% ≢ 0.05
3.14159 ≢ \pi+1 ≢ 3.24159
17 ≟ \text{seventeen (17)} ≡ 17\text{ years old} ≡ 17 \text{ students} ≡ $17$ students
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
0.333\ldots ≟ \frac13
1.\overline{3} ≡ 4/3
0.12\overline{3} ≡ \frac{37}{300}
3,14 ≢ 314
1.000.000 ≢ 1
12\frac{3}{4}\text{ feet} ≡ 12.75 ≡ 12.75\text{ ft} ≡ \frac{51}{4}
5'6" ≢ 56

[currency]
\$1.50 ≡ 1.5 ≡ \frac{3}{2} ≡ \$ 1.50 ≡ 1.50 \text{ dollars} ≢ 150 ≢ 15
75\text{ cents} ≡ 75 ≡ 75 cents ≡ 75¢ ≢ 7.5
£3 ≡ 3 ≡ \pounds 3 ≢ 4
\text{Rs. }500 ≡ 500
500\text{ rupees} ≡ 500

[units]
9.8\text{ m/s}^2 ≡ 9.8 ≡ 9.8\,\mathrm{m}/\mathrm{s}^2 ≡ 9.8 m/s^2 ≡ 9.8\ \text{m s}^{-2} ≢ 98 ≢ 8.9
15\text{ mph} ≡ 15 ≡ 15 mph ≡ 15\text{ miles per hour} ≢ 51
3\text{ hours} ≢ 2\text{ hours} ≡ 3\text{ hr} ≟ 3 h
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
\ln(xy) ≟ \ln x+\ln y
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
\overline{3+4i} ≟ 3-4i
2e^{i\pi/6} ≡ \sqrt3+i
-2\pm i ≡ -2+i,-2-i ≢ -2+i
\pm i\sqrt{2} ≡ \pm\sqrt{2}i ≡ \pm \sqrt{-2} ≢ \pm\sqrt2
a+bi ≡ bi+a ≢ a-bi
\operatorname{cis} 90^\circ ≟ i

[polynomials]
\frac{x^2-1}{x-1} ≟ x+1
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
xy=1 ≡ yx=1 ≢ xy=-1 ≟ y=\frac1x
y = 3 ≡ 3 ≢ -3
S_n = n^2 ≡ n^2 ≢ n
\lambda = 2 ≡ 2

[inequalities]
x\ge 3 ≡ 3\le x ≡ [3,\infty) ≡ x \in [3, \infty) ≡ x\geqslant 3 ≡ x≥3 ≢ x>3 ≢ (3,\infty)
-3<x<3 ≡ |x|<3 ≡ (-3,3) ≢ |x|\le 3
x<-2\text{ or }x>2 ≡ (-\infty,-2)\cup(2,\infty) ≡ |x|>2 ≡ x>2\text{ or }x<-2 ≢ -2<x<2 ≢ x<-2
x\le 1\text{ or }x\ge 4 ≡ (-\infty,1]\cup[4,\infty) ≢ (-\infty,1)\cup(4,\infty) ≢ 1\le x\le 4
1\le x\le 5 ≡ x\ge 1\text{ and }x\le 5 ≡ [1,5]
k>\frac{1}{4} ≡ k > 0.25 ≡ \frac14<k ≢ k<\frac14
a<b<c ≡ c>b>a ≢ a<c<b
n\ge 2 ≢ n>2
x\neq 1,2 ≟ x\ne1, x\ne 2
0<x ≡ x>0 ≡ (0,\infty) ≢ x<0
2x+3>7 ≡ x>2

[sets]
\{x\mid x>0\} ≡ (0,\infty) ≡ x>0 ≢ x\ge 0
\{x : x \ne 0\} ≟ x\ne 0
(-\infty,3)\cup(3,\infty) ≡ \mathbb{R}\setminus\{3\} ≢ \mathbb{R}
\{0\}\cup[1,2] ≡ [1,2]\cup\{0\} ≢ [0,2]
\{2,4,6,8\} ≡ \{8,6,4,2\} ≡ 2,4,6,8 ≢ \{2,4,6\}
\{a,b\} ≡ \{b,a\} ≢ \{a,c\}
[2,3]\cup[3,4] ≡ [2,4]
(0,1)\cup(1,2) ≢ (0,2)
[0,5]\cap[3,8] ≡ [3,5]
\{1\} ≟ 1
\emptyset ≡ \text{empty set} ≟ \text{no solution}
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
\text{The hyperbola} ≟ \text{hyperbola}
\text{II} ≢ \text{III}
\text{True} ≡ True ≢ False
\text{(A) and (C)} ≢ \text{(A)}
\text{Team 3} ≢ \text{Team 4}
\text{Alice}, \text{Bob} ≢ \text{Alice}
\text{3:30 PM} ≡ 3:30\text{ PM} ≢ 3:30\text{ AM} ≢ 4:30\text{ PM}
\text{June 5} ≢ \text{June 6}

[multiple choice]
\mathbf{(B)}\ 12 ≟ 12
(E) ≡ E ≡ \boxed{E} ≢ D
\text{B.} ≡ B ≢ C
\textbf{(A) } 5 ≢ \textbf{(B) } 5

[matrices]
\begin{pmatrix}1\\2\\3\end{pmatrix} ≢ \begin{pmatrix}1&2&3\end{pmatrix}
≢ \begin{pmatrix}1\\3\\2\end{pmatrix} ≡ \begin{bmatrix}1\\2\\3\end{bmatrix}
≡ \begin{pmatrix}1\\ 2\\ 3\\ \end{pmatrix}
\begin{pmatrix}a&b\\c&d\end{pmatrix} ≢ \begin{pmatrix}d&b\\c&a\end{pmatrix}
\begin{vmatrix}1&2\\3&4\end{vmatrix} ≡ -2
\frac{1}{2}\begin{pmatrix}2&4\\6&8\end{pmatrix} ≡ \begin{pmatrix}1&2\\3&4\end{pmatrix}
-\begin{pmatrix}1\\2\end{pmatrix} ≡ \begin{pmatrix}-1\\-2\end{pmatrix}
\begin{pmatrix}1&0\\0&1\end{pmatrix} ≢ \begin{pmatrix}0&1\\1&0\end{pmatrix} ≟ I
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
\frac{7}{2}\text{ or }3.5 ≟ 3.5
4\sqrt{3}\approx 6.93 ≡ 4\sqrt3 ≢ 6
2^{\circ} ≡ 2
12_{\text{ten}} ≟ 12
\boxed{12} ≡ 12
\text{Answer: }12 ≟ 12
\text{The answer is }12 ≟ 12
x=12. ≡ 12
12\ \text{and}\ 13 ≡ 12,13 ≢ 12
1:2 ≡ 1 : 2 ≟ \frac{1}{2} ≢ 2:1
1 \text{ to } 2 ≟ 1:2
"""
