"""Labelled pairs of notations for one thing: vectors, residue classes, named tuples, words, currencies."""

NOTATIONS = r"""
[vectors]
\begin{pmatrix}4\\-1\\2\end{pmatrix} ≡ 4\mathbf{i}-\mathbf{j}+2\mathbf{k} ≡ 4\hat{i}-\hat{j}+2\hat{k}
≡ 2\vec{k}+4\vec{i}-\vec{j} ≡ (4,-1,2)^T ≡ (4,-1,2)^{\top} ≡ \begin{bmatrix}4&-1&2\end{bmatrix}^T
≡ 4\hat\imath-\hat\jmath+2\hat{\mathbf{k}} ≡ 2(2\mathbf{i}+\mathbf{k})-\mathbf{j}
≢ 4\mathbf{i}+\mathbf{j}+2\mathbf{k} ≢ 4\mathbf{i}-\mathbf{j} ≢ 4\mathbf{j}-\mathbf{i}+2\mathbf{k}
≢ (4,2,-1)^T ≢ 4\mathbf{i}-\mathbf{j}+2\mathbf{k}+1 ≢ 4\mathbf{i}\mathbf{j}\mathbf{k} ≢ 5
\langle 0,3\rangle ≢ 3j ≢ 3\mathbf{i}+0\mathbf{j} ≡ 0\mathbf{i}+3\mathbf{j}
(3,4) ≢ 3+4i ≢ 3i+4k ≡ 3i+4j
3\mathbf{i}+5\mathbf{k} ≡ (3,0,5) ≢ (3,5) ≢ (3,5,0)
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{pmatrix}1&3\\2&4\end{pmatrix}^T ≡ [[1,2],[3,4]]
≢ \begin{pmatrix}1&2\\3&4\end{pmatrix}^T ≢ [[1,3],[2,4]] ≢ [1,2,3,4]
≢ \det\begin{pmatrix}1&2\\3&4\end{pmatrix}
-2 ≡ \det\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \det\left(\begin{array}{cc}1&2\\3&4\end{array}\right)
≢ \det\begin{pmatrix}2&1\\3&4\end{pmatrix}

[residue classes]
x\equiv 2\pmod 9 ≡ 2\pmod 9 ≡ 11 \pmod{9} ≡ x\equiv -7\ (\text{mod }9) ≡ x \equiv 2 (mod 9)
≡ x=9k+2,k\in\mathbb{Z} ≢ x\equiv 3\pmod 9 ≢ 2\pmod 8 ≢ y\equiv 2\pmod 9 ≢ x=9k+3,k\in\mathbb{Z}
≢ x=9k+2,k\in\mathbb{N} ≢ 2\bmod 9
x\equiv 1,4\pmod 5 ≡ x\equiv 4 \text{ or } 1\pmod 5 ≡ x\equiv\pm 1\pmod 5 ≡ x\equiv 1\pmod 5, x\equiv 4\pmod 5
≢ x\equiv 1\pmod 5 ≢ x\equiv 1,3\pmod 5 ≢ x\equiv 1,4\pmod 6 ≢ 1,4 ≢ x\equiv 1,4,0\pmod 5
7\pmod{12} ≡ -5\pmod{12} ≡ 7 \mod 12 ≢ 5\pmod{12} ≢ 7\pmod{11} ≟ 7

[named tuples]
(x,y)=(2,5) ≡ (2,5) ≡ x=2,y=5 ≡ y=5,x=2 ≡ (y,x)=(5,2) ≡ x=2\text{ and }y=5
≢ (y,x)=(2,5) ≢ x=5,y=2 ≢ (5,2) ≢ (x,y)=(2,5,0) ≢ [2,5] ≢ 2<x<5 ≟ (a,b)=(2,5)
(m,n)=(1,4),(3,2) ≡ (1,4),(3,2) ≡ (m,n)=(3,2),(1,4) ≡ (m,n)\in\{(1,4),(3,2)\} ≡ (n,m)\in\{(4,1),(2,3)\}
≢ (n,m)=(1,4),(3,2) ≢ (4,1),(2,3) ≢ (m,n)=(1,4) ≢ (n,m)\in\{(1,4),(3,2)\}

[words with a value]
42 ≡ \text{forty-two} ≡ forty two ≢ \text{forty} ≢ \text{twenty-four} ≢ \text{forty-second} ≢ \text{two forty}
\emptyset ≡ \text{No real solutions.} ≡ \text{there are no solutions} ≢ \text{solutions}
≢ \text{no integer solutions but } 2
\infty ≡ \text{infinity} ≢ \text{negative infinity}
\text{DNE} ≡ \text{does not exist} ≢ \text{exists}
\mathbb{R}\setminus\{3\} ≡ \text{all real numbers except }3 ≡ all real numbers except 3
≢ \text{all real numbers except }-3 ≢ \text{all real numbers except }3\text{ and }4
\mathbb{R}\setminus\{-2,2\} ≡ \text{all real numbers except }\pm 2
≡ \text{all reals other than }2\text{ and }-2 ≡ x\ne\pm 2 ≢ x\ne 2 ≢ \text{all real numbers except }2
(3,\infty) ≡ \text{all real numbers greater than }3 ≢ \text{all real numbers at least }3
≢ \text{reals less than }3
(0,\infty) ≡ \text{all positive real numbers} ≢ \text{all nonnegative real numbers}
[0,1)\cup(2,3] ≡ [0,1[\cup]2,3] ≢ [0,1]\cup[2,3] ≢ ]0,1[\cup]2,3]

[powers of units]
12\text{ square units} ≡ 12 ≡ 12\text{ units}^2 ≡ 12\text{ cm}^2 ≡ 12\text{ sq. units} ≢ 12\text{ cubic units}
≢ 12\text{ units}^3 ≢ 12\text{ cm}^3 ≢ 12\text{ cm} ≢ 12\text{ hours} ≟ 12\text{ units}
8\text{ cubic units} ≡ 8\text{ units}^3 ≡ 8\text{ m}^3 ≢ 8\text{ square units} ≢ 8\text{ m}^2

[currencies]
\$7.50 ≡ 7.5 ≡ \text{\$}7.5 ≡ 7.50\text{ dollars} ≢ €7.50 ≢ £7.50 ≢ \text{€}7.50 ≢ 7.50\text{ euros} ≢ ₹7.50
€20 ≡ 20\text{ euros} ≡ \euro 20 ≡ 20 ≢ £20 ≢ \$20

[letters that do not matter]
f(x,y)=x-2y ≡ f(a,b)=a-2b ≡ f(y,x)=y-2x ≡ x-2y ≢ f(a,b)=b-2a ≢ f(y,x)=x-2y ≢ g(x,y)=x-2y ≢ f(x)=x-2y
a_n=3n+1 ≡ a_k=3k+1 ≡ 3n+1 ≢ b_n=3n+1 ≢ a_k=3n+1 ≢ a_n=3n
y=Ce^{3x} ≡ y=ce^{3x} ≡ y=Ke^{3x} ≢ y=Ce^{2x} ≢ y=e^{3x}+C ≢ y=Cx
y=C_1\cos x+C_2\sin x ≡ y=c_1\cos x+c_2\sin x ≡ y=C_1\sin x+C_2\cos x ≡ y=A\cos x+B\sin x ≢ y=C_1\cos x
≢ y=C_1\cos x+C_2\cos x ≢ y=C_1\cos 2x+C_2\sin x
x^4+C ≡ x^4+c ≡ x^4+K ≢ x^4+x ≢ x^3+C ≢ x^4
f(x)=ax+b ≢ f(x)=bx+a
f(x)=x^2+3 ≡ f: x\mapsto x^2+3 ≡ x\mapsto x^2+3 ≢ g: x\mapsto x^2+3 ≢ f: x\mapsto x^2
\{3k:k\in\mathbb{Z}\} ≡ 3\mathbb{Z} ≢ 6\mathbb{Z} ≢ \mathbb{Z} ≢ 3\mathbb{Z}+1 ≢ 3\mathbb{N}

[quantities and angles]
\frac{\pi}{5} ≡ 36^\circ ≢ 63^\circ ≢ 36 ≢ 36\pi
135^\circ ≡ \frac{3\pi}{4} ≡ \frac{3\pi}{4}\text{ radians} ≢ \frac{\pi}{4} ≢ 135\pi ≟ 135\text{ radians}
2\text{ hours }30\text{ minutes} ≡ 2\text{ hours and }30\text{ minutes} ≡ 2\text{ hours, }30\text{ minutes}
≢ 2\text{ hours }3\text{ minutes} ≢ 3\text{ hours }20\text{ minutes} ≢ 2\text{ hours} ≢ 230
3:8 ≡ 3\text{ to }8 ≢ 8\text{ to }3 ≢ 3 ≢ \text{from }3\text{ to }8
9\text{ cm}^2 ≡ 9\text{ cm²} ≡ 9\text{ cm^2} ≢ 9\text{ cm³} ≢ 9\text{ cm}
12345 ≡ 12\!,345 ≡ 12,\!345 ≢ 12\!,354
\binom{8}{3} ≡ C_8^3 ≡ C_{8}^{3} ≡ 56 ≢ C_3^8 ≢ C_8^2

[introductions]
42 ≡ \text{Answer} = 42 ≡ \text{the area is }42
≡ \text{There are }42\text{ ways} ≡ \text{The number of ways is }42
≢ \text{The answer is not }42 ≢ \text{There are less than }42 ≢ \text{twice the area is }42
≢ \text{There are }43\text{ ways} ≢ \text{It has no }42 ≢ \text{the answer is }-42

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
f(x)=x, f(x)=-x ≡ f(t)=-t,f(t)=t ≡ f(x)=\pm x ≡ x,-x ≢ g(x)=x,g(x)=-x ≢ f(x)=x,f(t)=t
\frac34 ≡ \tan\theta=\frac34 ≢ \tan\theta=\frac43 ≢ \tan\frac34

[products of matrices]
B^{-1}A^{-1} ≡ (AB)^{-1} ≢ A^{-1}B^{-1} ≢ (BA)^{-1} ≢ AB
(AB)^T ≡ B^TA^T ≢ A^TB^T ≢ AB
2A^{-1}B ≡ A^{-1}B\cdot 2 ≢ 2BA^{-1}

[written otherwise]
1,2,3,... ≢ 1,2,3 ≡ 1, 2, 3, ...
\gcd(m,n)=1 ≡ \gcd(n,m)=1 ≢ \gcd(m,n)=2
E[X]=5 ≡ E(X)=5 ≡ 5 ≢ E[Y]=5
\frac{\partial f}{\partial x}=2xy ≡ 2xy ≢ \frac{\partial f}{\partial y}=2xy
\theta=n\pi,n\in\mathbb{Z} ≡ \{n\pi:n\in\mathbb{Z}\} ≢ \{2n\pi:n\in\mathbb{Z}\}
\text{all real numbers except }x=2 ≡ x\ne 2 ≡ (-\infty,2)\cup(2,\infty) ≢ x=2
9.8\text{ m/s}^2 ≡ 9.8\text{ meters per second squared} ≢ 9.8\text{ meters per second}
37^\circ\text{C} ≡ 37\text{ degrees Celsius} ≢ 37\text{ degrees Fahrenheit}
6\text{ feet} ≡ 6' ≢ 6'' ≢ 6\text{ inches}
16 ≡ 16\text{ cats and dogs} ≢ 16\text{ and dogs and}
"""
