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
"""
