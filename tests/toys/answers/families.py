"""Labelled pairs of arbitrary constants, renamed variables and integers; `pairs.py` says how to read it."""

FAMILIES = r"""
[values of one letter]
7, -4 ≡ r_1=-4, r_2=7 ≡ r_1=7, r_2=-4 ≡ r_1=-4\text{ or }r_2=7 ≢ r_1=4, r_2=-7 ≢ r_1=7 ≢ r_1=7, r_2=7
\lambda=2,9 ≡ \lambda_1=9,\ \lambda_2=2 ≡ \lambda_1=2, \lambda_2=9 ≢ \mu_1=9, \mu_2=2
≢ \lambda_1=9, \lambda_2=9
≢ \lambda_1=9, \lambda_2=2, \lambda_3=2
x\in\{0,4,-1\} ≡ x_1=-1, x_2=0, x_3=4 ≢ y_1=-1, y_2=0, y_3=4 ≢ x_1=-1, x_2=0 ≢ x_1=1, x_2=0, x_3=4
(3,8) ≡ x_1=3, x_2=8 ≢ x_1=8, x_2=3
x_1=3, x_2=8 ≢ x_1=8, x_2=3

[names of constants]
y=Ce^{3x}-2 ≡ y(x)=C_1e^{3x}-2 ≡ y(x)=Ae^{3x}-2 ≡ f(x)=ce^{3x}-2 ≢ y(x)=C_1e^{-3x}-2 ≢ y(x)=C_1e^{3x}+2
≢ y(x)=e^{3x}-2
P(x)=cx(x-5) ≡ P(x)=ax(x-5) ≡ P(x)=kx(x-5) ≡ P(t)=at(t-5) ≢ P(x)=ax(x+5) ≢ Q(x)=ax(x-5) ≢ P(x)=2x(x-5)
≢ P(x)=x(x-5)
g(x)=cx+1 ≡ g(t)=kt+1 ≢ g(t)=kt-1 ≢ g(t)=kx+1 ≢ h(t)=kt+1
A=cx ≢ A=ax

[multiples of constants]
y=\frac{1}{C-2x} ≡ y=-\frac{1}{2x+C} ≡ y=\frac{-1}{2x+C} ≡ y(x)=\frac{-1}{2x+c} ≢ y=\frac{1}{2x+C}
≢ y=-\frac{1}{C-2x} ≢ y=-\frac{1}{x+C}
y=C_1\cos x+C_2\sin x ≡ y=A\cos x-B\sin x ≢ y=A\cos x-A\sin x ≢ y=A\cos x+B\cos x ≢ y=A\cos2x-B\sin x
y=\sqrt{x^2+C} ≡ y=\sqrt{x^2+2C} ≡ y=\sqrt{x^2-C} ≢ y=\sqrt{2x^2+C} ≢ y=-\sqrt{x^2+C} ≢ y=\sqrt{x^2}+C
y=C_1e^{2x}+C_2e^{-2x} ≡ y=C_1e^{2x}-C_2e^{-2x} ≡ y=-C_2e^{2x}+C_1e^{-2x} ≢ y=C_1e^{2x}-C_2e^{2x}
≢ y=C_1e^{2x}-C_1e^{-2x}
y=\frac{1}{c-x} ≢ y=-\frac{1}{x+c}
x^3+C ≢ x^3-C ≢ x^3+2C+1
f=\frac{1}{2\pi\sqrt{LC}} ≢ f=\frac{1}{\pi\sqrt{LC}} ≢ f=-\frac{1}{2\pi\sqrt{LC}}
q(t)=5e^{-t/C} ≢ q(t)=5e^{-2t/C} ≢ q(t)=5e^{t/C}
f=\frac{1}{\sqrt{LC}} ≢ f=\sqrt{\frac{2}{LC}} ≢ f=\sqrt{\frac{1}{3LC}}
v=\frac{Q}{C} ≢ v=-\frac{Q}{C} ≢ v=\frac{2Q}{C}

[arguments of pieces]
f(x)=\begin{cases}x^2&x\ge1\\2-x&x<1\end{cases} ≡ f(t)=\begin{cases}t^2&t\ge1\\2-t&t<1\end{cases}
≡ f(u)=\begin{cases}2-u&\text{if }u<1\\u^2&\text{if }u\ge1\end{cases}
≢ f(t)=\begin{cases}t^2&t>1\\2-t&t\le1\end{cases}
≢ f(t)=\begin{cases}t^2&x\ge1\\2-t&x<1\end{cases} ≢ g(t)=\begin{cases}t^2&t\ge1\\2-t&t<1\end{cases}
g(x)=\begin{cases}3x&0\le x\le1\\0&\text{otherwise}\end{cases}
≡ g(s)=\begin{cases}3s&0\le s\le1\\0&\text{otherwise}\end{cases}
≢ g(s)=\begin{cases}3s&0\le s<1\\0&\text{otherwise}\end{cases}
≢ g(s)=\begin{cases}3s&0\le s\le1\\1&\text{otherwise}\end{cases}
f(x)=\begin{cases}ax&x>0\\0&x\le0\end{cases} ≢ f(a)=\begin{cases}xa&a>0\\0&a\le0\end{cases}

[declared constants]
f(x)=cx+2 ≡ f(x)=cx+2,\ c\in\mathbb{R} ≡ f(x)=cx+2 \text{ for } c\in\mathbb{R}
≡ f(x)=cx+2\text{ for some }c\in\mathbb{R} ≡ f(x)=kx+2, \text{ where } k\in\mathbb{R}
≢ f(x)=kx-2,\ k\in\mathbb{R} ≢ f(x)=cx+2,\ c\in\mathbb{Q} ≢ f(x)=cx+2,\ c>0 ≢ f(x)=cx+2,\ c\in\{1,2\}
f(x)=ax+b ≡ f(x)=ax+b,\ a,b\in\mathbb{R} ≢ f(x)=ax-b^2,\ a,b\in\mathbb{R}
y=Ce^{-x} ≡ y=Ce^{-x},\ C\in\mathbb{R} ≢ y=Ce^{x},\ C\in\mathbb{R} ≢ y=Ce^{-x},\ C\ne0
f(x)=c ≡ f(x)=c,\ c\in\mathbb{R} ≢ f(x)=0,\ c\in\mathbb{R}
y=k\pi,\ k\in\mathbb{Z} ≢ y=k\pi,\ k\in\mathbb{R}
f(x)=\frac{1}{x},\ x>0 ≡ f(x)=\frac1x\text{ for all }x>0 ≡ f(x)=1/x\text{ for }x>0
≢ f(x)=\frac1x\text{ for }x<0 ≢ f(x)=\frac1x\text{ for }x\ge1 ≢ f(x)=x\text{ for }x>0

[bounded indices]
n=3^k,\ k\ge1 ≡ n=3^m,\ m\ge1 ≡ n=3^k\text{ for }k\ge1 ≡ n=3^j\text{ where }j\ge1 ≢ n=3^m,\ m\ge0
≢ n=3^m,\ k\ge1 ≢ n=3^k ≢ n=k^3,\ k\ge1 ≢ p=3^k,\ k\ge1
k^2+1,\ k>2 ≡ m^2+1,\ m>2 ≢ m^2-1,\ m>2 ≢ m^2+1,\ m<2
y=x^2,\ x\ge0 ≢ y=t^2,\ t\ge0
(2k,k),\ k\in\mathbb{Z} ≡ (a,b)=(2k,k),\ k\in\mathbb{Z} ≡ (x,y)=(2n,n)\text{ for }n\in\mathbb{Z}
≢ (a,b)=(k,2k),\ k\in\mathbb{Z} ≢ (a,b)=(2k,k),\ k\in\mathbb{R} ≢ (a,b)=(2k,k+1),\ k\in\mathbb{Z}
(x,y)=(t,5t),\ t\in\mathbb{R} ≡ (y,x)=(5s,s),\ s\in\mathbb{R} ≡ (s,5s),\ s\in\mathbb{R}
≢ (y,x)=(t,5t),\ t\in\mathbb{R}

[integers in words]
\text{all odd } m ≡ m\text{ is odd} ≡ m \text{ odd} ≡ \text{all odd integers } m ≡ m\equiv1\pmod2
≡ m is odd ≢ m\text{ is even} ≢ \text{all even } m ≢ \text{all } m ≢ n\text{ is odd} ≢ \text{odd}
≢ m\text{ is an odd prime} ≢ \text{all odd positive integers } m ≢ m\equiv1\pmod4
n\text{ even} ≡ n\text{ is an even number} ≡ \text{all even integers} ≡ n=2k,\ k\in\mathbb{Z}
≢ n=2k+1,\ k\in\mathbb{Z} ≢ \text{all odd integers}
g\text{ is even} ≢ g\equiv0\pmod2
\begin{cases}2&n\text{ even}\\-2&n\text{ odd}\end{cases}
≡ \begin{cases}-2&\text{if }n\text{ is odd}\\2&\text{if }n\text{ is even}\end{cases}
≢ \begin{cases}2&\text{if }n\text{ is odd}\\-2&\text{if }n\text{ is even}\end{cases}
\text{all integers } n\ge5 ≡ n\ge5,\ n\in\mathbb{Z} ≡ n>4,\ n\in\mathbb{Z}
≡ \text{all positive integers } n\ge5 ≡ n>4,\ n\in\mathbb{N} ≡ n>4.5,\ n\in\mathbb{Z} ≢ n\ge5
≢ n>5,\ n\in\mathbb{Z} ≢ n\ge5,\ n\in\mathbb{R} ≢ n\ge4,\ n\in\mathbb{Z}
\text{all positive integers } n\ge-2 ≡ n\ge1,\ n\in\mathbb{Z} ≢ \text{all integers } n\ge-2
≢ n\ge0,\ n\in\mathbb{Z}
\text{all integers } n\equiv2\pmod5 ≡ n\equiv2\pmod5 ≢ n\equiv3\pmod5
\text{all positive integers } n\equiv2\pmod5 ≡ n\equiv2\pmod5,\ n\in\mathbb{Z}^+ ≢ n\equiv2\pmod5
≢ n\equiv3\pmod5,\ n\in\mathbb{Z}^+
n\ge0,\ n\in\mathbb{N} ≢ n\ge0,\ n\in\mathbb{Z}
n<3\text{ or }n>9,\ n\in\mathbb{Z} ≡ n\le2\text{ or }n\ge10,\ n\in\mathbb{Z} ≢ \emptyset
≢ n\le2\text{ and }n\ge10,\ n\in\mathbb{Z}
y=mx,\ m>0 ≢ y=kt,\ k>0 ≢ y=nx,\ n<0
n>2,\ n\in\mathbb{R} ≢ n\ge3,\ n\in\mathbb{R}
"""
