"""Labelled pairs about what must stay apart beside what must not; `pairs.py` says how to read the table."""

APART = r"""
[set builders]
\{2k:k\in\mathbb{Z}\} ≢ \{2k+1:k\in\mathbb{Z}\} ≢ \mathbb{Z} ≢ \{7:k\in\mathbb{Z}\} ≢ \{2k:k\in\mathbb{N}\}
≢ \{4k:k\in\mathbb{Z}\} ≢ \{k:k\in\mathbb{Z}\} ≢ 2k ≡ \{2n\mid n\in\mathbb{Z}\}
\{2k+1:k\in\mathbb{Z}\} ≡ \{2n-1:n\in\mathbb{Z}\} ≡ \{1-2n:n\in\mathbb{Z}\}
\{\frac{\pi}{4}+k\pi:k\in\mathbb{Z}\} ≡ \{n\pi-\frac{3\pi}{4} \mid n\in\mathbb{Z}\}
≢ \{n\pi+\frac{3\pi}{4} \mid n\in\mathbb{Z}\} ≢ \{2n\pi+\frac{\pi}{4} \mid n\in\mathbb{Z}\}
(2,\infty) ≢ \{x^2:x>2\} ≡ \{x:x>2\} ≡ \{x\in\mathbb{R}:x>2\} ≡ \{x \mid x>2, x\in\mathbb{R}\}
\{x:x>2\} ≢ \{x^2:x>2\} ≢ \{y^2:y>2\}
\{x^2:x>2\} ≡ \{y^2:y>2\} ≡ \{x\cdot x:x>2\} ≢ \{x^2:x\ge2\}
x>2 ≡ \{x \mid x>2\}
\{t \mid t>2\} ≡ \{x \mid x>2\}
[1,3] ≢ \{n\in\mathbb{N}:1\le n\le3\} ≢ \{n\in\mathbb{Z}:1\le n\le3\}
(1,3) ≢ \{n\in\mathbb{Z}:1< n<3\}
\{1,2,3\} ≡ \{x\in\mathbb{Z}\mid 1\le x\le 3\} ≡ \{x\in\mathbb{N}\mid 1\le x\le 3\}
≡ \{x\in\mathbb{Z}\mid 0<x<4\} ≡ \{x\in\mathbb{Z}^+\mid x<4\} ≡ \{x\mid x\in\mathbb{Z}, 1\le x\le 3\}
≢ \{x\in\mathbb{Z}\mid 1\le x<3\} ≢ \{x\mid 1\le x\le3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
≢ \{2k:k\in\{1,2,3\}\}
\{0,1,2,3\} ≢ \{x\in\mathbb{N}\mid x\le 3\}
\{1,4,9\} ≡ \{k^2:k\in\mathbb{Z},1\le k\le3\}
\{0,1,4\} ≡ \{k^2:k\in\mathbb{Z},-2\le k\le2\}
\{2,4,6\} ≡ \{2k:k\in\{1,2,3\}\}
\{2\} ≡ \{x:x=2\}
\{2,3\} ≡ \{x:x=2\text{ or }x=3\}
(-\infty,1)\cup(2,\infty) ≡ \{x:x<1\text{ or }x>2\} ≢ \{x:x<1\text{ and }x>2\}
(-1,1) ≡ \{x : |x|<1\} ≢ \{x\in\mathbb{Z} : |x|<1\}
\{0\} ≡ \{x\in\mathbb{Z} : |x|<1\}
\{x : |x|<1\} ≢ \{|x| : x<1\}
\{(x,y):x+y=1\} ≡ \{(x,y):y+x=1\} ≢ \{(x,y):x+y=2\} ≢ \{(y,x+1):x+y=1\} ≢ x+y=1
\{(x,y):x>1,y>1\} ≢ \{(x,y):x>1\}
\mathbb{R}\setminus\{2\} ≡ \{x:x\ne2\} ≡ \{x\in\mathbb{R}\mid x\neq2\} ≢ \{x\in\mathbb{Z}\mid x\neq2\}
\{x:x>1\},\{x:x>2\} ≢ \{x:x>2\} ≢ (2,\infty)
(1,\infty),(2,\infty) ≢ (2,\infty)
x>1,x>2 ≢ x>2
\{x\in\mathbb{Q}:x^2<2\} ≢ \{x\in\mathbb{R}:x^2<2\}
\{x\in\mathbb{Q}:0<x<2\} ≢ (0,2)
\{x\in\mathbb{C}:|x|<2\} ≢ (-2,2) ≢ \{x : |x|<2\}
x=\frac{\pi}{4}+k\pi, k\in\mathbb{Z} ≡ \frac{\pi}{4}+n\pi, n\in\mathbb{Z}
\frac{\pi}{4}+k\pi, k\in\mathbb{Z} ≡ \{\frac{\pi}{4}+n\pi \mid n\in\mathbb{Z}\}
≡ \frac{5\pi}{4}+k\pi, k \in \mathbb Z ≢ \frac{\pi}{4}+2k\pi, k\in\mathbb{Z}
≢ \frac{\pi}{4}+k\pi, k\in\mathbb{N} ≢ \frac{\pi}{4} ≢ \mathbb{Z}
k\pi, \frac{\pi}{4}+k\pi, k\in\mathbb{Z} ≡ \frac{\pi}{4}+n\pi, n\pi, n\in\mathbb{Z} ≢ k\pi, k\in\mathbb{Z}
90^\circ k, k\in\mathbb{Z} ≡ 90^\circ n, n \in \mathbb{Z}
k\pi\text{ for }k\in\mathbb{Z} ≡ k\pi,k\in\mathbb{Z} ≢ \mathbb{Z}
k\pi\text{ where } k \text{ is an integer} ≡ k\pi,k\in\mathbb{Z}
k\pi\text{ where k is an integer} ≡ k\pi,k\in\mathbb{Z}
k\pi\text{ for any integer } k ≡ k\pi,k\in\mathbb{Z}
k\pi\text{ for integer k} ≡ k\pi,k\in\mathbb{Z}
k\pi, k \text{ integer} ≡ k\pi,k\in\mathbb{Z}
42 ≢ 42\text{ integers}-1 ≡ 42\text{ integers} ≡ 42\text{ distinct integers} ≢ 42 \text{ for }k\in\mathbb{Z}

[words after numbers]
42 ≢ 42 \text{ is wrong} ≢ 42 tens ≢ 42\text{ base 5} ≢ 42\text{ vs 43} ≢ 42\text{ wrong}
≢ 42\text{ incorrect} ≢ 42\text{ not} ≢ 42 not ≢ 42\text{ maybe} ≢ 42\text{ of 50}
≢ 42\text{ of 50 students} ≢ 42\text{ k} ≢ 42k ≢ 42K ≢ 42 million ≢ 42\text{ hundred} ≢ 42\text{ hundreds}
≢ 42\text{ dozens} ≢ 42\text{ thirds} ≢ 42\text{ squared} ≢ 42\text{ plus change} ≢ 42\text{ at least}
≢ 42\text{ right} ≢ 42\text{ per} ≢ 42\text{ or 43} ≢ 42\text{ in base seven} ≢ 42\text{ quarters of a half}
≢ 42\text{ cm or }43\text{ cm} ≢ 42\text{ cm}-1 ≢ 42\text{ apples if lucky} ≢ 42\text{ modulo 7}
≡ 42\text{ apples} ≡ 42\text{ right triangles} ≡ 42\text{ ways.} ≡ 42\text{ sq. units} ≡ 42\text{ units}^2
≡ 42\text{ units}^{2} ≡ 42\text{ feet per second} ≡ 42\text{ ft/s} ≡ 42\text{ years old}
≡ 42 dollars per day ≡ 42 cups of flour ≡ 42\text{ in total} ≡ 42 students ≡ 42^\text{nd} ≡ 42\text{ (cm)}
≡ 42\text{ kg m/s}^2 ≡ 42\text{ more apples} ≡ \$42\text{ each}
42000000 ≡ 42\text{ million} ≡ 42\text{ million people}
42\text{ feet squared} ≢ 42\text{ feet}
42\text{ cm}^2 ≢ 42\text{ cm}
42\text{ N} ≢ 42\text{ J}

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
42 ≢ x=41=42 ≢ x=42=41 ≢ 41=42 ≢ 42=41 ≢ x=6\cdot 7=41+2=42 ≡ x=6\cdot 7=42 ≡ 6\cdot 7=42 ≡ x=ab=42
x=42 ≡ 42
1=x ≢ 1=1
x=1 ≢ 1=1
x=5 ≢ 2+3=5
5 ≡ 2+3=5
1+4=5 ≡ 2+3=5
x=0 ≢ 0=0
y=2x+1 ≢ f(y)=2x+1 ≡ f(x)=2x+1 ≡ 2x+1=y ≡ 2x-y+1=0
f(x)=2x+1 ≢ f(y)=2x+1
f(x)=x+y ≢ f(y)=x+y ≡ f(t)=t+y
f(x)=x+t ≢ f(t)=t+t
f(x)=x+1 ≡ x+1=f(x) ≡ f(t)=t+1 ≢ f(t)=x+1 ≢ f(t)=t+2 ≢ g(x)=x+1 ≢ f'(x)=x+1 ≢ f^{-1}(x)=x+1 ≡ x+1 ≢ t+1
f^{-1}(x)=x+1 ≡ f^{-1}(x)=1+x
P(A)=1/2 ≢ P(B)=1/2 ≡ P(A)=0.5
f(2)=3 ≢ f(3)=3 ≢ y=3
y=x ≢ y=y ≢ x=x
f(n)=\sum_{k=1}^n k ≡ f(m)=\sum_{k=1}^m k ≢ f(k)=\sum_{k=1}^n k
A=\pi r^2=9\pi ≡ 9\pi

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

[notations]
42 ≡ \text{Answer: }42 ≡ \text{The final answer is }42 ≢ \text{not }42 ≢ \text{Wrong answer: }42
43 ≢ \text{Answer: }42
12345 ≡ 12{,}\!345 ≢ 12{,}\!34
1234567 ≡ 1{,}\!234{,}\!567
360 ≡ 2^3 3^2 5 ≡ 2^3\,3^2\,5 ≢ 2^3 3^2 7 ≢ 2 3 60
0.0011_{2} ≡ 0.0011_2
1011_2 ≡ (1011)_2 ≡ (1011)_{2} ≢ (1011)_3 ≢ (1101)_2 ≢ 10110_2
0.0011_2 ≡ 0.00110_2 ≢ 0.011_2 ≢ 0.0011
9\text{ a.m.} ≡ 9 \text{AM} ≡ 9:00\text{ a.m.} ≢ 9\text{ p.m.} ≢ 10\text{ a.m.}
3:30\text{ p.m.} ≡ 15:30 ≡ 3:30 PM ≢ 14:30
3:30\text{ a.m.} ≢ 15:30
12:15\text{ a.m.} ≡ 0:15
12:15\text{ p.m.} ≡ 12:15 ≢ 0:15
15:30 ≢ 3:30
a>b ≡ b<a ≢ b>a ≢ a<b ≢ b\le a
a\ge b ≡ b\le a
(1,2) ≡ ]1,2[ ≢ [1,2[ ≢ ]1,3[
[1,2) ≡ [1,2[
(1,2] ≡ ]1,2]
(-\infty,1)\cup(2,3] ≡ ]-\infty,1[\cup]2,3]
[1,2] ≢ ]1,2[
\mathbb{R} ≡ \text{all real numbers} ≢ \text{all integers}
(-\infty,\infty) ≡ \text{all real numbers}
\mathbb{Z} ≢ \text{all real numbers}
(0,\infty) ≢ \text{all real numbers}
\sum_{k=1}^n k^2 ≡ \sum^n_{k=1} k^2 ≡ \sum_{i=1}^n i^2 ≡ \sum_{j=1}^n j^2 ≢ \sum_{i=1}^n i^3
≢ \sum_{i=0}^{n-1} i^2
\begin{pmatrix}2\\4\end{pmatrix} ≡ 2\begin{pmatrix}1\\2\end{pmatrix} ≢ 3\begin{pmatrix}1\\2\end{pmatrix}
\begin{pmatrix}\frac12\\1\end{pmatrix} ≡ \frac12\begin{pmatrix}1\\2\end{pmatrix}
x\equiv-4\pmod 7 ≡ x\equiv 3\pmod 7 ≢ x\equiv 4\pmod 7 ≢ x\equiv 3\pmod 8 ≢ y\equiv 3\pmod 7
x\equiv 3\pmod 7 ≡ x\equiv 10\pmod 7
\cos 13\text{ degrees} ≡ \cos 13^\circ ≢ \cos 13 ≢ \cos 14^\circ
x^2+C ≡ x^2+c ≢ x^2-c ≢ x^2 ≢ x^3+c ≢ x^2+2c
\frac{x^3}{3}-\cos x+C ≡ -\cos x+\frac{x^3}{3}+c
x^2+c+C ≢ x^2+2c
Cx+C ≢ cx+C
\binom{10}{3} ≡ _{10}C_3 ≡ {}_{10}C_3 ≡ ^{10}C_3 ≢ _{10}C_4 ≢ _{3}C_{10}
120 ≡ _{10}C_{3} ≡ C(10, 3)
V_1:V_2=11:21 ≡ 11:21 ≢ 21:11 ≢ 11:22
\begin{pmatrix}1\\2\end{pmatrix} ≡ \langle 1,2\rangle ≢ \langle 2,1\rangle
\begin{pmatrix}7\\-2\end{pmatrix} ≡ (7,-2) ≢ (-2,7) ≢ [7,-2] ≢ \begin{pmatrix}7&-2\end{pmatrix}
\langle 7,-2\rangle ≡ (7,-2) ≢ (-2,7) ≢ [7,-2]
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≢ \langle 1,2,3,4\rangle

[signs and names]
(-1)^n ≢ 1 ≢ (-1)^{n+1} ≡ (-1)^{n+4}
(-3)^k ≢ 3^k ≢ -3^k
\angle PQR=40^\circ ≢ \angle PRQ=40^\circ ≡ 40^\circ
\frac{du}{dv}=3v ≢ \frac{dv}{du}=3v
\frac{PQ}{RS}=5 ≡ 5 ≢ \frac{RS}{PQ}=5
\alpha=4 ≡ 3\alpha=12 ≢ 3\alpha=4
u=v=w=2 ≢ u=2 ≢ u=v=2 ≡ w=v=u=2 ≡ u=2,v=2,w=2 ≡ (2,2,2) ≢ (2,2)
18 ≡ g(4)=18 ≡ h(h(-2))=18 ≡ P'(1)=18 ≡ t_{\max}=18 ≡ \det B=18 ≢ g(18)=4 ≢ x(4)=18 ≢ g(x-4)=18
g(4)=18 ≢ g(5)=18 ≢ g(4)=81
\frac{2}{7} ≡ P(X=3)=\frac27 ≡ P(A\cup B)=\frac{2}{7} ≡ E[X]=\frac{2}{7} ≢ P(X=\frac27)=3
P(A\cap B)=0.3 ≢ P(A\cup B)=0.3
f^{-1}(x)=5x-1 ≡ f^{-1}(t)=5t-1 ≢ f^{-1}(t)=5x-1
(5,6),(6,5) ≡ (a,b)\in\{(6,5),(5,6)\} ≢ (a,b)\in\{(5,6)\}
\begin{pmatrix}u\\v\end{pmatrix}=\begin{pmatrix}8\\9\end{pmatrix} ≡ \begin{pmatrix}8\\9\end{pmatrix}
≢ \begin{pmatrix}9\\8\end{pmatrix}

[other spellings]
x<3\text{ or }x>8 ≡ x<3 \lor x>8 ≡ x > 8 \vee x < 3 ≢ x<3 \land x>8 ≢ x<3
4,9,16 ≡ 4\text{, }9\text{, and }16 ≢ 4\text{, }9
f(x)=3x ≡ f(x)=3x\text{ for all }x ≡ f(x)=3x,\ \forall x\in\mathbb{R}
≡ f(x)=3x \text{ for all real numbers } x ≢ f(x)=-3x\text{ for all }x ≢ f(x)=3x\text{ for all }x>0
\frac{\pi}{5}+k\pi, k\in\mathbb{Z} ≡ \frac{\pi}{5}+k\pi\ (k\in\mathbb{Z})
≢ \frac{\pi}{5}+2k\pi\ (k\in\mathbb{Z})
≡ \frac{\pi}{5}+n\pi,\text{ where }n\text{ is an integer}
21^\circ 15' 36'' ≡ 21^{\circ}15^{\prime}36^{\prime\prime} ≡ 21° 15′ 36″ ≡ 21^\circ 15'36"
≢ 21^\circ 36' 15''
23 ≡ 23^{rd} ≢ 23^{r} ≢ 23^2
≢ 23 M ≢ 23\text{ M}
-8 ≡ &minus;8 ≢ &plus;8
x\le 6 ≡ x &le; 6 ≢ x &lt; 6
504 ≡ _{9}P_3 ≡ {}_9P_{3} ≢ _{9}C_3
\binom{m}{3} ≡ {}_mC_3 ≢ {}_mP_3
\max(u,v) ≡ \max\{v,u\} ≢ \min\{u,v\}
\int_0^4 x\,dx ≡ \int_{0}^{4}x dx ≢ \int_0^5 x\,dx ≢ 8x
\lim_{x\to0}\frac{x}{2} ≡ \lim_{x \to 0} \frac{x}{2} ≢ \lim_{x\to2}\frac{x}{2}
\sum_{n=0}^{\infty}\frac{x^n}{5^n} ≡ \sum_{j=0}^{\infty}\frac{x^j}{5^j} ≢ \sum_{j=1}^{\infty}\frac{x^j}{5^j}
4e^{i\pi/3} ≡ 4\,\text{cis}\,\frac{\pi}{3} ≡ 4\operatorname{cis} 60^\circ ≢ 4\operatorname{cis} 30^\circ
"""
