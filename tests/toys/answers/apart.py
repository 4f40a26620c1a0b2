"""Labelled pairs that are near misses; `pairs.py` says how to read the tables."""

APART = r"""
[near misses]
\{1,2,3\} ≢ \{x\in\mathbb{Z}\mid 1\le x<3\} ≢ \{x\mid 1\le x\le3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
≢ \{2k:k\in\{1,2,3\}\}
\{0,1,2,3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
(1,\infty),(2,\infty) ≢ (2,\infty)
x>1,x>2 ≢ x>2
42 ≢ 42\text{ k} ≢ 42k ≢ 42K ≢ 42 million ≢ 42\text{ hundred}
42\text{ feet squared} ≢ 42\text{ feet}
42\text{ cm}^2 ≢ 42\text{ cm}
360 ≢ 2^3 3^2 7
1011_2 ≢ (1011)_3 ≢ (1101)_2 ≢ 10110_2
0.0011_2 ≢ 0.011_2
9\text{ a.m.} ≢ 9\text{ p.m.} ≢ 10\text{ a.m.}
3:30\text{ p.m.} ≢ 14:30
3:30\text{ a.m.} ≢ 15:30
12:15\text{ p.m.} ≢ 0:15
15:30 ≢ 3:30
a>b ≢ b>a ≢ a<b ≢ b\le a
(0,\infty) ≢ \text{all real numbers}
\begin{pmatrix}2\\4\end{pmatrix} ≢ 3\begin{pmatrix}1\\2\end{pmatrix}
\cos 13\text{ degrees} ≢ \cos 13 ≢ \cos 14^\circ
x^2+C ≢ x^2-c ≢ x^2 ≢ x^3+c ≢ x^2+2c
x^2+c+C ≢ x^2+2c
Cx+C ≢ cx+C
V_1:V_2=11:21 ≢ 21:11 ≢ 11:22
\begin{pmatrix}1\\2\end{pmatrix} ≢ \langle 2,1\rangle
\begin{pmatrix}7\\-2\end{pmatrix} ≢ (-2,7) ≢ \begin{pmatrix}7&-2\end{pmatrix}
\langle 7,-2\rangle ≢ (-2,7) ≢ [7,-2]
x<3\text{ or }x>8 ≢ x<3
4,9,16 ≢ 4\text{, }9
23 ≢ 23^{r} ≢ 23^2 ≢ 23 M
-8 ≢ &plus;8
x\le 6 ≢ x &lt; 6
4e^{i\pi/3} ≢ 4\operatorname{cis} 30^\circ

[exact decimals]
1000000 ≢ 1000000.4 ≡ 1000000.0
1000000.4 ≢ 1000000.5
1 ≢ 1.0000001
0.5 ≢ 0.5000001
\frac{1}{2} ≢ 0.5000001
\frac{1}{8} ≢ 0.12500001 ≡ 0.125
1000000x ≢ 1000000.4x
x+0.5 ≢ x+0.5000001
x^2+1 ≢ 1.0000001x^2+1
\frac{x}{2} ≢ 0.5000001x
20\% ≢ 0.20000001
12345678 ≢ 1.2345679e7
5.0 ≢ 4.9999999
\sqrt{4} ≢ 2.0000001
2^{10} ≢ 1024.0001
(1000000,2) ≢ (1000000.4,2)
5!\cdot 10000 ≢ 1200000.1
\frac{1}{3} ≡ 0.33333333 ≢ 0.3333
\frac{x}{3} ≡ 0.33333333x
\pi ≡ 3.1415927
\sqrt{2} ≡ 1.41421356
0.5x ≡ \frac{x}{2}
x+0.25 ≡ x+\frac14
2\pi x ≡ 6.28318531x
\frac{22}{7} ≡ 3.142857143 ≢ 3.14
\frac{0.5}{x} ≡ \frac{1}{2x}
e^{0.5x} ≡ \sqrt{e^x}
x^{0.5} ≡ \sqrt{x}
x<1\text{ or }x>2 ≢ x<1\text{ and }x>2 ≡ x<1, x>2 ≡ (-\infty,1)\cup(2,\infty)
x<1\text{ and }x>2 ≢ x<1, x>2 ≡ \emptyset
x>1\text{ and }x<2 ≡ (1,2)
x>1\text{ or }x<2 ≢ (1,2) ≢ x>1\text{ and }x<2 ≡ \mathbb{R}
1<x\text{ and }x<2 ≡ 1<x<2
x\le1\text{ or }x\ge2 ≢ x<1\text{ or }x>2
x=1\text{ or }x>2 ≢ x=1\text{ and }x>2

[named values]
42 ≢ x=41=42 ≢ x=42=41 ≢ 41=42 ≢ 42=41 ≢ x=6\cdot 7=41+2=42 ≡ x=6\cdot 7=42 ≡ 6\cdot 7=42
x=42 ≡ 42
1=x ≢ 1=1
x=1 ≢ 1=1
x=5 ≢ 2+3=5
5 ≡ 2+3=5
1+4=5 ≡ 2+3=5
x=0 ≢ 0=0
y=2x+1 ≢ f(y)=2x+1 ≡ f(x)=2x+1 ≡ 2x+1=y ≡ 2x-y+1=0
f(x)=2x+1 ≢ f(y)=2x+1
f(x)=x+y ≢ f(y)=x+y
f(x)=x+t ≢ f(t)=t+t
f(x)=x+1 ≡ x+1=f(x) ≢ f(t)=x+1 ≢ f(t)=t+2 ≢ g(x)=x+1 ≢ f'(x)=x+1 ≢ f^{-1}(x)=x+1 ≡ x+1 ≢ t+1
f^{-1}(x)=x+1 ≡ f^{-1}(x)=1+x
P(A)=1/2 ≢ P(B)=1/2 ≡ P(A)=0.5
f(2)=3 ≢ f(3)=3 ≢ y=3
y=x ≢ y=y ≢ x=x

[domains of roots and logarithms]
\sqrt{a/b} ≡ \sqrt a/\sqrt b ≢ \sqrt b/\sqrt a ≢ \sqrt{ab}
\sqrt{b/a} ≡ \sqrt b/\sqrt a
\sqrt{\frac{x}{y}} ≡ \frac{\sqrt{x}}{\sqrt{y}}
\sqrt{\frac{y}{x}} ≡ \frac{\sqrt{y}}{\sqrt{x}}
\sqrt{xy} ≡ \sqrt{x}\sqrt{y}
\ln a+\ln b ≡ \ln(ab)
\ln a-\ln b ≡ \ln\frac{a}{b}
\ln b-\ln a ≡ \ln\frac{b}{a}
2\ln x ≡ \ln x^2
\log_2 x+\log_2 y ≡ \log_2(xy)
\log_a b ≡ \frac{1}{\log_b a} ≡ \frac{\ln b}{\ln a} ≢ \log_b a
\log_b a ≡ \frac{\ln a}{\ln b}
\frac{1}{\sqrt{x}} ≡ \frac{\sqrt{x}}{x}
x^{1/2} ≡ \sqrt{x}
x^{-1/2} ≡ \sqrt{\frac{1}{x}}
(ab)^{1/2} ≡ a^{1/2}b^{1/2}
\sqrt[4]{ab} ≡ \sqrt[4]{a}\sqrt[4]{b}
\sqrt{x^2y} ≡ |x|\sqrt{y} ≢ x\sqrt{y}
\sqrt{-x} ≡ \sqrt{-1\cdot x}
\sqrt{1-x^2} ≡ \sqrt{(1-x)(1+x)} ≢ 1-x
e^{\ln x} ≡ x
\sqrt{a^2+b^2} ≢ a+b
\sqrt{a+b} ≢ \sqrt{a}+\sqrt{b}
\ln(a+b) ≢ \ln a+\ln b
\ln(ab) ≢ \ln a\ln b
\ln|x| ≢ \ln x
\ln x^2 ≢ (\ln x)^2
\sqrt{x} ≢ \sqrt{-x} ≢ -\sqrt{x}
\log_2 x ≢ \ln x
\sqrt[3]{x} ≢ \sqrt{x}
\sqrt[3]{x^3} ≢ |x|
\sqrt[4]{x^4} ≢ x
x^{2/3} ≢ x^{3/2}
i\sqrt{x} ≢ \sqrt{x}
\sqrt{(x-1)^2} ≢ x-1

[signs and names]
(-1)^n ≢ 1 ≢ (-1)^{n+1} ≡ (-1)^{n+4}
(-3)^k ≢ 3^k ≢ -3^k
\angle PQR=40^\circ ≢ \angle PRQ=40^\circ ≡ 40^\circ
\frac{du}{dv}=3v ≢ \frac{dv}{du}=3v
\frac{PQ}{RS}=5 ≢ \frac{RS}{PQ}=5
\alpha=4 ≡ 3\alpha=12 ≢ 3\alpha=4
18 ≡ g(4)=18 ≡ h(h(-2))=18 ≡ P'(1)=18 ≡ t_{\max}=18 ≡ \det B=18 ≢ g(18)=4 ≢ x(4)=18 ≢ g(x-4)=18
g(4)=18 ≢ g(5)=18 ≢ g(4)=81
\frac{2}{7} ≡ P(X=3)=\frac27 ≡ P(A\cup B)=\frac{2}{7} ≡ E[X]=\frac{2}{7} ≢ P(X=\frac27)=3
P(A\cap B)=0.3 ≢ P(A\cup B)=0.3
f^{-1}(x)=5x-1 ≢ f^{-1}(t)=5x-1
(5,6),(6,5) ≡ (a,b)\in\{(6,5),(5,6)\} ≢ (a,b)\in\{(5,6)\}
"""

FAMILIES = r"""
[values of one letter]
7, -4 ≡ r_1=-4, r_2=7 ≡ r_1=7, r_2=-4 ≡ r_1=-4\text{ or }r_2=7 ≢ r_1=4, r_2=-7 ≢ r_1=7 ≢ r_1=7, r_2=7
\lambda=2,9 ≡ \lambda_1=9,\ \lambda_2=2 ≡ \lambda_1=2, \lambda_2=9 ≢ \mu_1=9, \mu_2=2
≢ \lambda_1=9, \lambda_2=9 ≢ \lambda_1=9, \lambda_2=2, \lambda_3=2
x\in\{0,4,-1\} ≡ x_1=-1, x_2=0, x_3=4 ≢ y_1=-1, y_2=0, y_3=4 ≢ x_1=-1, x_2=0 ≢ x_1=1, x_2=0, x_3=4
(3,8) ≡ x_1=3, x_2=8 ≢ x_1=8, x_2=3
x_1=3, x_2=8 ≢ x_1=8, x_2=3

[near misses]
y=Ce^{3x}-2 ≢ y(x)=C_1e^{-3x}-2 ≢ y(x)=C_1e^{3x}+2 ≢ y(x)=e^{3x}-2
P(x)=cx(x-5) ≢ P(x)=ax(x+5) ≢ Q(x)=ax(x-5) ≢ P(x)=2x(x-5) ≢ P(x)=x(x-5)
g(x)=cx+1 ≢ g(t)=kt-1 ≢ g(t)=kx+1 ≢ h(t)=kt+1
A=cx ≢ A=ax
y=\frac{1}{C-2x} ≢ y=\frac{1}{2x+C} ≢ y=-\frac{1}{C-2x} ≢ y=-\frac{1}{x+C}
y=C_1\cos x+C_2\sin x ≢ y=A\cos x-A\sin x ≢ y=A\cos x+B\cos x ≢ y=A\cos2x-B\sin x
y=\sqrt{x^2+C} ≢ y=\sqrt{2x^2+C} ≢ y=-\sqrt{x^2+C} ≢ y=\sqrt{x^2}+C
y=C_1e^{2x}+C_2e^{-2x} ≢ y=C_1e^{2x}-C_2e^{2x} ≢ y=C_1e^{2x}-C_1e^{-2x}
y=\frac{1}{c-x} ≢ y=-\frac{1}{x+c}
x^3+C ≢ x^3-C ≢ x^3+2C+1
f=\frac{1}{2\pi\sqrt{LC}} ≢ f=\frac{1}{\pi\sqrt{LC}} ≢ f=-\frac{1}{2\pi\sqrt{LC}}
q(t)=5e^{-t/C} ≢ q(t)=5e^{-2t/C} ≢ q(t)=5e^{t/C}
f=\frac{1}{\sqrt{LC}} ≢ f=\sqrt{\frac{2}{LC}} ≢ f=\sqrt{\frac{1}{3LC}}
v=\frac{Q}{C} ≢ v=-\frac{Q}{C} ≢ v=\frac{2Q}{C}
y=k\pi,\ k\in\mathbb{Z} ≢ y=k\pi,\ k\in\mathbb{R}
f(x)=\frac{1}{x},\ x>0 ≢ f(x)=\frac1x\text{ for }x<0 ≢ f(x)=\frac1x\text{ for }x\ge1 ≢ f(x)=x\text{ for }x>0
n=3^k,\ k\ge1 ≢ n=3^m,\ m\ge0 ≢ n=3^m,\ k\ge1 ≢ n=3^k ≢ n=k^3,\ k\ge1 ≢ p=3^k,\ k\ge1
k^2+1,\ k>2 ≢ m^2-1,\ m>2 ≢ m^2+1,\ m<2
y=x^2,\ x\ge0 ≢ y=t^2,\ t\ge0
(x,y)=(t,5t),\ t\in\mathbb{R} ≢ (y,x)=(t,5t),\ t\in\mathbb{R}
\text{all odd } m ≢ m\text{ is even} ≢ \text{all even } m ≢ \text{all } m ≢ n\text{ is odd} ≢ \text{odd}
≢ m\text{ is an odd prime} ≢ \text{all odd positive integers } m
n\text{ even} ≢ \text{all odd integers}
n\ge0,\ n\in\mathbb{N} ≢ n\ge0,\ n\in\mathbb{Z}
n<3\text{ or }n>9,\ n\in\mathbb{Z} ≢ n\le2\text{ and }n\ge10,\ n\in\mathbb{Z}
y=mx,\ m>0 ≢ y=kt,\ k>0 ≢ y=nx,\ n<0
n>2,\ n\in\mathbb{R} ≢ n\ge3,\ n\in\mathbb{R}
"""

QUANTITIES = r"""
[space between rows]
\begin{pmatrix}\frac13\\-5\end{pmatrix} ≡ \begin{pmatrix}\frac13\\[4pt]-5\end{pmatrix}
≡ \begin{bmatrix}1/3\\[0.5em]-5\\[1ex]\end{bmatrix} ≢ \begin{pmatrix}\frac13\\[4pt]5\end{pmatrix}
≢ \begin{pmatrix}\frac13\\[4pt]-5\\[4pt]0\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{pmatrix}1&2\\[-2pt]3&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\[4pt]4&3\end{pmatrix} ≢ \begin{pmatrix}1&2\\[4]3&4\end{pmatrix}

[near misses]
\left(\frac13,\frac23,-\frac23\right) ≢ (1,2,-2)
\pm3\pm i ≢ 3+i,3-i ≢ 3+i,3-i,-3+i,-3+2i ≢ 1+3i,1-3i,-1+3i,-1-3i
\pm\sqrt{6\pm1} ≢ \sqrt7,\sqrt5,-\sqrt7,\sqrt6 ≢ \sqrt7,\sqrt5
\pm1\mp\sqrt3 ≢ 1+\sqrt3,1-\sqrt3,-1+\sqrt3,-1-\sqrt3
\text{divergent} ≢ \text{convergent} ≢ \text{converges} ≢ \text{not divergent}
47\ \Omega ≢ 47\text{ k}\Omega ≢ 47\,\mathrm{k\Omega} ≢ 74\ \Omega ≢ 47\,\mathrm{M\Omega}
3300\text{ ohms} ≢ 3.3\,\Omega ≢ 33\,\mathrm{k\Omega} ≢ 3.3\,\mathrm{M\Omega}
7\Omega ≢ 7 ≢ 7\text{ k}\Omega
7\,\Omega x ≢ 7x ≢ 7
4F ≢ 4
3\times10^{-7}\text{ m} ≢ 0.3\text{ mm} ≢ 3\ \mu\text{m} ≢ 0.3\ \mu\text{s}
8\ \mu\text{s} ≢ 8\text{ s}
\mu m ≢ 10^{-6}m
4nF ≢ 4
60\text{ N} ≢ 60\ \mathrm{kg\cdot m/s} ≢ 60\text{ kg} ≢ 60\ \mathrm{g\,m\,s^{-2}}
50\text{ Hz} ≢ 50\text{ s}
2\text{ T} ≢ 2\ \mathrm{kg\,s^{-2}}

[excluded values]
[-2,0)\cup(0,3)\cup(3,\infty) ≡ x\ge-2, x\ne0, x\ne3 ≢ x\ge-2,\ x\ne0,-3 ≢ x>-2,\ x\ne0,3 ≢ x\ge-2,\ x\ne0
≢ x\ge-2,0,3
x\ge3 ≢ x\ge-2,0,3 ≢ x\ge-2,3
(1,2)\cup(2,5) ≡ 1<x<5,\ x\ne2 ≢ 1<x<5,\ x\ne3 ≢ 1\le x<5,\ x\ne2
"""
