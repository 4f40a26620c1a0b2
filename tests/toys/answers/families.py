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
y=\sqrt{x^2+C} ≡ y=\sqrt{x^2+2C} ≡ y=\sqrt{x^2-C} ≢ y=\sqrt{2x^2+C} ≢ y=-\sqrt{x^2+C} ≢ y=\sqrt{x^2}+C
y=C_1e^{2x}+C_2e^{-2x} ≡ y=C_1e^{2x}-C_2e^{-2x} ≡ y=-C_2e^{2x}+C_1e^{-2x} ≢ y=C_1e^{2x}-C_2e^{2x}
≢ y=C_1e^{2x}-C_1e^{-2x}
y=\frac{1}{c-x} ≢ y=-\frac{1}{x+c}
x^3+C ≢ x^3-C ≢ x^3+2C+1
f=\frac{1}{2\pi\sqrt{LC}} ≢ f=\frac{1}{\pi\sqrt{LC}} ≢ f=-\frac{1}{2\pi\sqrt{LC}}
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
"""
