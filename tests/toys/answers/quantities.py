"""Labelled pairs of units, scaled vectors, row spacing and inverses; `pairs.py` says how to read them."""

QUANTITIES = r"""
[space between rows]
\begin{pmatrix}\frac13\\-5\end{pmatrix} ≡ \begin{pmatrix}\frac13\\[4pt]-5\end{pmatrix}
≡ \begin{bmatrix}1/3\\[0.5em]-5\\[1ex]\end{bmatrix}
≢ \begin{pmatrix}\frac13\\[4pt]5\end{pmatrix} ≢ \begin{pmatrix}\frac13\\[4pt]-5\\[4pt]0\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix} ≡ \begin{pmatrix}1&2\\[-2pt]3&4\end{pmatrix}
≢ \begin{pmatrix}1&2\\[4pt]4&3\end{pmatrix} ≢ \begin{pmatrix}1&2\\[4]3&4\end{pmatrix}
\begin{cases}x&x>2\\-x&x\le2\end{cases} ≡ \begin{cases}x&x>2\\[2mm]-x&x\le2\end{cases}
≢ \begin{cases}x&x>2\\[2mm]x&x\le2\end{cases}

[inverse hyperbolic functions]
\tanh^{-1}x ≡ \operatorname{artanh}x ≡ \frac12\ln\frac{1+x}{1-x} ≡ \tanh^{-1}(x) ≢ \frac{1}{\tanh x}
≢ \arctan x ≢ \tanh x
\sinh^{-1}x+C ≡ \ln(x+\sqrt{x^2+1})+C ≡ \operatorname{arsinh}x+C ≢ \ln(x+\sqrt{x^2-1})+C ≢ \frac{1}{\sinh x}+C
\cosh^{-1}3 ≡ \ln(3+2\sqrt2) ≢ \ln(3-2\sqrt2) ≢ \frac{1}{\cosh 3}

[scaled tuples]
\left(\frac13,\frac23,-\frac23\right) ≡ \frac13(1,2,-2) ≡ \frac{1}{3}\langle1,2,-2\rangle
≡ -\frac13(-1,-2,2) ≡ \frac{1}{3}\cdot(1,2,-2) ≢ \frac13(1,-2,2) ≢ (1,2,-2) ≢ 3(1,2,-2) ≢ \frac13[1,2,-2]
≢ f(1,2,-2) ≢ \pm\frac13(1,2,-2)
\sqrt5(a,2b) ≡ (\sqrt5a,2\sqrt5b) ≡ \langle\sqrt5a,\sqrt{20}b\rangle ≢ (5a,10b) ≢ (\sqrt5a,2b)
-(4,\pi) ≡ (-4,-\pi) ≢ (4,-\pi) ≢ (-4,\pi)
v=2(3,1) ≡ (6,2) ≢ (3,1) ≢ v=(2)(3,1) ≢ (1,2)(3,1)
4 ≡ 2\gcd(4,6) ≡ \max(1,4) ≢ (4,6) ≢ 2(4,6)

[two signs]
\pm3\pm i ≡ 3+i,3-i,-3+i,-3-i ≡ \pm(3+i),\pm(3-i) ≡ \{3+i,3-i,-3+i,-3-i\} ≢ 3+i,3-i ≢ 3+i,3-i,-3+i,-3+2i
≢ 1+3i,1-3i,-1+3i,-1-3i
\pm\sqrt{6\pm1} ≡ \sqrt7,\sqrt5,-\sqrt7,-\sqrt5 ≢ \sqrt7,\sqrt5,-\sqrt7,\sqrt6 ≢ \sqrt7,\sqrt5
\pm1\mp\sqrt3 ≢ 1+\sqrt3,1-\sqrt3,-1+\sqrt3,-1-\sqrt3

[excluded values]
[-2,0)\cup(0,3)\cup(3,\infty) ≡ x\ge-2,\ x\ne0,3 ≡ x\ge-2, x\ne0, x\ne3 ≢ x\ge-2,\ x\ne0,-3
≢ x>-2,\ x\ne0,3 ≢ x\ge-2,\ x\ne0 ≢ x\ge-2,0,3
x\ge3 ≢ x\ge-2,0,3 ≢ x\ge-2,3
(1,2)\cup(2,5) ≡ 1<x<5,\ x\ne2 ≢ 1<x<5,\ x\ne3 ≢ 1\le x<5,\ x\ne2

[limits with their values]
\frac25 ≡ \lim_{x\to1}g(x)=\frac25 ≡ \lim_{x\to0}\frac{2x}{5x}=\lim_{x\to0}\frac25=\frac25
≢ \lim_{x\to1}g(x)=\frac52 ≢ \lim_{x\to1}g(x)=1=\frac25 ≢ \lim_{x\to1}g(x)=-\frac25
\lim_{x\to1}g(x)=4 ≢ \lim_{x\to1}h(x)=4 ≢ g(1)=4
\infty ≡ \lim_{n\to\infty}b_n=\infty ≡ \text{diverges to }\infty ≡ \text{diverges to infinity}
 ≢ \text{diverges to }-\infty ≢ \text{diverges} ≢ \text{converges to }\infty
-\infty ≡ \text{diverges to }-\infty ≢ \text{diverges to }\infty ≢ \text{divergent}
8 ≢ \text{diverges to }8
\text{divergent} ≡ \text{diverges} ≡ \text{the integral is divergent} ≡ The series diverges.
≢ \text{convergent} ≢ \text{converges} ≢ \text{not divergent}

[identities]
x^2-6x+9 ≡ x^2-6x+9=(x-3)^2 ≡ x^2-6x+9=(3-x)^2=(x-3)^2 ≢ x^2-6x+9=(x+3)^2 ≢ x^2-6x+9=0 ≢ (x-3)(x+3)=x^2-9
\sin2x ≡ \sin2x=2\sin x\cos x ≢ \sin2x=2\sin x
1 ≢ \sin^2x+\cos^2x=1
x^2-9 ≢ x^2=9

[electrical units]
47\ \Omega ≡ 47\,\Omega ≡ 47\text{ ohms} ≡ 47Ω ≡ 47\,\mathrm{\Omega} ≢ 47\text{ V}
≢ 47\text{ k}\Omega ≢ 47\,\mathrm{k\Omega} ≢ 74\ \Omega ≢ 47\,\mathrm{M\Omega}
3300\text{ ohms} ≡ 3.3\,\mathrm{k\Omega} ≡ 3.3\text{ k}\Omega ≡ 3.3\,k\Omega ≡ 3300\,\Omega ≢ 3.3\,\Omega
≢ 33\,\mathrm{k\Omega} ≢ 3.3\,\mathrm{M\Omega}
7\Omega ≢ 7 ≢ 7\text{ V} ≢ 7\text{ k}\Omega
7\,\Omega x ≢ 7x ≢ 7
22\ \mu\text{F} ≡ 22\times10^{-6}\text{ F} ≡ 22\,\mathrm{\mu F} ≡ 22\text{ μF} ≡ 22\text{ microfarads}
≡ 22000\text{ nF} ≢ 22\text{ nF} ≢ 22\text{ F} ≢ 22\times10^{-3}\text{ F} ≢ 22\text{ C}
4\text{ nF} ≡ 4000\text{ pF} ≡ 4\times10^{-9}\text{ farads} ≢ 4\text{ pF} ≢ 400\text{ pF}
4F ≢ 4 ≢ 4\text{ F}^2
3\times10^{-7}\text{ m} ≡ 0.3\ \mu\text{m} ≡ 0.3\,\mathrm{\mu m} ≡ 0.3\text{ µm} ≡ 300\text{ nm}
≢ 0.3\text{ mm} ≢ 3\ \mu\text{m} ≢ 0.3\ \mu\text{s}
8\ \mu\text{s} ≡ 8\times10^{-6}\text{ s} ≡ 8\text{ microseconds} ≡ 0.008\text{ ms} ≢ 8\text{ ms} ≢ 8\text{ s}
\mu m ≢ 10^{-6}m
4nF ≢ 4

[derived units]
60\text{ N} ≡ 60\ \mathrm{kg\cdot m/s^2} ≡ 60\text{ kg}\cdot\text{m/s}^2
≢ 60\ \mathrm{kg\cdot m/s} ≢ 60\text{ kg} ≢ 60\ \mathrm{g\,m\,s^{-2}} ≢ 60\text{ J}
60\text{ J} ≡ 60\text{ N}\cdot\text{m} ≡ 60\ \mathrm{kg\,m^2\,s^{-2}} ≡ 0.06\text{ kJ} ≢ 60\text{ N/m}
≢ 60\text{ W} ≢ 60\text{ N}
60\text{ W} ≡ 60\text{ J/s} ≡ 0.06\text{ kW} ≢ 60\text{ J} ≢ 60\text{ J/m}
60\text{ Pa} ≡ 60\text{ N/m}^2 ≡ 0.06\text{ kPa} ≢ 60\text{ N/m} ≢ 60\text{ N/m}^3
60\text{ V/m} ≡ 60\text{ N/C} ≢ 60\text{ N} ≢ 60\text{ V}
9\text{ V} ≡ 9\text{ J/C} ≢ 9\text{ J} ≢ 9\text{ C}
50\text{ Hz} ≡ 50\text{ s}^{-1} ≢ 50\text{ s}
2\text{ T} ≡ 2\ \mathrm{kg\,s^{-2}\,A^{-1}} ≡ 2\ \mathrm{kg/(A\,s^2)} ≢ 2\text{ N/m} ≢ 2\ \mathrm{kg\,s^{-2}}
"""
