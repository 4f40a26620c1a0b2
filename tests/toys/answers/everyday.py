"""Labelled pairs of answers as people write them; `pairs.py` says how to read the tables."""

EVERYDAY = r"""
[near misses]
1234567 ≢ 1 234/567
1 234/567 ≢ 1234/567
\frac13 ≢ 0.33
2\text{ hours} ≢ 120\text{ hours} ≢ 2\text{ minutes} ≢ 120\text{ seconds} ≢ 12\text{ minutes}
≢ 120\text{ degrees}
1\text{ km} ≢ 1000\text{ km} ≢ 100\text{ m} ≢ 1000\text{ m}^2 ≢ 1000\text{ s}
5\text{ m}^2 ≢ 500\text{ cm}^2 ≢ 500\text{ cm} ≢ 5\text{ m}
36\text{ km/h} ≢ 36\text{ m/s} ≢ 10\text{ km/h} ≢ 10\text{ m}
1\text{ day} ≢ 12\text{ hours}
3\text{ feet} ≢ 36\text{ feet} ≢ 3\text{ yards}
50\text{ cents} ≢ \$50 ≢ 0.50\text{ cents}
\$3 ≢ 300 ≢ 3\text{ cents}
2\text{ years} ≢ 2\text{ months} ≢ 24\text{ years}
10\text{ kg} ≢ 10\text{ pounds} ≢ 10\text{ g}
12\frac{\text{m}}{\text{s}^2} ≢ 12\text{ m/s} ≢ 12\text{ s/m}
4\,\mathrm{m\,s^{-1}} ≢ 4\text{ m s} ≢ 4\text{ s/m}
14 ≢ \textbf{(D) }15 ≢ C ≢ (C) ≢ 14C ≢ (C)(14)
B ≢ \textbf{(A)}\ \frac{1}{2} ≢ (BD) ≢ BB ≢ 2B ≢ B+1 ≢ (B)(C) ≢ b ≢ 12B
\textbf{(E) }\text{none of these} ≢ D
\frac{1}{2} ≢ \textbf{(B) } \frac{1}{3}
A, C ≢ A \text{ or } C
B \text{ or } D ≢ B, D ≢ \text{B and D}
\text{Monday} ≢ (A) Tuesday
A:B=1:2 ≢ 2:1
2:3 ≢ 3:2
\text{all real }x ≢ \text{all integers} ≢ x
f(x)=x\text{ for all }x ≢ f(x)=x\text{ for some }x
f(x)=cx\text{ for some constant }c ≢ f(x)=x ≢ f(x)=c
f(x)=x+c,\text{ where }c\text{ is any real number} ≢ f(x)=x-c^2
\text{No such }n\text{ exists} ≢ 0 ≢ \text{all }n
\text{Answer: C} ≢ D ≢ \text{Answer: D}
2.5\times10^{-3}\text{ mol} ≢ 2.5\text{ mol} ≢ 0.025\text{ mol}
500\text{ nm} ≢ 500\text{ mm} ≢ 5\text{ nm}
2nm ≢ 2n
22^\circ\text{C} ≢ 22\text{ °F} ≢ 2.2\text{ °C} ≢ 32\text{ °C}

[names joined by and]
\text{Ann and Bob} ≡ \text{Bob and Ann} ≡ \text{Bob} \text{ and Ann} ≡ \textbf{Bob and Ann.}
≢ \text{Ann or Bob} ≢ \text{Ann and Rob} ≢ \text{Ann}
\text{A and not B} ≢ \text{B and not A}
\text{none} ≡ \emptyset ≢ 0 ≢ \text{one}

[letters as units]
5\text{ m} ≡ 5.0 m ≡ 5 m ≡ 10/2 m ≢ 5 s ≢ 5 m^2 ≢ 6 m ≢ 5 n ≢ 5 m s
9.8\text{ m/s}^2 ≡ 9.80 m/s^2 ≢ 9.8 m/s ≢ 9.8 s/m^2
3\times10^8\text{ m/s} ≡ 3e8 m/s ≡ 3.0 \times 10^8 m/s ≡ 300000000 m/s ≢ 3e7 m/s ≢ 3e8 s/m
20\text{ N} ≢ 20 J ≢ 20 n
5m ≡ 5 m ≢ 5\text{ s} ≢ 5n
5\text{ hours} ≢ 5h\text{ hours}

[dates]
2018 ≢ 2024-05-01 ≡ 2024-5-1

[fractions of two letters]
\frac{k}{m} ≡ \frac km ≡ k/m ≢ \frac mk ≢ km ≢ \frac{km}{1}
\sqrt{\frac km} ≡ \sqrt{k/m} ≢ \sqrt{km}
\frac{c}{m} ≡ \frac cm ≢ \frac mc

[spaces after commas]
40,320 ≡ 40320 ≡ 40{,}320 ≢ 40, 320 ≢ 40;320
1,\!722 ≡ 1722 ≢ 1, 722
1, 2 ≡ 1,2 ≡ 2 , 1 ≢ 12
"""

STATEMENTS = r"""
[near misses]
x\approx 2.236 ≢ x ≢ x\approx 5.1 ≢ -2.236
t=4\text{ seconds} ≢ t=4\text{ minutes} ≢ t=4\text{ m}
x=20\text{ cm} ≢ x=20\text{ m} ≢ x=20\text{ cm}^2
f(t)=3\text{ m/s} ≢ f(t)=3\text{ km/h}
x>2.5\text{ cm} ≢ x>2.5\text{ m} ≢ x>2.5\text{ hours} ≢ x\ge 2.5\text{ cm}
1<x<4\text{ kg} ≢ 1<x<4\text{ g}
\$50 ≢ EUR 50 ≢ €50
€50 ≢ USD 50
60\text{ km}/\text{h} ≢ 60\text{ m}/\text{s} ≢ 60\text{ km}
3x/m ≢ 3x/\text{s} ≢ 3x
3x/\text{m} ≢ 3x
-110_2 ≢ 110_2 ≢ (110)_2
x^*=3 ≢ x^*=4 ≢ x=3
A^{-1}=\begin{pmatrix}0&1\\2&3\end{pmatrix} ≢ A^{-1}=\begin{pmatrix}0&1\\3&2\end{pmatrix}
E[X]=\frac52 ≢ \mathbb{P}(X)=2.5
x^2-y^2=C ≢ x^2+y^2=C ≢ x^2-y^2=4 ≢ x^2-y^2=C^2 ≢ x-y=C
\ln|2x|+C ≢ \ln x+C ≢ \ln|x+1|+C
\ln x+C ≢ \ln|x|+C
\ln|y|=x^2+C ≢ \ln|y|=x^2 ≢ \ln|y|=x+C ≢ \ln|x|=y^2+C
a+b=c ≢ a+b=C ≢ 2a+2b=c ≢ a-b=c
x+y=c ≢ 3x+3y=c
-5\le 2x+1<7 ≢ -5\le 2x-1<7
1<x^2<4 ≢ 1\le x^2\le 4
0<|x-1|<2 ≢ |x-1|<2
x\ne1 ≢ |x-1|\ge0 ≢ |x+1|>0
12\text{ p.m.} ≢ 12\text{ a.m.}
\text{diverges} ≢ the series converges ≢ the test diverges
\text{does not exist} ≢ The limit does exist
\text{parabola} ≢ a circle ≢ not a parabola
AB=5 ≢ \overline{CD}=5
x=5 ≢ \overline{x}=5
a and bob ≢ bob
\text{store B} ≢ Store A ≢ \text{store}
3:1 ≢ 1 to 3
\frac25 ≢ 2
45\text{ minutes} ≢ 4/3 of an hour ≢ 3/4 of a minute
120 ≢ 1003
\cos 13^\circ ≢ \cos 13
$18 ≢ 18 cents ≢ 18 euros
ax+by=3 ≢ ax-by=3
(-\infty,-1]\cup[4,\infty) ≢ (-inf, -1) U (4, inf) ≢ (-inf, -1]
\sqrt[3]{5} ≢ √5 ≢ ∜5 ≢ 3\sqrt{5}
\varepsilon/3 ≢ e/3 ≢ \epsilon/2
\varphi-1 ≢ \phi
mgh ≢ mg
\frac{mg}{k} ≢ m/gk ≢ mg
0.5\mathrm{~kg} ≢ 500\text{ kg} ≢ 0.5\mathrm{~g}
2500\mathrm{~m} ≢ 2.5\mathrm{~m}
298\text{ K} ≢ 298^\circ\text{C}
300 ≢ 300\text{K} ≢ 300K ≢ \$300\text{K}
4.2\mathrm{~J\,kg^{-1}\,K^{-1}} ≢ 4.2\mathrm{~J\,kg^{-1}}

[conditions of names]
x=2,\ y=5 ≡ (2,5) ≡ \langle 2,5\rangle ≢ [2,5] ≢ (2,5]
x\in[0,1] ≡ [0,1] ≡ 0\le x\le1 ≢ y\in[0,1] ≢ 0\le y\le1 ≢ 0\le 2y\le2
x\in\{1,2\} ≡ x=1\text{ or }x=2 ≡ \{1,2\} ≢ y\in\{1,2\} ≢ y=1\text{ or }y=2
x\in(-2,2) ≢ |y|<2
x\in[0,1],\ y\in[0,2] ≡ y\in[0,2],\ x\in[0,1] ≢ x\in[0,2],\ y\in[0,1] ≢ x\in[0,1]
1<x<4,\ x\in\mathbb{Z} ≡ x\in\mathbb{Z},\ 1<x<4 ≢ (1,4) ≢ 1<x<4 ≢ 1,2,3
x>1,\ x<4,\ x\in\mathbb{R} ≡ (1,4) ≢ \{2,3\}
x\ne-1,0,1 ≢ x\ne\pm1 ≢ x=-1,0,1 ≢ -1,0,1
x>3 ≡ x>3\text{ cm} ≢ x>3\text{ prime} ≢ x>3\text{ integer} ≢ x>3\text{ even}
\text{A and C} ≡ C and A ≡ A, C ≡ A and C ≢ A or C ≢ \text{A and B} ≢ C
a\text{ and }b ≡ b and a ≢ b\text{ and }c
e ≡ e\approx 2.718 ≢ 2.718
\pi ≡ \pi\approx 3.14 ≢ 3.14
f(3)\approx 2.1 ≡ 2.1 ≢ f(3)\approx 5

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
|x|<5 ≡ 5>|x|
"""

NOTATIONS = r"""
[named tuples]
(x,y)=(2,5) ≡ (2,5) ≡ x=2,y=5 ≡ y=5,x=2 ≡ (y,x)=(5,2) ≡ x=2\text{ and }y=5 ≢ (y,x)=(2,5) ≢ x=5,y=2 ≢ (5,2)
≢ (x,y)=(2,5,0) ≢ [2,5] ≢ 2<x<5
(m,n)=(1,4),(3,2) ≡ (1,4),(3,2) ≡ (m,n)=(3,2),(1,4) ≡ (m,n)\in\{(1,4),(3,2)\} ≢ (n,m)=(1,4),(3,2)
≢ (4,1),(2,3) ≢ (m,n)=(1,4) ≢ (n,m)\in\{(1,4),(3,2)\}

[near misses]
\text{DNE} ≢ \text{exists}
\mathbb{R}\setminus\{-2,2\} ≢ x\ne 2
[0,1)\cup(2,3] ≢ [0,1]\cup[2,3]
f(x,y)=x-2y ≢ f(a,b)=b-2a ≢ f(y,x)=x-2y ≢ g(x,y)=x-2y ≢ f(x)=x-2y
a_n=3n+1 ≢ b_n=3n+1 ≢ a_k=3n+1 ≢ a_n=3n
y=Ce^{3x} ≢ y=Ce^{2x} ≢ y=e^{3x}+C ≢ y=Cx
y=C_1\cos x+C_2\sin x ≢ y=C_1\cos x ≢ y=C_1\cos x+C_2\cos x ≢ y=C_1\cos 2x+C_2\sin x
x^4+C ≢ x^4+x ≢ x^3+C ≢ x^4
f(x)=ax+b ≢ f(x)=bx+a
\frac{\pi}{5} ≢ 63^\circ ≢ 36 ≢ 36\pi
135^\circ ≢ \frac{\pi}{4} ≢ 135\pi
3:8 ≢ 8\text{ to }3
9\text{ cm}^2 ≢ 9\text{ cm³} ≢ 9\text{ cm}
12345 ≢ 12\!,354
\binom{8}{3} ≢ C_3^8 ≢ C_8^2
2f(x) ≢ f(2x) ≢ f(2)x ≢ 2f
f(x+1)-f(x) ≢ f(1)
g(f(x)) ≢ f(g(x)) ≢ f(x)g(x)
\zeta(3) ≢ 3\zeta ≢ \zeta(2)
P(A)+P(B) ≢ P(A+B)
T(n)=2T(n/2)+n ≢ T(n)=T(n)+n
f(x+y)=f(x)+f(y) ≢ f(xy)=f(x)+f(y)
f'(x)g(x)+f(x)g'(x) ≢ f'(x)g'(x) ≢ f(x)g(x)
f(x)=x, f(x)=-x ≢ g(x)=x,g(x)=-x
\frac34 ≢ \tan\theta=\frac43 ≢ \tan\frac34
B^{-1}A^{-1} ≢ A^{-1}B^{-1} ≢ (BA)^{-1} ≢ AB
(AB)^T ≢ A^TB^T ≢ AB
2A^{-1}B ≢ 2BA^{-1}
E[X]=5 ≢ E[Y]=5
9.8\text{ m/s}^2 ≢ 9.8\text{ meters per second}
37^\circ\text{C} ≢ 37\text{ degrees Fahrenheit}
6\text{ feet} ≢ 6\text{ inches}

[powers of units]
12\text{ square units} ≡ 12 ≡ 12\text{ units}^2 ≡ 12\text{ cm}^2 ≡ 12\text{ sq. units} ≢ 12\text{ cubic units}
≢ 12\text{ units}^3 ≢ 12\text{ cm}^3 ≢ 12\text{ cm} ≢ 12\text{ hours}
8\text{ cubic units} ≡ 8\text{ units}^3 ≡ 8\text{ m}^3 ≢ 8\text{ square units} ≢ 8\text{ m}^2

[currencies]
\$7.50 ≡ 7.5 ≡ \text{\$}7.5 ≡ 7.50\text{ dollars} ≢ €7.50 ≢ £7.50 ≢ \text{€}7.50 ≢ 7.50\text{ euros} ≢ ₹7.50
€20 ≡ 20\text{ euros} ≡ \euro 20 ≡ 20 ≢ £20 ≢ \$20
"""
