"""Labelled pairs of vectors, inequalities, solutions and families; `pairs.py` says how to read the table."""

CALCULUS = r"""
[absolute values of complex numbers]
|z|^2 ≡ z\cdot|z|^2/z ≢ z^2 ≡ |z|\cdot|z| ≡ |z^2| ≢ -|z|^2
|z|=z ≢ z=z^2
|z-1|=2 ≢ z-1=2 ≡ |1-z|=2 ≢ |z+1|=2
|x|^2 ≡ x^2 ≡ |x^2|
|zw| ≡ |z||w| ≢ zw ≢ |z+w|

[both signs in families]
x=\pm\frac{\pi}{3}+2k\pi,k\in\mathbb{Z} ≡ x=2n\pi\pm\frac{\pi}{3},n\in\mathbb{Z}
≡ \pm\frac{\pi}{3}+2k\pi,k\in\mathbb{Z} ≡ x=\frac{\pi}{3}+2k\pi,x=-\frac{\pi}{3}+2k\pi,k\in\mathbb{Z}
≡ \mp\frac{\pi}{3}+2k\pi,k\in\mathbb{Z}
≡ x=\frac{\pi}{3}+2k\pi\text{ or }x=\frac{5\pi}{3}+2k\pi,k\in\mathbb{Z} ≢ x=\frac{\pi}{3}+2k\pi,k\in\mathbb{Z}
≢ x=\pm\frac{\pi}{3}+k\pi,k\in\mathbb{Z} ≢ x=\pm\frac{\pi}{6}+2k\pi,k\in\mathbb{Z} ≢ \pm\frac{\pi}{3}

[vector products]
\mathbf{u}\times\mathbf{v} ≡ -(\mathbf{v}\times\mathbf{u}) ≡ -\mathbf{v}\times\mathbf{u}
≡ \mathbf u\times\mathbf v ≡ \boldsymbol{u}\times\boldsymbol{v} ≢ \mathbf{v}\times\mathbf{u}
≢ \mathbf{u}\mathbf{v} ≢ uv ≢ 0 ≢ \mathbf{u}\times\mathbf{w}
2\vec{a}\times\vec{b} ≡ -2\vec b\times\vec a ≢ 2\vec b\times\vec a ≢ 2\vec a\cdot\vec b ≢ \vec a\times\vec b
\mathbf{F}=q\mathbf{v}\times\mathbf{B} ≢ \mathbf{F}=q\mathbf{B}\times\mathbf{v} ≡ q\mathbf{v}\times\mathbf{B}
\vec{a}\times(\vec{b}\times\vec{c}) ≢ (\vec{a}\times\vec{b})\times\vec{c}
≡ -(\vec{b}\times\vec{c})\times\vec{a}
m\times n ≡ n\times m ≡ mn ≡ m \cdot n
\nabla\times\mathbf{F} ≢ \nabla\cdot\mathbf{F} ≡ \nabla \times \mathbf{F}
3\times 10^5 ≡ 300000 ≡ 3\cdot10^5
\mathbf{5}\times\mathbf{3} ≡ 15
\mathbf{A}\mathbf{B} ≡ AB

[orders of matrices]
AB-BA ≢ 0 ≢ BA-AB ≡ -BA+AB ≢ AB+BA
A^2+AB+BA+B^2 ≡ A^2+BA+AB+B^2 ≢ A^2+2AB+B^2 ≢ (A-B)^2
ABA ≢ A^2B ≢ BA^2 ≢ AAB
ABAB ≢ A^2B^2 ≢ BABA
A^2+2AB+B^2 ≡ (A+B)^2 ≡ B^2+2BA+A^2
AB+BC ≡ BC+AB ≡ B(A+C)
ABC ≡ BCA
xyx ≡ x^2y

[solved inequalities]
(-\infty,-2)\cup(2,\infty) ≡ x^2>4 ≡ |x|>2 ≡ x^2-4>0 ≡ 4<x^2 ≡ -x^2<-4 ≢ x^2\ge4 ≢ x^2<4 ≢ x>2 ≢ x>\pm2
≢ |x|\ge2 ≡ \{x\mid x^2>4\} ≢ \{x\in\mathbb{Z}\mid x^2>4\} ≢ \{x\in\mathbb{Q}\mid x^2>4\}
[1,3] ≡ x^2-4x+3\le0 ≡ |x-2|\le1 ≡ (x-1)(x-3)\le0 ≡ (x-1)(3-x)\ge0 ≡ |2-x|\leq 1 ≡ |2x-4|\le2 ≢ (x-1)(x-3)\ge0
≢ (x-1)(x-3)<0 ≢ |x-2|<1 ≢ |x-1|\le2 ≢ |x+2|\le1
\{3\} ≡ (x-3)^2\le0 ≢ (x-3)^2<0 ≢ (x-3)^2\ge0
\mathbb{R} ≡ x^2\ge0 ≡ x^2+1>0 ≢ x^2>0 ≢ x^2+1<0
\emptyset ≡ x^2+1<0 ≢ x^2\le0 ≢ x^2>1
x\ne3 ≡ (x-3)^2>0 ≡ x^2-6x+9>0 ≢ x^2-9\neq0
x>2 ≢ x^2>4 ≢ x^3>8 ≢ y>2 ≢ x>2, x<5 ≢ x>2y
x^2<2 ≡ -\sqrt2<x<\sqrt2 ≡ |x|<\sqrt2 ≢ x<\sqrt2 ≢ -2<x<2
(-\sqrt{2},\sqrt{2}) ≡ x^2<2
|x-3|<5 ≡ -2<x<8 ≡ (-2,8) ≡ |3-x|<5 ≢ |x-5|<3 ≢ |x-3|\le5 ≢ |x-3|>5 ≢ |x+3|<5
x\le 1\text{ or }x\ge4 ≡ x^2-5x+4\ge0 ≢ x^2-5x+4>0 ≢ x^2-5x+4\le0 ≡ (x-1)(x-4)\ge0
x^2+y^2<1 ≢ x^2+y^2\le1 ≡ y^2+x^2<1 ≡ 1>x^2+y^2

[signs of number sets]
\mathbb{R}^+ ≡ (0,\infty) ≡ x>0 ≡ \mathbb{R}_{>0} ≡ \mathbb{R}^{+} ≢ \mathbb{R} ≢ [0,\infty) ≢ \mathbb{R}^-
≢ \mathbb{R}_{\ge 0} ≢ \mathbb{Z}^+ ≢ \mathbb{R}^2
\mathbb{R}_{\ge0} ≡ [0,\infty) ≢ (0,\infty)
\mathbb{Z}^+ ≢ \mathbb{Z} ≢ \mathbb{N}_0 ≢ \mathbb{Z}^-
\mathbb{R}^n ≢ \mathbb{R}^m ≢ \mathbb{R}

[arbitrary constants]
\frac{x^2}{2}+C ≡ \frac{x^2+C}{2} ≡ \frac12(x^2+C) ≡ \frac{x^2}{2}+c ≡ \frac{x^2+1}{2}+C ≢ \frac{x^2}{2}+Cx
≢ \frac{x^2+Cx}{2} ≢ \frac{x^2}{2}C ≢ \frac{x^2}{2}+\frac{1}{C} ≢ \frac{x^2}{2} ≢ x^2+C ≢ \frac{x^2}{2}+C+x
≢ \frac{y^2}{2}+C ≢ \frac{x^2}{2}+D
\arctan x+C ≢ \arcsin x+C ≢ \arctan x+Cx ≢ \tan x+C
y=C_1e^x+C_2e^{-x} ≡ y=Ae^x+Be^{-x} ≡ y=C_2e^x+C_1e^{-x} ≡ y=c_1e^x+c_2e^{-x} ≡ C_1e^x+C_2e^{-x}
≢ y=C_1e^x+C_2e^{x} ≢ y=C_1e^x-C_1e^{-x} ≢ y=C_1e^x ≢ y=e^x+e^{-x} ≢ y=C_1e^{2x}+C_2e^{-x}
C_1\cos 2t+C_2\sin2t ≡ A\cos2t+B\sin2t ≡ C_1\sin2t+C_2\cos2t ≢ C_1\cos t+C_2\sin t ≢ C_1\cos2t
\frac{C_1C_2}{C_1+C_2} ≢ \frac{C_1}{C_1+C_2} ≢ C_1+C_2 ≡ \frac{C_2C_1}{C_2+C_1}
\frac{C_1}{C_1+C_2} ≢ \frac{C_2}{C_1+C_2} ≢ \frac{A}{A+B}
A\cos x+B\sin x ≢ A\sin x+B\cos x ≢ B\cos x+A\sin x+1
y=Ae^{kx} ≢ y=ke^{Ax} ≢ y=Ae^{x}
y=\frac{1}{x+C} ≡ y=\frac{1}{x+K} ≡ y=(x+C)^{-1} ≢ y=\frac1x+C ≢ y=\frac1{x}

[names of derivatives]
\frac{d^2y}{dx^2}=6x ≡ y''=6x ≡ \frac{d^{2}y}{dx^{2}}=6x ≡ 6x ≢ y'=6x ≢ \frac{dy}{dx}=6x
y'=2x ≡ \frac{dy}{dx}=2x ≡ dy/dx=2x ≢ y''=2x ≢ \frac{dy}{dt}=2x ≢ \frac{dx}{dy}=2x ≢ y=2x
\frac{df}{dx}=3x^2 ≡ f'(x)=3x^2 ≢ f(x)=3x^2 ≢ f'(y)=3x^2
\frac{dy}{dt}=ky ≢ \frac{dy}{dx}=ky ≢ \frac{dt}{dy}=ky ≡ \frac{dy}{dt}=yk

[bound names]
\int_0^1 f(x)\,dx ≡ \int_0^1 f(t)\,dt ≡ \int_{0}^{1}f(u)du ≢ \int_0^1 f(x)\,dt ≢ \int_0^2 f(x)\,dx
≢ \int_0^1 g(x)\,dx ≢ \int_1^0 f(x)\,dx ≢ \int_0^1 f(x)
\int_0^x f(t)\,dt ≡ \int_0^x f(u)\,du ≢ \int_0^t f(x)\,dx ≢ \int_0^x f(x)\,dt ≢ \int_0^u f(t)\,dt
\int f(x)\,dx ≢ \int f(t)\,dt
\int_0^1 axe^{x}\,dx ≢ \int_0^1 axe^{x}\,da ≢ \int_0^1 bxe^x\,dx ≢ \int_0^1 aae^{a}da
x\int_0^1 f(t)dt ≢ t\int_0^1f(x)dx ≡ x\int_0^1f(u)du
\lim_{n\to\infty}\left(1+\frac1n\right)^n ≡ \lim_{m\to\infty}\left(1+\frac1m\right)^m
≡ \lim_{n\rightarrow\infty}\left(1+\frac1n\right)^n ≢ \lim_{n\to0}\left(1+\frac1n\right)^n
≢ \lim_{n\to\infty}\left(1+\frac1m\right)^n ≢ \lim_{n\to\infty}\left(1-\frac1n\right)^n
\lim_{h\to0}\frac{f(x+h)-f(x)}{h} ≡ \lim_{k\to0}\frac{f(x+k)-f(x)}{k} ≢ \lim_{x\to0}\frac{f(h+x)-f(h)}{x}
≢ \lim_{h\to0}\frac{f(x+h)+f(x)}{h} ≢ \lim_{x\to0}\frac{f(x+x)-f(x)}{x}

[all other cases]
\begin{cases}1&x>0\\0&\text{otherwise}\end{cases} ≡ \begin{cases}1&x>0\\0&x\le0\end{cases}
≡ \begin{cases}0&x\le0\\1&x>0\end{cases} ≢ \begin{cases}1&x>0\\0&x<0\end{cases}
≢ \begin{cases}1&x\ge0\\0&x<0\end{cases} ≢ \begin{cases}0&x>0\\1&\text{otherwise}\end{cases}
\begin{cases}x&0\le x\le1\\0&\text{otherwise}\end{cases}
≡ \begin{cases}x&0\le x\le1\\0&x<0\text{ or }x>1\end{cases} ≢ \begin{cases}x&0\le x\le1\\0&x<0\end{cases}
≢ \begin{cases}x&0<x\le1\\0&\text{otherwise}\end{cases}

[families without a domain]
x=\frac{\pi}{6}+2k\pi ≡ x=\frac\pi6+2n\pi, n\in\mathbb{Z} ≢ x=\frac\pi6+k\pi, k\in\mathbb{Z} ≢ x=\frac\pi6
≢ x=\frac{\pi}{6}+2k
k\pi ≡ n\pi, n\in\mathbb{Z} ≢ 2n\pi, n\in\mathbb Z
x\equiv2\pmod5 ≡ x=5k+2 ≡ 5n+2 ≡ x=5k-3 ≢ x=5k+3 ≢ x=2k+5 ≢ 5x+2 ≢ x=5k^2+2

[tuples with signs]
(\pm2,3) ≡ (2,3),(-2,3) ≡ (-2,3)\text{ and }(2,3) ≢ (2,3) ≢ (2,-3),(-2,3) ≢ (2,\pm3) ≢ (\pm2,\pm3)
(2,3),(2,-3) ≡ (2,\pm3) ≢ (\pm2,3) ≢ (\pm2,\pm3) ≢ 2,\pm3
(\pm1,\pm2) ≢ (1,2),(-1,-2) ≢ (\pm1,2)

[conjugates]
\overline{2-3i} ≡ 2+3i ≡ 3i+2 ≡ \overline{-3i+2} ≢ 2-3i ≢ \overline{2+3i}
\overline{z+w} ≢ z+w
\bar{x} ≡ \overline{x} ≢ x ≢ \hat{x}

[degrees of multiples]
\frac{\pi}{4} ≡ 45^\circ ≢ \frac{\pi}{4}^\circ ≢ 45
90^\circ ≡ \frac{\pi}{2} ≡ 90 ≢ \frac{\pi}{2}^\circ ≢ \arcsin 2
\arctan\frac{1}{\sqrt3} ≡ 30^\circ ≢ 60^\circ ≢ 30
\arctan 2 ≢ 63.4^\circ

[intervals in a list]
(-\infty,0)\cup(1,\infty) ≡ (-\infty,0),(1,\infty) ≡ (-\infty,0)\text{ and }(1,\infty)
≢ (-\infty,1),(0,\infty) ≢ (-\infty,0],(1,\infty)
(1,2)\cup(3,4) ≢ (1,2),(3,4),(5,6) ≢ (1,3),(2,4)
[1,2]\cup[3,4] ≡ [1,2],[3,4] ≢ [1,2],[3,5]

[real near zero only]
\ln(1-x)-\ln(1+x) ≡ \ln\frac{1-x}{1+x} ≢ \ln\frac{1+x}{1-x} ≢ \ln(1-x^2)
\sqrt{1-x}\sqrt{1+x} ≡ \sqrt{1-x^2} ≢ 1-x
\arcsin x ≢ \arccos x ≡ \frac{\pi}{2}-\arccos x
\operatorname{arctanh}x ≡ \frac12\ln\frac{1+x}{1-x} ≢ \tanh x
\operatorname{sech}x ≡ \frac{1}{\cosh x} ≢ \frac1{\sinh x}

[orders of two matrices]
AB ≡ A B ≡ A\cdot B ≢ BA ≢ A+B
2AB ≡ AB\cdot2 ≢ 2BA ≢ -2BA
\frac12AB ≡ AB/2 ≢ BA/2
AB\cdot CD ≡ CD\cdot AB ≡ DC\cdot BA ≢ AB\cdot CE
(AB)^\top ≡ B^TA^{\intercal} ≢ A^\top B^\top

[arrows and bold letters]
\vec{a}\times\vec{b} ≡ \mathbf a\times\mathbf b ≡ -\vec b\times\vec a ≢ \mathbf b\times\mathbf a
≢ \vec a\cdot\vec b
2\vec a+\vec b ≡ 2\mathbf{a}+\mathbf{b} ≢ \vec a+2\vec b

[definitions in sets]
\{x\mid x=3k+1,k\in\mathbb{Z}\} ≡ \{3k+1:k\in\mathbb{Z}\} ≡ \{x\in\mathbb{Z}:x=3n-2,n\in\mathbb{Z}\}
≡ x\equiv1\pmod3
≢ \{x\mid x=3k+2,k\in\mathbb{Z}\} ≢ \{x\mid x=3k+1,k\in\mathbb{N}\} ≢ \{x\in\mathbb{N}:x=3k+1,k\in\mathbb{Z}\}
\{k/2:k\in\mathbb{Z}\} ≡ \{x:x=k/2,k\in\mathbb{Z}\} ≢ \{x\in\mathbb{Z}:x=k/2,k\in\mathbb{Z}\}
\{(x,y):y=2x+1\} ≡ \{(t,2t+1):t\in\mathbb{R}\} ≡ \{(a,b):b=2a+1\} ≢ \{(x,y):x=2y+1\} ≢ \{(y,x):y=2x+1\}
≢ \{(x,2x+1):x\in\mathbb{Z}\}
\{(x,y):y>2x+1\} ≡ \{(a,b):b>2a+1\} ≡ \{(b,a):a>2b+1\} ≢ \{(b,a):b>2a+1\}
\{x>0:x\ne1\} ≡ (0,1)\cup(1,\infty) ≢ (0,\infty) ≢ x\ne1

[quadratic equations in sets]
\{x\in\mathbb{R}:x^2-5x+6=0\} ≡ \{2,3\} ≡ x=2\text{ or }x=3 ≢ \{2\} ≢ [2,3] ≢ (2,3)
\{x:x^2=4\} ≡ \{-2,2\} ≡ \pm2 ≢ \{2\} ≢ \{-4,4\}
\{x\in\mathbb{Z}:2x=3\} ≡ \emptyset ≢ \{3/2\}
\{x:x^2=-1\} ≢ \emptyset

[empty intervals]
-2<x<1\text{ and }x>3 ≡ \emptyset ≢ (3,-4) ≢ (3,3) ≢ [4,3]
\emptyset ≢ (3,3) ≢ (5,2]
x<1\text{ and }x>2 ≡ \text{no solution} ≡ \{\}

[infinite sums]
\sum_{n=0}^\infty\frac{(-1)^nx^{2n}}{(2n)!} ≡ \sum_{k=0}^{\infty}(-1)^k\frac{x^{2k}}{(2k)!}
≢ \sum_{n=0}^\infty\frac{x^{2n}}{(2n)!}
≡ \sum_{k=1}^\infty\frac{(-1)^{k-1}x^{2k-2}}{(2k-2)!} ≢ \sum_{n=1}^\infty\frac{(-1)^nx^{2n}}{(2n)!} ≢ \sin x
\sum_{n=1}^\infty nx^n ≡ x\sum_{n=0}^\infty(n+1)x^n ≡ \sum_{n=0}^\infty nx^n ≢ \sum_{n=1}^\infty x^n
≢ \sum_{n=1}^{9}nx^n

[partial derivatives as names]
f_x=2x ≡ 2x ≢ f_y=2y ≢ f_x=2y
a_n=2n ≡ a_k=2k ≢ b_n=2n
u_t=1 ≡ 1 ≢ u_x=1

[differentials in roman type]
\frac{\mathrm{d}y}{\mathrm{d}x}=\frac xy ≡ y'=\frac xy ≡ \dfrac{dy}{dx}=x/y ≢ y'=\frac yx ≢ y=\frac xy
\frac{\mathrm{d}^2y}{\mathrm{d}x^2}=0 ≡ y''=0 ≢ y'=0
C(n,2) ≡ \binom n2 ≢ \binom{2}{n}

[sets of points]
\{(x,y)\in\mathbb{R}^2:x^2+y^2\le1\} ≡ \{(x,y):x^2+y^2\le1\} ≡ \{(a,b)\in\mathbb{R}^2:a^2+b^2\le1\}
≢ \{(x,y)\in\mathbb{Z}^2:x^2+y^2\le1\} ≢ \{(x,y)\in\mathbb{R}^2:x^2+y^2<1\}
≢ \{(x,y)\in\mathbb{R}^3:x^2+y^2\le1\}
\{(x,y)\in\mathbb{Z}^2:xy=1\} ≡ \{(x,y):(x,y)\in\mathbb{Z}^2,xy=1\} ≢ \{(x,y):xy=1\}
\{z\in\mathbb{C}:|z|=1\} ≡ \{w\in\mathbb{C}:|w|=1\} ≢ \{z\in\mathbb{C}:|z|<1\} ≢ \{x\in\mathbb{R}:|x|=1\}
\{z\in\mathbb{C}:|z|<1\} ≡ \{w\in\mathbb{C}:|w|<1\} ≢ \{w\in\mathbb{C}:|w|>1\} ≢ \{w\in\mathbb{C}:w<1\}

[orders of three matrices]
ABC ≡ A\cdot B\cdot C ≡ CAB ≢ ACB ≢ BAC ≢ CBA
XY ≡ X\cdot Y ≢ YX
IR ≡ RI

[terms with an index]
\sum_{k=1}^n a_k ≡ \sum_{j=1}^n a_j ≢ na_k ≢ \sum_{j=1}^n b_j ≢ \sum_{k=0}^n a_k
\sum_{n=1}^\infty a_n ≡ \sum_{k=0}^\infty a_{k+1} ≢ \sum_{n=0}^\infty a_n ≢ \sum_{k=1}^\infty a_{k+1}
\frac1n\sum_{i=1}^n(x_i-\mu)^2 ≡ \frac{\sum_{k=1}^n(\mu-x_k)^2}{n} ≢ \frac1{n-1}\sum_{i=1}^n(x_i-\mu)^2
\sum_{i=1}^n\sum_{j=1}^na_{ij} ≢ \sum_{i=1}^n\sum_{j=1}^na_{ji}

[values of an index]
e^{2k\pi i/3},k=0,1,2 ≡ 1,e^{2\pi i/3},e^{4\pi i/3} ≡ e^{2n\pi i/3}\text{ for }n=0,1,2
≢ e^{2k\pi i/3},k=0,1 ≢ e^{2k\pi i/3}
\{1,3,5,7,9\} ≡ \{2k+1\mid k=0,1,2,3,4\} ≡ 2k+1,k=0,1,\ldots,4 ≡ 2k+1\ (k=0,1,2,3,4) ≢ 2k+1,k=0,1,\ldots,5
≢ 2k+1,k=1,2,3,4,5 ≢ \{2k\mid k=0,1,2,3,4\}
x=2,k=0,1 ≢ 2 ≢ 2,2
P(k=0) ≢ P(k=1) ≢ P,k=0

[steps and pieces]
\lfloor n/7\rfloor ≡ \left\lfloor\frac{n}{7}\right\rfloor ≢ \lfloor(n+1)/7\rfloor ≢ \lceil n/7\rceil-1
≢ \frac n7
\left\lceil\frac n2\right\rceil ≡ \left\lfloor\frac{n+1}2\right\rfloor
≢ \left\lfloor\frac n2\right\rfloor ≢ \frac{n+1}2
\left\lfloor\frac{n^2}4\right\rfloor ≡ \lfloor n/2\rfloor\lceil n/2\rceil ≢ \lfloor n/2\rfloor^2
\lfloor x\rfloor ≡ -\lceil-x\rceil ≢ \lceil x\rceil-1 ≢ \lfloor x+0.01\rfloor
\lfloor\frac{(2n)!}3\rfloor ≡ \lfloor(2n)!/3\rfloor ≢ \lfloor(2n)!/4\rfloor
\lfloor\sqrt x+\sqrt y+\ln x\sin y\rfloor ≡ \lfloor\sqrt y+\sin(y)\ln x+\sqrt x\rfloor
≢ \sqrt x+\sqrt y+\ln x\sin y
(2n)! ≡ \lfloor(2n)!\rfloor ≢ \lfloor(2n)!/2\rfloor
\gcd(n,12) ≡ \gcd(12,n) ≢ \gcd(n,24) ≢ \gcd(n,6)
\lfloor(m+n)/5\rfloor ≡ \lfloor(n+m)/5\rfloor ≢ \lfloor m/5\rfloor+\lfloor n/5\rfloor
≢ \lfloor(m+n+1)/5\rfloor
|x-100| ≡ |100-x| ≢ 100-x ≢ x-100
\max(x,20) ≡ \max(20,x) ≢ 20 ≢ x ≢ \max(x,21)
y+z=\lfloor n/7\rfloor ≡ z+y=\lfloor\frac n7\rfloor ≢ y+z=\lfloor(n+1)/7\rfloor
y+z=|x-100| ≡ z+y=|100-x| ≢ y+z=100-x
y+z\le\max(x,20) ≡ \max(20,x)\ge z+y ≢ y+z\le20

[names of alternatives]
x=-2\text{ or }x=5 ≡ x_1=-2,x_2=5 ≡ -2,5 ≡ x=5,-2 ≢ x=-2,y=5 ≢ y=-2\text{ or }y=5 ≢ x=-2\text{ or }x=-5
n=1,2 ≡ n\in\{1,2\} ≢ k=1,2
x_1=2\text{ or }x_2=5 ≡ x_1=2,x_2=5 ≡ x=2\text{ or }x=5 ≡ 2,5
a=1\text{ or }b=2 ≡ b=2\text{ or }a=1 ≢ a=1\text{ and }b=2 ≢ a=1,b=2
"""
