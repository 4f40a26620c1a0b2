"""Labelled pairs of answers as people write them; `pairs.py` says how to read the tables."""

EVERYDAY = r"""
[spaces in numbers]
1234567 ≡ 1 234 567 ≡ +1 234 567 ≢ -1 234 567 ≢ 1 234 567 8 ≢ 1 2345 67 ≢ 1 234, 567 ≢ 1 234/567 ≢ 12 34 567
-12 500 ≡ -12500 ≡ −12 500 ≡ -12\,500 ≢ 12500 ≢ -125
2 500 ≡ 2500 ≢ 2\cdot500 ≢ 1000 ≢ 2,500,0 ≢ 2
(1 000, 2 000) ≡ (1000,2000) ≢ (1,000,2,000)
1 234/567 ≡ 1\frac{234}{567} ≢ 1234/567
5 100 ≢ 500
10 000.5 ≡ 10000.5 ≢ 10000

[bases in words]
143_5 ≡ 143_{\text{five}} ≢ 143\text{ base }6 ≢ 143 base 10 ≢ 134 base 5 ≢ 48 base 5
48 ≢ 143 base 5 ≡ 48 ≢ 48 base 9

[decimals that go on]
\frac13 ≢ 0.33 ≢ 0.334... ≢ 0.343434... ≢ 3.333... ≢ 0.3335...
\frac{1}{7} ≢ 0.142857... ≢ 0.142...
e ≢ 2.718281828... ≢ 2.71828...
\frac{7}{12} ≢ 0.58383... ≢ 0.5333...
0.9 ≢ 0.999...
\pi ≢ 3.14159... ≢ 3.141...
\frac{8}{33} ≢ 0.24... ≢ 0.244...

[converted units]
2\text{ hours} ≡ 120\text{ minutes} ≡ 7200\text{ seconds} ≡ 2 ≢ 120\text{ hours} ≢ 2\text{ minutes}
≢ 120\text{ seconds} ≢ 12\text{ minutes} ≢ 120\text{ degrees}
1\text{ km} ≡ 1000\text{ m} ≡ 100000\text{ cm} ≢ 1000\text{ km} ≢ 100\text{ m} ≢ 1000\text{ m}^2
≢ 1000\text{ s}
5\text{ m}^2 ≡ 50000\text{ cm}^2 ≢ 500\text{ cm}^2 ≢ 500\text{ cm} ≢ 5\text{ m}
36\text{ km/h} ≢ 36\text{ m/s} ≢ 10\text{ km/h} ≢ 10\text{ m}
1\text{ day} ≡ 24\text{ hours} ≢ 12\text{ hours}
3\text{ feet} ≡ 1\text{ yard} ≡ 36\text{ inches} ≢ 36\text{ feet} ≢ 3\text{ yards}
50\text{ cents} ≡ \$0.50 ≡ 50 ≢ \$50 ≢ 0.50\text{ cents}
\$3 ≡ 300\text{ cents} ≢ 300 ≢ 3\text{ cents}
2\text{ years} ≡ 24\text{ months} ≢ 2\text{ months} ≢ 24\text{ years}
10\text{ kg} ≢ 10\text{ pounds} ≢ 10\text{ g} ≡ 10000\text{ g}
12\frac{\text{m}}{\text{s}^2} ≢ 12\text{ m/s} ≢ 12\text{ s/m}
4\,\mathrm{m\,s^{-1}} ≢ 4\text{ m s} ≢ 4\text{ s/m}

[choices with their answer]
14 ≢ (C) 41 ≢ \textbf{(C) 41} ≢ \text{(C) 14, (D) 15} ≢ \textbf{(D) }15 ≢ C ≢ (C) ≢ 14C ≢ C14 ≢ (C)(14)
B ≡ B. ≡ \text{(B)} ≢ \textbf{(A)}\ \frac{1}{2} ≢ (BD) ≢ B, C ≢ Option D ≢ BB ≢ 2B ≢ B+1 ≢ (B)(C) ≢ b
\textbf{(E) }\text{none of these} ≡ E ≡ (E) ≢ D ≢ \text{none} ≢ (D) none of these
\frac{1}{2} ≢ \textbf{(B) } \frac{1}{3} ≢ \textbf{(B) } \frac{1}{2}, \frac13
14C ≢ (C) 14 ≡ C\cdot14
A, C ≡ C, A ≡ A \text{ and } C ≡ \text{A, C} ≢ A \text{ or } C
B \text{ or } D ≡ D \text{ or } B ≢ B, D ≢ \text{B and D}
(A)(B) ≡ AB
(2,3) ≢ (A) (3,2) ≢ A(3,2)
\text{Monday} ≡ (A) Monday ≢ (A) Tuesday

[numbers in words]
120 ≢ \text{one hundred} ≢ \text{one hundred twelve} ≢ \text{twelve hundred}
\frac{3}{4} ≢ \text{four thirds} ≢ \text{three fifths} ≢ \text{three} ≢ \text{three and four}
-3 ≢ \text{three} ≢ \text{positive }3
1005 ≢ \text{one thousand fifty} ≢ \text{one five}
\frac{2}{3} ≢ 3\text{ out of }2 ≢ 2\text{ out of 5}

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

[remainders]
15R ≡ 15 R ≢ 5\text{ R }3

[approximations in words]
3.5 ≡ \approx3.5 ≢ \text{approximately }3.6
\frac37 ≢ 0.43\text{ or approximately }\frac37 ≢ \frac38\text{ or approximately }0.43

[fractions of two letters]
\frac{k}{m} ≡ \frac km ≡ k/m ≢ \frac mk ≢ km ≢ \frac{km}{1}
\sqrt{\frac km} ≡ \sqrt{k/m} ≢ \sqrt{km}
\frac{c}{m} ≡ \frac cm ≢ \frac mc

[choices with a colon]
B ≢ A: 12 ≢ B:12 ≢ 12B
12 ≢ B: 13
A:B=1:2 ≡ A : B = 1 : 2 ≡ 1:2 ≢ 2:1
2:3 ≡ 2 : 3 ≢ 3:2

[distributions]
(0,1) ≢ U(0,1) ≢ N(0,1)

[phrases after an answer]
\text{all real }x ≢ \text{all integers} ≢ x
f(x)=x\text{ for all }x ≢ f(x)=x\text{ for some }x
f(x)=cx\text{ for some constant }c ≢ f(x)=x ≢ f(x)=c ≢ f(x)=cx+d
f(x)=x+c,\text{ where }c\text{ is any real number} ≢ f(x)=x-c^2
\text{No such }n\text{ exists} ≢ 0 ≢ \text{all }n
\text{Answer: C} ≢ D ≢ \text{Answer: D}

[totals without a unit]
3.5 ≢ 3\text{ hours and }5\text{ minutes} ≢ 3\text{ minutes and }30\text{ seconds and }5
210 ≢ 3\text{ hours }20\text{ minutes}
42 ≢ 42\text{ dollars and }5\text{ cents}
3.5\text{ minutes} ≢ 3\text{ hours }30\text{ minutes}

[further units]
2.5\times10^{-3}\text{ mol} ≡ 0.0025\text{ mol} ≢ 2.5\text{ mol} ≢ 0.025\text{ mol}
500\text{ nm} ≢ 500\text{ mm} ≢ 5\text{ nm}
2nm ≡ 2mn ≡ 2 n m ≢ 2n
3.6\text{ kJ} ≢ 3.6\text{ J} ≢ 3.6\text{ kWh}

[spaces after commas]
40,320 ≡ 40320 ≡ 40{,}320 ≢ 40, 320 ≢ 40;320
1,\!722 ≡ 1 , \!722 ≡ 1722 ≢ 1, 722
1, 2 ≡ 1,2 ≡ 2 , 1 ≢ 12

[functions for all arguments]
f(n)=n+1 ≢ f(n)=n-1\text{ for all }n\in\mathbb{N}

[degrees in a text]
22^\circ\text{C} ≡ 22°C ≢ 22\text{ °F} ≢ 2.2\text{ °C} ≢ 32\text{ °C}

[numbers of different things]
3\text{ ways},5\text{ ways} ≡ 5,3
"""

STATEMENTS = r"""
[parts with labels]
(a)(b) ≡ ab ≡ (b)(a)

[approximations]
\frac{5}{8} ≡ \frac58\approx 0.6 ≡ \frac58\approx 0.63 ≢ \frac58\approx 0.4 ≢ \frac58\approx 6.25
\frac16 ≡ \frac16\approx 0.2 ≡ x=\frac16\approx 0.17 ≢ \frac16\approx 0.6 ≢ x=\frac16\approx 0.83
\arctan\frac34 ≡ \arctan\frac34\approx 36.87^\circ ≢ \arctan\frac34\approx 2
15\pi ≡ 15\pi\approx 47 ≢ 15\pi\approx 15
x\approx 2.236 ≡ 2.236 ≡ x=2.236 ≢ x ≢ x\approx 5.1 ≢ -2.236
\frac74 ≢ \frac74\text{ or }1.57 ≢ \frac74\text{ or }-\frac74
12.57 ≢ about 12.75

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

[units of named values]
t=4\text{ seconds} ≡ t=4 ≡ 4\text{ s} ≢ t=4\text{ minutes} ≢ t=4\text{ m}
x=20\text{ cm} ≡ x=0.2\text{ m} ≢ x=20\text{ m} ≢ x=20\text{ cm}^2
f(t)=3\text{ m/s} ≡ 3\text{ m/s} ≢ f(t)=3\text{ km/h}
x>2.5\text{ cm} ≡ x>2.5 ≢ x>2.5\text{ m} ≢ x>2.5\text{ hours} ≢ x\ge 2.5\text{ cm}
1<x<4\text{ kg} ≡ (1,4) ≢ 1<x<4\text{ g}
\$50 ≡ 50 dollars ≢ EUR 50 ≢ €50 ≢ Rs. 50
€50 ≡ 50 ≢ USD 50
\$5\text{ profit} ≡ 5 ≢ \$5\text{ loss}
3\text{ years ago} ≢ 3\text{ years later}
4\text{ more apples} ≡ 4 ≢ 4\text{ fewer apples}
60\text{ km}/\text{h} ≡ 60 ≡ 60\text{ km/h} ≢ 60\text{ m}/\text{s} ≢ 60\text{ km}
3x/m ≢ 3x/\text{s} ≢ 3x
3x/\text{m} ≢ 3x
-110_2 ≡ (-110)_2 ≡ -(110)_2 ≢ 110_2 ≢ (110)_2
x^*=3 ≡ 3 ≡ x^{*}=3 ≢ x^*=4 ≢ y^*=3 ≢ x=3

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

[named sets and matrices]
A^{-1}=\begin{pmatrix}0&1\\2&3\end{pmatrix} ≡ \begin{pmatrix}0&1\\2&3\end{pmatrix}
≡ A^{-1} = \begin{bmatrix} 0 & 1 \\ 2 & 3 \end{bmatrix} ≢ A=\begin{pmatrix}0&1\\2&3\end{pmatrix}
≢ A^{-1}=\begin{pmatrix}0&1\\3&2\end{pmatrix} ≢ A^T=\begin{pmatrix}0&1\\2&3\end{pmatrix}
\mathbb{Z} ≢ \{2k:k\in\mathbb{Z}\} ≢ \{k:k\in\mathbb{N}\}
\mathbb{Q} ≢ \{q^2 \mid q\in\mathbb{Q}\} ≢ \{q \mid q\in\mathbb{Q}, q>0\}
E[X]=\frac52 ≢ \mathbb{P}(X)=2.5

[curves with a constant]
x^2-y^2=C ≡ C=x^2-y^2 ≢ x^2+y^2=C ≢ x^2-y^2=4 ≢ x^2-y^2=C^2 ≢ x-y=C
\ln|2x|+C ≢ \ln x+C ≢ \ln|x+1|+C
\ln x+C ≢ \ln|x|+C
\ln|y|=x^2+C ≢ \ln|y|=x^2 ≢ \ln|y|=x+C ≢ \ln|x|=y^2+C
a+b=c ≢ a+b=C ≢ 2a+2b=c ≢ a-b=c
x+y=c ≢ 3x+3y=c

[chains of inequalities]
|x-4|<7 ≢ -7\le x-4\le 7 ≢ -7<x+4<7
-5\le 2x+1<7 ≢ (-3,3) ≢ [-3,3] ≢ -5\le 2x-1<7
1<x^2<4 ≢ (1,2) ≢ 1\le x^2\le 4
0<|x-1|<2 ≢ (-1,3) ≢ |x-1|<2
x\ne1 ≢ |x-1|\ge0 ≢ |x+1|>0

[short words]
12\text{ p.m.} ≢ midnight ≢ 12\text{ a.m.}
12\text{ a.m.} ≢ noon
\text{diverges} ≢ the series converges ≢ the test diverges
\text{does not exist} ≢ The limit does exist
\text{parabola} ≡ a parabola ≡ A parabola. ≡ The parabola ≢ a circle ≢ not a parabola
\emptyset ≢ set
12 ≡ Answer = 12 ≢ \text{not exactly }12 ≢ \text{Total: }21
\frac12 ≢ \text{double} ≢ two halves
1000000 ≡ 1 million ≢ \text{one billion} ≢ \text{one thousand}
2000305 ≢ \text{two million three hundred fifty}
D ≢ \text{choice (B)}
AB=5 ≢ \overline{CD}=5
x=5 ≡ \therefore x=5 ≢ \overline{x}=5
a and bob ≡ bob and a ≢ bob
\text{store B} ≡ Store B ≢ Store A ≢ \text{store}
125 ≢ one hundred and five ≢ one hundred, twenty
3:1 ≡ 3 to 1 ≡ 3\text{ to }1 ≢ 1 to 3 ≢ 31
\frac25 ≢ 5 out of 2 ≢ 2
45\text{ minutes} ≢ 4/3 of an hour ≢ 3/4 of a minute

[signs of plain text]
120 ≡ \binom{10}{3} ≢ 10C4 ≢ 10C3_{16} ≢ 1003
\cos 13^\circ ≢ \cos 13
$18 ≡ 18 ≡ \$18 ≡ $18.00 ≢ 18 cents ≢ 18 euros ≢ not $18
ax+by=3 ≡ by+ax=3 ≢ ax-by=3
(-\infty,-1]\cup[4,\infty) ≡ (-inf, -1] U [4, inf) ≡ (−∞, −1] ∪ [4, ∞) ≢ (-inf, -1) U (4, inf) ≢ (-inf, -1]
\sqrt[3]{5} ≡ ∛5 ≡ ∛{5} ≢ √5 ≢ ∜5 ≢ 3\sqrt{5}
\varepsilon/3 ≡ \epsilon/3 ≢ e/3 ≢ \epsilon/2
\varphi-1 ≡ \phi-1 ≢ \phi
mgh ≡ mg h ≢ mg
\frac{mg}{k} ≡ mg/k ≢ m/gk ≢ mg
70\text{ inches} ≢ 5'11" ≢ 10'5" ≢ 5'
\frac23\text{ cup} ≢ 2/3 of a teaspoon ≢ 2 of 3 cups
5\text{ C} ≡ 5 ≢ 5\text{ V}

[units in upright type]
0.5\mathrm{~kg} ≡ 0.5\text{~kg} ≡ 500\text{ g} ≡ 0.50\ \mathrm{kg} ≡ 0.5 ≢ 500\text{ kg} ≢ 0.5\mathrm{~g}
12\,\text{N}\cdot\text{m} ≡ 12\mathrm{~N\,m} ≡ 12\mathrm{~N\cdot m} ≢ 12\text{ N}
3.0\mathrm{~A} ≡ 3 ≢ 3\text{ V} ≢ 3\text{ mA}
2\mathrm{~T} ≢ 2\mathrm{~A}
2500\mathrm{~m} ≡ 2.5\mathrm{~km} ≢ 2.5\mathrm{~m}
1000\text{ kg/m}^3 ≢ 1000\ \mathrm{kg}\,\mathrm{m}^{3}
298\text{ K} ≡ 298 ≡ 298\,\mathrm{K} ≢ 298^\circ\text{C} ≢ 298\text{ A}
300 ≢ 300\text{K} ≢ 300K ≢ \$300\text{K}
4.2\mathrm{~J\,kg^{-1}\,K^{-1}} ≡ 4.2\text{~J/(kg\,K)} ≢ 4.2\mathrm{~J\,kg^{-1}}
2\mathrm{A} ≡ 2A ≢ 2\text{ amperes}
3\text{:}45\text{ p.m.} ≡ 15:45 ≢ 3:54 p.m.
"""

NOTATIONS = r"""
[vectors]
\begin{pmatrix}4\\-1\\2\end{pmatrix} ≢ 4\mathbf{i}+\mathbf{j}+2\mathbf{k} ≢ 4\mathbf{i}-\mathbf{j}
≢ 4\mathbf{j}-\mathbf{i}+2\mathbf{k} ≢ (4,2,-1)^T ≢ 4\mathbf{i}-\mathbf{j}+2\mathbf{k}+1
≢ 4\mathbf{i}\mathbf{j}\mathbf{k} ≢ 5
\langle 0,3\rangle ≢ 3j ≢ 3\mathbf{i}+0\mathbf{j}
(3,4) ≢ 3+4i ≢ 3i+4k
3\mathbf{i}+5\mathbf{k} ≢ (3,5) ≢ (3,5,0)
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≢ \begin{pmatrix}1&2\\3&4\end{pmatrix}^T ≢ [[1,3],[2,4]] ≢ [1,2,3,4]
≢ \det\begin{pmatrix}1&2\\3&4\end{pmatrix}
-2 ≢ \det\begin{pmatrix}2&1\\3&4\end{pmatrix}

[named tuples]
(x,y)=(2,5) ≡ (2,5) ≡ x=2,y=5 ≡ y=5,x=2 ≡ (y,x)=(5,2) ≡ x=2\text{ and }y=5 ≢ (y,x)=(2,5) ≢ x=5,y=2 ≢ (5,2)
≢ (x,y)=(2,5,0) ≢ [2,5] ≢ 2<x<5
(m,n)=(1,4),(3,2) ≡ (1,4),(3,2) ≡ (m,n)=(3,2),(1,4) ≡ (m,n)\in\{(1,4),(3,2)\} ≢ (n,m)=(1,4),(3,2)
≢ (4,1),(2,3) ≢ (m,n)=(1,4) ≢ (n,m)\in\{(1,4),(3,2)\}

[words with a value]
42 ≢ \text{forty} ≢ \text{twenty-four} ≢ \text{forty-second} ≢ \text{two forty}
\emptyset ≡ \text{No real solutions.} ≡ \text{there are no solutions} ≢ \text{solutions}
≢ \text{no integer solutions but } 2
\infty ≢ \text{negative infinity}
\text{DNE} ≢ \text{exists}
\mathbb{R}\setminus\{3\} ≢ \text{all real numbers except }-3 ≢ \text{all real numbers except }3\text{ and }4
\mathbb{R}\setminus\{-2,2\} ≡ x\ne\pm 2 ≢ x\ne 2 ≢ \text{all real numbers except }2
(3,\infty) ≢ \text{all real numbers at least }3 ≢ \text{reals less than }3
(0,\infty) ≢ \text{all nonnegative real numbers}
[0,1)\cup(2,3] ≢ [0,1]\cup[2,3] ≢ ]0,1[\cup]2,3]

[powers of units]
12\text{ square units} ≡ 12 ≡ 12\text{ units}^2 ≡ 12\text{ cm}^2 ≡ 12\text{ sq. units} ≢ 12\text{ cubic units}
≢ 12\text{ units}^3 ≢ 12\text{ cm}^3 ≢ 12\text{ cm} ≢ 12\text{ hours}
8\text{ cubic units} ≡ 8\text{ units}^3 ≡ 8\text{ m}^3 ≢ 8\text{ square units} ≢ 8\text{ m}^2

[currencies]
\$7.50 ≡ 7.5 ≡ \text{\$}7.5 ≡ 7.50\text{ dollars} ≢ €7.50 ≢ £7.50 ≢ \text{€}7.50 ≢ 7.50\text{ euros} ≢ ₹7.50
€20 ≡ 20\text{ euros} ≡ \euro 20 ≡ 20 ≢ £20 ≢ \$20

[letters that do not matter]
f(x,y)=x-2y ≡ x-2y ≢ f(a,b)=b-2a ≢ f(y,x)=x-2y ≢ g(x,y)=x-2y ≢ f(x)=x-2y
a_n=3n+1 ≡ 3n+1 ≢ b_n=3n+1 ≢ a_k=3n+1 ≢ a_n=3n
y=Ce^{3x} ≢ y=Ce^{2x} ≢ y=e^{3x}+C ≢ y=Cx
y=C_1\cos x+C_2\sin x ≢ y=C_1\cos x ≢ y=C_1\cos x+C_2\cos x ≢ y=C_1\cos 2x+C_2\sin x
x^4+C ≢ x^4+x ≢ x^3+C ≢ x^4
f(x)=ax+b ≢ f(x)=bx+a
f(x)=x^2+3 ≢ g: x\mapsto x^2+3 ≢ f: x\mapsto x^2

[quantities and angles]
\frac{\pi}{5} ≡ 36^\circ ≢ 63^\circ ≢ 36 ≢ 36\pi
135^\circ ≡ \frac{3\pi}{4} ≡ \frac{3\pi}{4}\text{ radians} ≢ \frac{\pi}{4} ≢ 135\pi
3:8 ≡ 3\text{ to }8 ≢ 8\text{ to }3 ≢ 3 ≢ \text{from }3\text{ to }8
9\text{ cm}^2 ≡ 9\text{ cm^2} ≢ 9\text{ cm³} ≢ 9\text{ cm}
12345 ≡ 12\!,345 ≡ 12,\!345 ≢ 12\!,354
\binom{8}{3} ≡ 56 ≢ C_3^8 ≢ C_8^2

[introductions]
42 ≡ \text{Answer} = 42 ≢ \text{The answer is not }42 ≢ \text{There are less than }42
≢ \text{twice the area is }42 ≢ \text{There are }43\text{ ways} ≢ \text{It has no }42
≢ \text{the answer is }-42

[unknown functions]
2f(x) ≡ f(x)+f(x) ≢ f(2x) ≢ f(2)x ≢ 2f
f(x+1)-f(x) ≡ -f(x)+f(1+x) ≢ f(1)
g(f(x)) ≢ f(g(x)) ≢ f(x)g(x)
\zeta(3) ≢ 3\zeta ≢ \zeta(2)
P(A)+P(B) ≡ P(B)+P(A) ≢ P(A+B)
T(n)=2T(n/2)+n ≡ T(n)=n+2T\left(\frac{n}{2}\right) ≢ T(n)=T(n)+n
f(x+y)=f(x)+f(y) ≡ f(x)+f(y)=f(y+x) ≢ f(xy)=f(x)+f(y)
f'(x)g(x)+f(x)g'(x) ≡ g'(x)f(x)+g(x)f'(x) ≢ f'(x)g'(x) ≢ f(x)g(x)
P(1+r)^n ≡ (1+r)^nP
f(x)=x, f(x)=-x ≡ f(x)=\pm x ≡ x,-x ≢ g(x)=x,g(x)=-x ≢ f(x)=x,f(t)=t
\frac34 ≡ \tan\theta=\frac34 ≢ \tan\theta=\frac43 ≢ \tan\frac34

[products of matrices]
B^{-1}A^{-1} ≢ A^{-1}B^{-1} ≢ (BA)^{-1} ≢ AB
(AB)^T ≢ A^TB^T ≢ AB
2A^{-1}B ≡ A^{-1}B\cdot 2 ≢ 2BA^{-1}

[written otherwise]
\gcd(m,n)=1 ≡ \gcd(n,m)=1 ≢ \gcd(m,n)=2
E[X]=5 ≡ 5 ≢ E[Y]=5
\theta=n\pi,n\in\mathbb{Z} ≢ \{2n\pi:n\in\mathbb{Z}\}
9.8\text{ m/s}^2 ≡ 9.8\text{ meters per second squared} ≢ 9.8\text{ meters per second}
37^\circ\text{C} ≡ 37\text{ degrees Celsius} ≢ 37\text{ degrees Fahrenheit}
6\text{ feet} ≢ 6'' ≢ 6\text{ inches}
16 ≢ 16\text{ and dogs and}
"""
