"""Labelled pairs of answers with a shape, and of ways of writing; `pairs.py` says how to read the tables."""

SHAPES = r"""
[intervals]
[0,1) ≡ \left[0,1\right) ≡ [ 0 , 1 ) ≡ [0, 1.0) ≡ [0,\frac22) ≢ [0,1] ≢ (0,1) ≢ (0,1] ≢ [1,0) ≢ [0,2) ≢ 0,1
≢ \{0,1\} ≢ [0,-1)
(-\infty,2] ≡ (-\infty, 2] ≡ \left(-\infty,2\right] ≡ (−∞,2] ≡ (-infinity, 2] ≢ (-\infty,2) ≢ [-\infty,2)
≢ [2,\infty) ≢ (\infty,2] ≢ (-\infty,-2] ≢ 2
\left(\frac{3}{5},\frac{8}{3}\right] ≡ (0.6, 8/3] ≡ (3/5,8/3] ≢ [3/5,8/3) ≢ (3/5,8/3) ≢ (5/3,3/8]
(-\infty,\infty) ≡ \mathbb{R} ≡ (-\infty,+\infty) ≡ ℝ ≢ \mathbb{Z} ≢ (0,\infty) ≢ \emptyset ≢ [0,\infty)
[-1,1] ≡ x\in[-1,1] ≡ \left[ -1, 1 \right] ≢ (-1,1) ≢ [-1,1) ≢ [1,-1] ≢ \{-1,1\} ≢ \pm 1

[unions]
(-\infty,-8)\cup(8,\infty) ≡ (8,\infty)\cup(-\infty,-8) ≡ (-\infty, -8) \cup (8, +\infty) ≡ (-∞,-8) ∪ (8,∞)
≡ \left(-\infty,-8\right)\cup\left(8,\infty\right) ≢ (-\infty,-8]\cup[8,\infty) ≢ (-\infty,-8)\cap(8,\infty)
≢ (-\infty,8)\cup(8,\infty) ≢ (-\infty,-8) ≢ (-8,8) ≢ (-\infty,-8)\cup(8,\infty] ≢ (-\infty,-8),(9,\infty)
[0,1)\cup(1,2] ≡ [0,2]\setminus\{1\} ≡ (1,2]\cup[0,1) ≢ [0,2] ≢ [0,2)\cup(1,2] ≢ [0,2]\setminus\{2\}
≢ (0,1)\cup(1,2]
\{-1\}\cup[0,7) ≡ [0,7)\cup\{-1\} ≢ [0,7) ≢ \{1\}\cup[0,7) ≢ [-1,7) ≢ \{-1\}\cup[0,7]
(0,1)\cup(1,2)\cup(2,3) ≡ (2,3)\cup(0,1)\cup(1,2) ≢ (0,1)\cup(2,3) ≢ (0,3) ≢ (0,1)\cup(1,2)

[sets]
\{1,2,3\} ≡ \{3,2,1\} ≡ \{ 1, 2, 3 \} ≡ \left\{1,2,3\right\} ≡ 1,2,3 ≡ {1,2,3} ≡ \lbrace 1,2,3\rbrace
≡ \{1, \frac{4}{2}, 3\} ≢ \{1,2\} ≢ \{1,2,4\} ≢ \{1,2,3,4\} ≢ 123 ≢ 6 ≢ \{-1,2,3\} ≢ [1,3] ≢ \{12,3\}
\{\sqrt{2},-\sqrt{2}\} ≡ \{-\sqrt2,\sqrt2\} ≡ \pm\sqrt{2} ≢ \{\sqrt2\} ≢ \{2,-2\} ≢ \sqrt{2}
\emptyset ≡ \varnothing ≡ \{\} ≡ ∅ ≢ 0 ≢ \{0\} ≢ \{\emptyset\} ≢ \mathbb{R}
\{x,x-1\} ≡ \{x-1,x\} ≢ \{x,x+1\} ≢ \{x\}
\{(1,2),(3,4)\} ≡ \{(3,4),(1,2)\} ≡ (1,2),(3,4) ≢ \{(2,1),(3,4)\} ≢ \{(1,3),(2,4)\} ≢ \{(1,2)\} ≢ \{1,2,3,4\}

[tuples]
(1,2) ≡ \left( 1 , 2 \right) ≡ (1, 2) ≡ (1.0,2) ≡ (\frac{2}{2},2) ≡ (x,y)=(1,2) ≢ (2,1) ≢ (1,2,3) ≢ (1,3)
≢ (-1,2) ≢ (1,2] ≢ 12 ≢ 1.2 ≢ (1) ≢ \frac12
(3,\frac{\pi}{2}) ≡ (3,pi/2) ≡ \left(3,\frac{\pi}{2}\right) ≡ (3, \pi/2) ≢ (3,\frac{\pi}{3})
≢ (\frac{\pi}{2},3) ≢ (3,-\frac{\pi}{2}) ≢ [3,\frac{\pi}{2}] ≢ (3,2) ≢ 3,\frac{\pi}{3}
(6,31,-1) ≡ (6, 31, -1) ≢ (6,-31,1) ≢ (6,31,1) ≢ (31,6,-1) ≢ (6,31) ≢ (6,31,-1,0) ≢ 6,31,1
(-\frac{1}{2},\sqrt{3}) ≡ (-0.5,\sqrt3) ≡ \left(-\tfrac12, \sqrt{3}\right) ≢ (\frac{1}{2},\sqrt{3})
≢ (-\frac12,-\sqrt3) ≢ (-\frac{1}{2},3)
(1,234) ≢ 1234 ≢ (1,2,34) ≢ (12,34) ≡ (1, 234)
(0,0) ≢ 0 ≢ (0,1) ≢ (0) ≢ (0,0,0) ≡ (0, 0)
((1,2),3) ≢ (1,(2,3)) ≢ (1,2,3) ≡ ((1, 2), 3)

[lists]
2,3,5 ≡ 2, 3, 5 ≡ 2,\,3,\,5 ≡ 2,3, and 5 ≡ 2, 3\text{ and }5 ≡ \{2,3,5\} ≢ 2,3,7 ≢ 2,3 ≢ 2,3,5,7 ≢ 235 ≢ 10
1\text{ and }2 ≡ 1,2 ≡ 1 and 2 ≡ 2\text{ and }1 ≢ 1 ≢ 2 ≢ 1\text{ and }3 ≢ 12 ≢ 3
1\text{ or }2 ≡ 2\text{ or }1 ≡ 1 or 2 ≢ 1 ≢ 1\text{ or }3
(1,2),(3,4) ≡ (1, 2), (3, 4) ≡ (1,2)\text{ and }(3,4) ≢ (1,3),(2,4) ≢ (1,2) ≢ (2,1),(4,3) ≢ (1,2,3,4)
≢ (1,2),(3,5)
-12;-11;-10 ≡ -12,-11,-10 ≡ \{-12,-11,-10\} ≢ 12,11,10 ≢ -12,-11

[plus minus]
\pm 3 ≡ 3,-3 ≡ \{3,-3\} ≡ \pm3 ≡ ±3 ≡ x=\pm 3 ≡ \{-3,3\} ≢ 3 ≢ -3 ≢ \pm 4 ≢ 3,3 ≢ 0 ≢ \pm 3i
3\pm 2\sqrt{2} ≡ 3+2\sqrt2,3-2\sqrt2 ≡ \{3-2\sqrt{2},3+2\sqrt{2}\} ≡ 3 \pm \sqrt{8} ≡ 3\mp 2\sqrt2
≢ 3+2\sqrt{2} ≢ 2\pm 3\sqrt{2} ≢ -3\pm 2\sqrt2 ≢ 3\pm 2\sqrt{3}
\frac{-1\pm\sqrt{5}}{2} ≡ \frac{-1+\sqrt5}{2},\frac{-1-\sqrt5}{2} ≡ -\frac{1}{2}\pm\frac{\sqrt{5}}{2}
≢ \frac{1\pm\sqrt{5}}{2} ≢ \frac{-1\pm\sqrt{5}}{4}
x=\pm 3 ≡ x=3,x=-3 ≡ x=3 \text{ or } x=-3 ≡ 3,-3 ≢ x=3 ≢ x=9

[assignments]
a=1,b=2 ≡ b=2,a=1 ≡ a = 1, b = 2 ≡ a=1\text{ and }b=2 ≢ a=2,b=1 ≢ 2,1 ≢ a=1,b=3 ≢ a=1 ≢ 1 ≢ a=1,c=2 ≢ b=1,a=2
x=1,y=-3 ≡ (x,y)=(1,-3) ≡ x=1, y=-3 ≢ x=-3,y=1 ≢ x=1,y=3 ≢ (x,y)=(-3,1) ≢ -3 ≢ y=-3
k = 45 ≡ 45 ≡ k=45 ≡ k = 45.0 ≢ 54 ≢ k=-45 ≢ k=4 ≢ k
f(x)=x^2+1 ≡ x^2+1 ≡ f(x) = 1+x^2 ≡ y=x^2+1 ≢ f(x)=x^2-1 ≢ f(x)=x^2 ≢ x^2 ≢ f(x)=1 ≢ 1
f(x)=3 ≡ 3 ≢ 4 ≢ f(x)=4
n=1,2,3 ≡ 1,2,3 ≡ n = 1, 2, 3 ≢ n=1,2 ≢ n=1,2,4 ≢ n=1
|AB|=7 ≡ 7 ≡ AB=7 ≢ 8 ≢ AB=8

[ratios]
3:4 ≡ 3 : 4 ≡ 3\colon 4 ≢ 4:3 ≢ 3:5 ≢ 34 ≢ 3 ≢ (3,4) ≢ 3:4:5
1:2:3 ≡ 1 : 2 : 3 ≢ 1:3:2 ≢ 3:2:1 ≢ 1:2 ≢ 1:23 ≢ 1,2,3
10:30 ≢ 10:31 ≢ 1:30 ≢ 10 ≢ 30 ≡ 10:30
12:05\text{ p.m.} ≢ 12:50\text{ p.m.} ≢ 12 ≡ 12:05 \text{ p.m.}

[bases]
1011_2 ≡ 1011_{2} ≡ 1011_{ 2 } ≡ 1011_{(2)} ≢ 1011_3 ≢ 1010_2 ≢ 1101_2 ≢ 10112 ≢ 1011_8
204_5 ≢ 2045 ≢ 204_6 ≢ 240_5 ≢ 20_5 ≡ 204_{5}
4210_{7} ≡ 4210_7 ≢ 4210_{8} ≢ 42107 ≢ 4120_7
A3_{16} ≡ \text{A3}_{16} ≡ A3_{ 16 } ≢ A3_{15} ≢ 3A_{16} ≢ B3_{16}

[text]
\text{Evelyn} ≡ Evelyn ≡ \textbf{Evelyn} ≡ \mathrm{Evelyn} ≡ \text{evelyn} ≡ \text{ Evelyn } ≡ \text{Evelyn}.
≢ \text{Evenly} ≢ \text{Evely} ≢ \text{Carla} ≢ E ≢ \text{}
\text{on} ≢ \text{no} ≢ \text{in} ≢ \text{off} ≢ o+n
\text{east} ≢ \text{seat} ≢ \text{west} ≢ \text{eats} ≢ \text{northeast} ≡ East
\text{even} ≢ \text{odd} ≢ \text{never} ≡ Even ≡ \text{even} ≢ \text{neither} ≢ even + odd
\text{hour} ≢ \text{minute} ≢ \text{day} ≢ \text{hours and minutes} ≡ hour
\text{Yes} ≡ yes ≡ \text{yes} ≡ YES ≢ \text{No} ≢ no ≢ y
\text{True} ≡ true ≢ \text{False} ≢ T+r+u+e
\text{ellipse} ≡ \text{Ellipse} ≢ \text{circle} ≢ \text{eclipse} ≢ \text{parabola}
\text{odd function} ≡ \text{odd  function} ≡ odd function ≢ \text{even function} ≢ \text{function odd}
≢ \text{odd}
\text{Monday} ≢ \text{Tuesday} ≢ \text{Sunday} ≢ \text{Dynamo} ≡ monday
\text{10 apples} ≢ \text{11 apples} ≢ \text{apples} ≡ 10 ≢ 1
\text{infinitely many} ≡ infinitely many ≢ \text{finitely many} ≢ \text{none}

[multiple choice]
\text{(C)} ≡ (C) ≡ C ≡ \text{C} ≡ \textbf{(C)} ≡ \mathrm{C} ≡ \textbf{C} ≢ (D) ≢ \text{(A)} ≢ B ≢ \text{E}
≢ (C,D) ≢ 3 ≢ \text{(CC)}
A ≡ \text{(A)} ≢ B ≢ AB ≢ A,B ≢ \text{An}
A,C ≢ A ≢ A,B ≢ C ≢ A,B,C ≡ A, C
"""

WRITING = r"""
[unicode]
\frac{3}{4} ≡ ¾ ≡ 3⁄4 ≢ ½ ≢ ¼ ≢ 34
\sqrt{2} ≡ √2 ≡ √{2} ≡ √(2) ≢ √3 ≢ 2√ ≢ 2²
8 ≡ 2³ ≡ ８ ≡ 2^{3} ≢ 23 ≢ 2₃ ≢ ³ ≢ 3²
x^{12} ≡ x¹² ≢ x¹2 ≢ x12 ≢ x₁₂
-5 ≡ −5 ≡ ﹣5 ≡ －5 ≢ 5 ≢ ~5 ≢ +5
\alpha+\beta ≡ α+β ≡ β+α ≢ α-β ≢ α+γ ≢ a+b
a\le b ≡ a≤b ≢ a≥b ≢ a<b
6\times 7 ≡ 6×7 ≡ 42 ≡ 6·7 ≡ 6⋅7 ≢ 67 ≢ 13
12 ≡ 1␢2 ≡ １２ ≢ 1 2 ≢ 1² ≢ 21
1\frac{1}{2} ≡ 1½ ≢ ½ ≢ 11/2

[latex wrappers]
x+1 ≡ x\,+\,1 ≡ x~+~1 ≡ $x+1$ ≡ \(x+1\) ≡ \[x+1\] ≡ $$x+1$$ ≡ \displaystyle x+1 ≡ {x+1} ≡ \left(x+1\right)
≡ x\;+\;1 ≡ x+\!1 ≡ \boxed{x+1} ≡ \mathrm{x}+1 ≡ \quad x+1 ≡ x+1\quad ≡ \large x+1 ≡ \bigl(x+1\bigr) ≡ x + 1\,
≡ ⏎x+1⏎ ≢ x-1 ≢ x1 ≢ y+1 ≢ \boxed{x}+2 ≢ $x$
5 ≡ \mathbf{5} ≡ \textbf{5} ≡ \text{5} ≡ \mathrm{5} ≡ \boxed{5} ≡ \fbox{5} ≡ **5** ≡ \text{ }5 ≡ 5\text{ }
≡ 5. ≡ 5, ≡ \,5 ≡ {5} ≡ {{5}} ≡ 5\! ≢ 5\% 5 ≢ 5^5 ≢ 55
\frac{1}{2} ≡ \displaystyle\frac{1}{2} ≡ \left(\frac{1}{2}\right) ≡ \frac{ 1 }{ 2 } ≡ \frac{1} {2}
≡ \frac {1}{2} ≡ $\dfrac{1}{2}$. ≡ \frac{1}{2}\text{.} ≡ \Large\frac{1}{2}
\left(\frac{1}{2},\frac{3}{4}\right) ≡ \Bigl(\frac12,\frac34\Bigr) ≡ (\dfrac{1}{2}, \dfrac{3}{4})
≢ \left(\frac{1}{2},\frac{4}{3}\right)

[plain text]
\frac{\sqrt{3}}{2} ≡ sqrt(3)/2 ≡ √3/2 ≡ (sqrt(3))/2 ≡ sqrt(3) / 2 ≢ sqrt(3/2) ≢ sqrt(2)/3 ≢ 3/2 ≢ sqrt3/4
3x^2-2x ≡ 3*x^2-2*x ≡ 3x**2 - 2x ≡ x(3x-2) ≡ 3 x^2 - 2 x ≢ 3*x^2+2*x ≢ 3x*2-2x ≢ 3^2x-2x ≢ (3x)^2-2x
\frac{\pi}{4} ≡ pi/4 ≡ (pi)/4 ≡ pi / 4 ≡ 0.25*pi ≢ 4/pi ≢ pi*4 ≢ p*i/4
-\frac{1}{3} ≡ -1/3 ≡ (-1)/3 ≡ -(1/3) ≡ 1/-3 ≢ 1/3 ≢ -1-3 ≢ 13
x\ge 5 ≡ x >= 5 ≡ x>=5 ≢ x > 5 ≢ x <= 5 ≢ x = 5
2^{10} ≡ 2**10 ≡ 1024 ≢ 2^{1}0 ≢ 2*10 ≢ 20 ≢ 210
\frac{x+1}{x-1} ≡ (x+1)/(x-1) ≡ ((x+1))/((x-1)) ≢ x+1/x-1 ≢ (x+1)/x-1 ≢ (x-1)/(x+1)
2(3+4) ≡ 14 ≡ 2*(3+4) ≢ 23+4 ≢ 27 ≢ 2+3+4

[broken latex]
\frac{1}{2} ≡ \\frac{1}{2} ≡ \frac12 ≡ \frac{1}2 ≡ {\frac{1}{2}} ≡ \frac{1}{2}\ ≢ \frac{1}{} ≢ \frac{}{2}
≢ \frac ≢ } ≢ { ≢ \frac{1} ≢ \ ≢ frac
\sqrt{5} ≡ \\sqrt{5} ≡ \sqrt5 ≡ \sqrt 5 ≢ \sqrt ≢ \sqrt{} ≢ 5\sqrt
5 ≢ = ≢ x= ≢ _ ≢ ^ ≢ , ≢ ; ≢ nan ≢ None ≢ \frac{5}{0} ≢ 5 5 ≢ 5i ≢ () ≢ [] ≢ \{\} ≢ & ≢ # ≢ \\ ≢ \text{}
≢ five six ≢ ?
(1,2) ≡ \left(1,2\right) ≡ \left( 1,2 \right) ≢ (1,) ≢ (,2) ≢ (,) ≢ ( ≢ (1,,2) ≢ (1 2)
x^2 ≢ x^ ≢ ^2 ≢ x^{ ≢ x^2^ ≢ x_2 ≢ x**
"""
