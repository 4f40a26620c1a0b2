"""Labelled pairs of expressions, from radicals to integrals; `pairs.py` says how to read the tables."""

ALGEBRA = r"""
[radicals]
2\sqrt{3} ≡ 2 \sqrt 3 ≡ 2\sqrt3 ≡ \sqrt{12} ≡ 2*sqrt(3) ≡ 2\cdot 3^{1/2} ≡ \frac{6}{\sqrt{3}} ≡ 2\cdot\sqrt{3}
≡ 2√3 ≢ 3\sqrt{2} ≢ 2\sqrt{2} ≢ \sqrt{6} ≢ 2^{\sqrt{3}} ≢ 2\sqrt{3}x ≢ 2+\sqrt{3} ≢ -2\sqrt{3} ≢ 2\sqrt[3]{3}
≢ 23 ≢ 2\sqrt{33}
\sqrt[3]{2} ≡ 2^{1/3} ≡ 2^{\frac13} ≡ \sqrt[6]{4} ≢ \sqrt{2} ≢ 3\sqrt{2} ≢ \sqrt{2^3} ≢ 2^{3} ≢ \sqrt[3]{3}
\frac{\sqrt{2}}{2} ≡ \frac{1}{\sqrt{2}} ≡ \sqrt{\frac{1}{2}} ≡ \sqrt{0.5} ≡ sqrt(2)/2 ≢ \frac{\sqrt{2}}{4}
≢ \sqrt{2} ≢ \frac{2}{\sqrt{2}} ≢ \sqrt{\frac{2}{2}}
\sqrt{5+2\sqrt{6}} ≡ \sqrt2+\sqrt3 ≢ \sqrt{5}+2\sqrt6 ≢ \sqrt3-\sqrt2
1+\sqrt{5} ≡ \sqrt{5}+1 ≡ 1+5^{0.5} ≢ 1-\sqrt{5} ≢ \sqrt{6} ≢ \sqrt{1+5} ≢ -1+\sqrt5 ≢ \sqrt5
\sqrt{\sqrt{16}} ≡ 2 ≢ 4 ≢ -2
\sqrt[4]{81} ≡ 3 ≢ 9 ≢ 4\sqrt{81}
\sqrt{x^2} ≢ x ≡ |x| ≢ -x
x^{3/2} ≡ x\sqrt{x} ≢ x^3/2 ≢ \frac{x^3}{2} ≢ x^{2/3}

[constants]
2\pi ≡ 2 \pi ≡ 2π ≡ 2*pi ≡ \pi\cdot 2 ≡ \pi 2 ≡ \pi+\pi ≡ 6.283185307179586 ≢ \pi ≢ \pi^2 ≢ 2 ≢ -2\pi ≢ 2\pi r
≢ 6 ≢ 6.3
\frac{4}{3}\pi ≡ \frac{4\pi}{3} ≡ 4\pi/3 ≡ \pi\frac43 ≡ \frac{4}{3} \cdot \pi ≢ \frac{3}{4}\pi
≢ \frac{4}{3\pi} ≢ \frac43 ≢ \frac{4}{3}+\pi
e ≡ e^1 ≡ \mathrm{e} ≢ \pi ≢ \frac1e ≢ e^2 ≢ 2.71 ≢ 1
e^2-1 ≡ -1+e^{2} ≡ e^2 - 1 ≡ (e-1)(e+1) ≢ e^{2-1} ≢ e^2+1 ≢ 1-e^2 ≢ 2e-1
1-\frac{1}{e} ≡ \frac{e-1}{e} ≡ 1-e^{-1} ≢ 1+\frac1e ≢ \frac{1}{e} ≢ 1
\frac{1+\sqrt{5}}{2} ≢ \frac{1-\sqrt{5}}{2} ≢ 1.6 ≢ \frac{1}{2}+\sqrt{5} ≡ 1.6180339887498949
≡ \frac12+\frac{\sqrt5}{2}
4-\pi ≡ -\pi+4 ≢ \pi-4 ≢ 4\pi ≢ 4
\infty ≡ +\infty ≡ ∞ ≡ infinity ≢ -\infty ≢ 0 ≢ 8 ≢ 10^{100}

[trig]
\frac{1}{2} ≡ \sin\frac{\pi}{6} ≡ \cos(\pi/3) ≡ \sin 30^\circ ≡ \cos 60^{\circ} ≢ \sin\frac{\pi}{3}
≢ \cos 30^\circ ≢ -\cos 60^\circ
\sin^2 x ≡ (\sin x)^2 ≡ 1-\cos^2 x ≡ \sin x \sin x ≡ \frac{1-\cos 2x}{2} ≢ \sin x^2 ≢ \sin 2x ≢ \cos^2 x
≢ 2\sin x ≢ \sin^3 x
2\sin x\cos x ≡ \sin 2x ≡ \sin(2x) ≡ 2\cos x\sin x ≢ 2\sin x ≢ \cos 2x ≢ \sin^2 x ≢ 2\sin x\cos y
\tan x ≡ \frac{\sin x}{\cos x} ≡ tan(x) ≡ \tan(x) ≢ \cot x ≢ \frac{\cos x}{\sin x} ≢ \tan y ≢ \sin x
\sec^2 y ≡ \tan^2(y)+1 ≡ \frac{1}{\cos^2 y} ≢ \tan^2 y - 1 ≢ \csc^2 y
\arctan 2 ≡ \tan^{-1} 2 ≡ \tan^{-1}(2) ≢ \tan 2 ≢ \frac{1}{\tan 2} ≢ \arctan\frac12 ≢ -\arctan 2
\arcsin\frac{1}{2} ≡ \frac{\pi}{6} ≡ \sin^{-1}\left(\frac12\right) ≢ \frac{\pi}{3} ≢ \arccos\frac12
-\cos x ≢ \cos(-x) ≡ \cos(x+\pi) ≢ \cos x ≢ \sin x
\cos\frac{\pi}{9}\cos\frac{2\pi}{9}\cos\frac{4\pi}{9} ≡ \frac18 ≢ \frac{1}{16} ≢ -\frac18
3\sin\theta ≡ 3\sin(\theta) ≡ 3 \cdot \sin θ ≢ 3\sin\phi ≢ \sin 3\theta ≢ 3\cos\theta

[logarithms]
2\ln 2 ≡ \ln 4 ≡ \ln(4) ≡ \ln 2^2 ≡ ln(4) ≢ \ln 2 ≢ (\ln 2)^2 ≢ \log_{10} 4 ≢ \ln 8 ≢ 4 ≢ -\ln 4
3 ≡ \log_2 8 ≡ \log_{2}{8} ≡ \log_2(8) ≡ \frac{\ln 8}{\ln 2} ≡ \log_{10} 1000 ≢ \log_8 2 ≢ \log_2 9 ≢ \log_3 8
\log_3 5 ≡ \frac{\ln 5}{\ln 3} ≡ \frac{\log_{10} 5}{\log_{10} 3} ≢ \log_5 3 ≢ \log_3 6 ≢ \frac{\ln 3}{\ln 5}
≢ \log 5
5 ≡ e^{\ln 5} ≡ 2^{\log_2 5} ≡ \ln e^5 ≢ \ln 5 ≢ e^5
-\ln 3 ≡ \ln\frac13 ≡ \ln\left(\frac{1}{3}\right) ≢ \ln 3 ≢ \frac{1}{\ln 3} ≢ \ln(-3)
\log_4 8 ≡ \frac32 ≡ 1.5 ≢ 2 ≢ \frac23
\ln x ≢ \ln y ≢ \log_2 x ≢ x ≢ \ln(x+1)

[complex]
3+4i ≡ 4i+3 ≡ 3 + 4 i ≡ 3+i4 ≡ 3+4\mathrm{i} ≡ 3+4\cdot i ≡ (2+i)^2 ≢ 3-4i ≢ 4+3i ≢ 7i ≢ 5 ≢ 3+4 ≢ -3+4i
≢ (3,4)
2i ≡ (1+i)^2 ≡ \sqrt{-4} ≡ 2 i ≡ i+i ≢ -2i ≢ 2 ≢ -2 ≢ i^2 ≢ 1+i
-1 ≡ i^2 ≡ e^{i\pi} ≡ e^{\pi i} ≡ i\cdot i ≢ i ≢ 1 ≢ -i ≢ i^4 ≢ e^{i}
-i ≡ \frac{1}{i} ≡ i^3 ≡ i^{-1} ≡ 0-i ≡ e^{-i\pi/2} ≢ i ≢ -1
\frac{1}{2}+\frac{\sqrt{3}}{2}i ≡ e^{i\pi/3} ≡ \frac{1+i\sqrt3}{2} ≡ \cos 60^\circ+i\sin 60^\circ
≢ \frac{1-i\sqrt{3}}{2} ≢ e^{2\pi i/3} ≢ \frac{\sqrt3+i}{2}
|3+4i| ≡ 5 ≡ \sqrt{25} ≢ 7 ≢ 3+4i ≢ -5
\frac{3+i}{1-i} ≡ 1+2i ≢ 1-2i ≢ 2+i ≢ 3

[factorials]
120 ≡ 5! ≡ 5\cdot4! ≡ \frac{6!}{6} ≢ 5 ≢ 6! ≢ 4! ≢ 15
10 ≡ \binom{5}{2} ≡ \dbinom{5}{2} ≡ {5 \choose 2} ≡ \binom{5}{3} ≡ \tbinom52 ≢ \binom{5}{1} ≢ \frac{5}{2}
≢ \binom{2}{5} ≢ \binom{6}{2}
\frac{10!}{8!} ≡ 90 ≡ 10\cdot 9 ≢ \frac{10}{8} ≢ 2! ≢ 80
\binom{2026}{1013} ≡ \frac{2026!}{1013!\,1013!} ≡ \frac{2026!}{(1013!)^2} ≢ \binom{2026}{1012}
≢ \binom{2025}{1013} ≢ \frac{2026}{1013} ≢ 2026!
1 ≡ 0! ≡ 1! ≡ \binom{7}{0} ≢ 0 ≢ 2!
\frac{n!}{k!(n-k)!} ≡ \binom{n}{k} ≢ \binom{k}{n} ≢ \frac{n!}{k!} ≢ \frac{n}{k}
1-\frac{12!}{12^{12}} ≢ 1+\frac{12!}{12^{12}} ≢ \frac{12!}{12^{12}} ≡ 1-\frac{11!}{12^{11}}

[functions of numbers]
3 ≡ \lfloor \pi \rfloor ≡ \left\lfloor \frac{7}{2} \right\rfloor ≡ |-3| ≡ \lceil 2.1 \rceil
≢ \lceil \pi \rceil ≢ -|3| ≢ \gcd(9,18) ≢ \min(1,3)
\lfloor x \rfloor ≢ x ≢ \lceil x \rceil ≢ |x| ≡ \left\lfloor x\right\rfloor
|x-1| ≡ |1-x| ≡ \left|x-1\right| ≡ \lvert x-1\rvert ≢ x-1 ≢ |x+1| ≢ |x|-1 ≢ 1-x
55 ≢ \sum_{k=1}^{9} k ≢ \sum_{k=0}^{11} k

[polynomials]
x^2+2x+1 ≡ (x+1)^2 ≡ 1+2x+x^2 ≡ x(x+2)+1 ≡ x^{2}+2x+1 ≡ x^2+2*x+1 ≡ x**2 + 2*x + 1 ≡ (x+1)(x+1) ≡ x²+2x+1
≢ x^2+2x-1 ≢ x^2+x+1 ≢ x^3+2x+1 ≢ y^2+2y+1 ≢ (x-1)^2 ≢ x^2+1 ≢ x^2+2x ≢ x^2+2x+2 ≢ x^{2+2x+1} ≢ 4
(x-2)(x+3) ≡ x^2+x-6 ≡ (x+3)(x-2) ≡ (2-x)(-x-3) ≢ (x+2)(x-3) ≢ (x-2)(x-3) ≢ x^2-x-6 ≢ x^2+x+6 ≢ (x-2),(x+3)
-(x-1) ≡ 1-x ≡ -x+1 ≢ x-1 ≢ -x-1 ≢ -1
xy ≡ yx ≡ x y ≡ x\cdot y ≡ x*y ≢ x+y ≢ x/y ≢ xz ≢ x^y ≢ x,y
3x^2y ≡ 3yx^2 ≡ 3\cdot x^{2}\cdot y ≢ 3xy^2 ≢ 3x^{2y} ≢ (3x)^2y ≢ 3x^2+y
a^2+b^2 ≡ b^2+a^2 ≡ (a+b)^2-2ab ≢ (a+b)^2 ≢ a^2-b^2 ≢ a^2+c^2 ≢ a+b
p-q ≢ q-p ≢ p+q ≢ p ≡ -q+p ≡ p + (-q)
n(n+1) ≡ n^2+n ≡ (n+1)n ≢ n^2+1 ≢ n(n-1) ≢ n+n+1 ≢ \frac{n(n+1)}{2}
x_1+x_2 ≡ x_{1}+x_{2} ≡ x_2+x_1 ≢ x_1-x_2 ≢ x_1+x_3 ≢ x+x ≢ 2x
11z^{7}(5+11z^{7}) ≡ 55z^7+121z^{14} ≢ 55z^7+121z^{49} ≢ 11z^7(5+11z^6)
-15x^{10} ≢ 15x^{10} ≢ -15x^{1}0 ≡ -15 x^{10} ≡ -15(x^5)^2

[rational expressions]
\frac{x+2}{7} ≡ \frac{x}{7}+\frac{2}{7} ≡ (x+2)/7 ≡ \frac17(x+2) ≢ x+\frac{2}{7} ≢ \frac{x}{7}+2 ≢ x+2/7
≢ \frac{7}{x+2} ≢ \frac{x-2}{7}
\frac{1}{x} ≡ x^{-1} ≡ 1/x ≡ \frac{x}{x^2} ≢ x ≢ -x ≢ \frac{1}{x^2} ≢ \frac{1}{y} ≢ \frac{1}{-x}
\frac{1}{x-1}-\frac{1}{x+1} ≡ \frac{2}{x^2-1} ≢ \frac{2}{x^2+1} ≢ \frac{-2}{x^2-1} ≢ 0 ≢ \frac{1}{x^2-1}
\frac{\pi r}{h+r} ≡ \frac{r\pi}{r+h} ≢ \frac{\pi r}{h}+r ≢ \frac{\pi h}{h+r} ≢ \frac{\pi r}{h-r}
≢ \frac{r}{h+r}
\frac{1}{1+\frac{1}{x}} ≡ \frac{x}{x+1} ≢ 1+x ≢ \frac{x+1}{x} ≢ \frac{1}{1+x}
\frac{a}{b/c} ≡ \frac{ac}{b} ≢ \frac{a}{bc} ≢ \frac{ab}{c}
2^{n+1} ≡ 2\cdot 2^n ≡ 2^{1+n} ≢ 2^n+1 ≢ 2^{n}1 ≢ 2^{n-1} ≢ 2n+1 ≢ 4^n
e^{-x} ≡ \frac{1}{e^x} ≡ \exp(-x) ≢ e^x ≢ -e^x ≢ e^{-y}

[equations]
y=2x+3 ≡ y = 3+2x ≡ 2x+3=y ≡ 2x-y+3=0 ≡ y-2x=3 ≡ 2x + 3 ≡ f(x)=2x+3 ≢ y=3x+2 ≢ y=2x-3 ≢ y=-2x+3 ≢ x=2y+3
≢ 2x+y+3=0 ≢ 3 ≢ y
x^2+y^2=25 ≡ y^2+x^2=25 ≡ x^2+y^2=5^2 ≡ x^2+y^2-25=0 ≡ \frac{x^2}{25}+\frac{y^2}{25}=1 ≢ x^2-y^2=25
≢ x^2+y^2=5 ≢ x+y=25 ≢ 25 ≢ x^2+y^2
(x-2)^2+(y+3)^2=16 ≡ x^2-4x+y^2+6y-3=0 ≢ (x+2)^2+(y-3)^2=16 ≢ (x-2)^2+(y+3)^2=4 ≢ (x-2)^2-(y+3)^2=16 ≢ 16
x+2y=3 ≡ 2x+4y=6 ≡ -x-2y=-3 ≡ 3=x+2y ≡ x+2y-3=0 ≢ x+2y=6 ≢ 2x+y=3 ≢ x-2y=3 ≢ 2x+4y=3 ≢ x+2y
\frac{x^2}{4}-\frac{y^2}{9}=1 ≡ 9x^2-4y^2=36 ≢ 4x^2-9y^2=36 ≢ \frac{x^2}{4}+\frac{y^2}{9}=1
≢ \frac{x^2}{9}-\frac{y^2}{4}=1
x=5 ≡ 5 ≡ x = 5 ≡ 5=x ≡ x=5.0 ≡ x=10/2 ≢ x=6 ≢ x=-5 ≢ x>5 ≢ x\ne 5 ≢ x ≢ x=50

[inequalities]
x>3 ≡ x > 3 ≡ 3<x ≡ x \gt 3 ≡ 2x>6 ≡ -x<-3 ≡ x-3>0 ≡ (3,\infty) ≡ x\in(3,\infty) ≢ x\ge 3 ≢ x<3 ≢ x>-3 ≢ 3>x
≢ [3,\infty) ≢ 3 ≢ x=3 ≢ (-\infty,3)
x\le 2 ≡ x \leq 2 ≡ x<=2 ≡ x ≤ 2 ≡ 2\ge x ≡ x\leqslant 2 ≡ (-\infty,2] ≢ x<2 ≢ x\ge 2 ≢ x\le -2 ≢ (-\infty,2)
≢ 2 ≢ [2,\infty)
x\ne 4 ≡ x \neq 4 ≡ x != 4 ≡ x≠4 ≢ x=4 ≢ x\ne -4 ≢ x>4 ≢ 4
y<2x+1 ≡ 2x+1>y ≡ y-2x<1 ≢ y\le 2x+1 ≢ y>2x+1 ≢ y<2x-1 ≢ y=2x+1 ≢ x<2y+1

[chains]
1<x<5 ≡ 5>x>1 ≡ 1 < x < 5 ≡ (1,5) ≡ x\in(1,5) ≡ 1\lt x\lt 5 ≢ 1\le x<5 ≢ 1<x\le 5 ≢ 1<x<6 ≢ [1,5] ≢ 5<x<1
≢ x<5 ≢ 1,5
-2\le x\le 7 ≡ x\in[-2,7] ≡ [-2,7] ≡ 7\ge x\ge -2 ≢ -2<x<7 ≢ -2\le x<7 ≢ (-2,7) ≢ 2\le x\le 7 ≢ -7\le x\le 2
0<a\le\frac{1}{2} ≡ 0<a\leq 0.5 ≡ \frac12\ge a>0 ≢ 0\le a\le\frac12 ≢ 0<a<\frac12 ≢ 0<a\le 2
0<f(x)<1 ≡ (0,1) ≢ [0,1] ≢ 0<f(x)<2

[matrices]
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{bmatrix}1&2\\3&4\end{bmatrix}
≡ \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} ≡ \left(\begin{array}{cc}1&2\\3&4\end{array}\right)
≡ \begin{pmatrix}1&2\\3&\sqrt{16}\end{pmatrix} ≢ \begin{pmatrix}1&3\\2&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\3&5\end{pmatrix} ≢ \begin{pmatrix}1&2&3&4\end{pmatrix} ≢ \begin{pmatrix}1&2\end{pmatrix}
≢ \begin{pmatrix}3&4\\1&2\end{pmatrix} ≢ 1,2,3,4 ≢ -2
\begin{pmatrix}6&8\\10&12\end{pmatrix}
≡ \begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}5&6\\7&8\end{pmatrix}
≡ 2\begin{pmatrix}3&4\\5&6\end{pmatrix} ≢ \begin{pmatrix}1&2\\3&4\end{pmatrix}
\begin{pmatrix}1/2\\-3\end{pmatrix} ≡ \begin{pmatrix}\frac12\\-3\end{pmatrix}
≡ \begin{bmatrix} 0.5 \\ -3 \end{bmatrix} ≢ \begin{pmatrix}\frac12\\3\end{pmatrix}
≢ \begin{pmatrix}-3\\\frac12\end{pmatrix} ≢ \frac12
\begin{pmatrix}\cos\theta&-\sin\theta\\\sin\theta&\cos\theta\end{pmatrix}
≢ \begin{pmatrix}\cos\theta&\sin\theta\\-\sin\theta&\cos\theta\end{pmatrix}
≡ \begin{bmatrix}\cos\theta&-\sin\theta\\\sin\theta&\cos(\theta)\end{bmatrix}
2\mathbf{i}-\mathbf{j} ≡ -\mathbf{j}+2\mathbf{i} ≢ 2\mathbf{i}+\mathbf{j} ≢ 2\mathbf{j}-\mathbf{i}
≢ 2\mathbf{i}
"""

CALCULUS = r"""
[absolute values of complex numbers]
|z|^2 ≡ z\cdot|z|^2/z ≢ z^2 ≡ |z|\cdot|z| ≡ |z^2| ≢ -|z|^2
|z|=z ≢ z=z^2
|z-1|=2 ≢ z-1=2 ≡ |1-z|=2 ≢ |z+1|=2
|x|^2 ≡ x^2 ≡ |x^2|
|zw| ≡ |z||w| ≢ zw ≢ |z+w|

[near misses]
x=\pm\frac{\pi}{3}+2k\pi,k\in\mathbb{Z} ≢ x=\frac{\pi}{3}+2k\pi,k\in\mathbb{Z}
≢ x=\pm\frac{\pi}{3}+k\pi,k\in\mathbb{Z} ≢ x=\pm\frac{\pi}{6}+2k\pi,k\in\mathbb{Z} ≢ \pm\frac{\pi}{3}
AB-BA ≢ 0 ≢ BA-AB ≢ AB+BA
A^2+AB+BA+B^2 ≢ A^2+2AB+B^2 ≢ (A-B)^2
ABA ≢ A^2B ≢ BA^2 ≢ AAB
ABAB ≢ BABA
(-\infty,-2)\cup(2,\infty) ≢ x>2
x\ne3 ≢ x^2-9\neq0
x>2 ≢ x^2>4 ≢ x^3>8 ≢ y>2 ≢ x>2, x<5 ≢ x>2y
x^2<2 ≢ x<\sqrt2
|x-3|<5 ≢ |x-5|<3 ≢ |x-3|\le5 ≢ |x-3|>5 ≢ |x+3|<5
x^2+y^2<1 ≢ x^2+y^2\le1
\mathbb{R}^n ≢ \mathbb{R}^m ≢ \mathbb{R}
\frac{x^2}{2}+C ≢ \frac{x^2}{2}+Cx ≢ \frac{x^2+Cx}{2} ≢ \frac{x^2}{2}C ≢ \frac{x^2}{2}+\frac{1}{C}
≢ \frac{x^2}{2} ≢ x^2+C ≢ \frac{x^2}{2}+C+x ≢ \frac{y^2}{2}+C ≢ \frac{x^2}{2}+D
\arctan x+C ≢ \arcsin x+C ≢ \arctan x+Cx ≢ \tan x+C
y=C_1e^x+C_2e^{-x} ≢ y=C_1e^x+C_2e^{x} ≢ y=C_1e^x-C_1e^{-x} ≢ y=C_1e^x ≢ y=e^x+e^{-x} ≢ y=C_1e^{2x}+C_2e^{-x}
C_1\cos 2t+C_2\sin2t ≢ C_1\cos t+C_2\sin t ≢ C_1\cos2t
\frac{C_1C_2}{C_1+C_2} ≢ \frac{C_1}{C_1+C_2} ≢ C_1+C_2
\frac{C_1}{C_1+C_2} ≢ \frac{C_2}{C_1+C_2} ≢ \frac{A}{A+B}
A\cos x+B\sin x ≢ A\sin x+B\cos x ≢ B\cos x+A\sin x+1
y=Ae^{kx} ≢ y=ke^{Ax} ≢ y=Ae^{x}
y=\frac{1}{x+C} ≢ y=\frac1x+C ≢ y=\frac1{x}
\frac{d^2y}{dx^2}=6x ≢ y'=6x ≢ \frac{dy}{dx}=6x
y'=2x ≢ y''=2x ≢ \frac{dy}{dt}=2x ≢ \frac{dx}{dy}=2x ≢ y=2x
\frac{df}{dx}=3x^2 ≢ f(x)=3x^2 ≢ f'(y)=3x^2
\frac{dy}{dt}=ky ≢ \frac{dy}{dx}=ky ≢ \frac{dt}{dy}=ky
x=\frac{\pi}{6}+2k\pi ≢ x=\frac\pi6 ≢ x=\frac{\pi}{6}+2k
(\pm2,3) ≢ (2,3) ≢ (2,-3),(-2,3) ≢ (2,\pm3) ≢ (\pm2,\pm3)
(2,3),(2,-3) ≢ (\pm2,3) ≢ (\pm2,\pm3) ≢ 2,\pm3
(\pm1,\pm2) ≢ (1,2),(-1,-2) ≢ (\pm1,2)
\overline{2-3i} ≢ 2-3i ≢ \overline{2+3i}
\overline{z+w} ≢ z+w
\bar{x} ≢ x ≢ \hat{x}
\ln(1-x)-\ln(1+x) ≢ \ln\frac{1+x}{1-x} ≢ \ln(1-x^2)
\sqrt{1-x}\sqrt{1+x} ≢ 1-x
\arcsin x ≢ \arccos x
AB ≢ BA ≢ A+B
2AB ≢ 2BA ≢ -2BA
\frac12AB ≢ BA/2
AB\cdot CD ≢ AB\cdot CE
2\vec a+\vec b ≢ \vec a+2\vec b
\frac{\mathrm{d}y}{\mathrm{d}x}=\frac xy ≢ y'=\frac yx ≢ y=\frac xy
\frac{\mathrm{d}^2y}{\mathrm{d}x^2}=0 ≢ y'=0
ABC ≢ ACB ≢ BAC ≢ CBA
XY ≢ YX
e^{2k\pi i/3},k=0,1,2 ≢ e^{2k\pi i/3},k=0,1 ≢ e^{2k\pi i/3}
\{1,3,5,7,9\} ≢ 2k+1,k=0,1,\ldots,5 ≢ 2k+1,k=1,2,3,4,5
x=2,k=0,1 ≢ 2 ≢ 2,2
\lfloor n/7\rfloor ≢ \lfloor(n+1)/7\rfloor ≢ \lceil n/7\rceil-1 ≢ \frac n7
\left\lceil\frac n2\right\rceil ≢ \left\lfloor\frac n2\right\rfloor ≢ \frac{n+1}2
\left\lfloor\frac{n^2}4\right\rfloor ≢ \lfloor n/2\rfloor^2
\lfloor x\rfloor ≢ \lceil x\rceil-1 ≢ \lfloor x+0.01\rfloor
\lfloor\frac{(2n)!}3\rfloor ≢ \lfloor(2n)!/4\rfloor
\lfloor\sqrt x+\sqrt y+\ln x\sin y\rfloor ≢ \sqrt x+\sqrt y+\ln x\sin y
(2n)! ≢ \lfloor(2n)!/2\rfloor
\lfloor(m+n)/5\rfloor ≢ \lfloor m/5\rfloor+\lfloor n/5\rfloor ≢ \lfloor(m+n+1)/5\rfloor
|x-100| ≢ 100-x ≢ x-100
y+z=\lfloor n/7\rfloor ≢ y+z=\lfloor(n+1)/7\rfloor
y+z=|x-100| ≢ y+z=100-x

[degrees of multiples]
\frac{\pi}{4} ≡ 45^\circ ≢ \frac{\pi}{4}^\circ ≢ 45
90^\circ ≡ \frac{\pi}{2} ≡ 90 ≢ \frac{\pi}{2}^\circ ≢ \arcsin 2
\arctan\frac{1}{\sqrt3} ≡ 30^\circ ≢ 60^\circ ≢ 30
\arctan 2 ≢ 63.4^\circ

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
x_1=2\text{ or }x_2=5 ≡ x_1=2,x_2=5 ≡ x=2\text{ or }x=5 ≡ 2,5
a=1\text{ or }b=2 ≡ b=2\text{ or }a=1 ≢ a=1\text{ and }b=2 ≢ a=1,b=2
"""
