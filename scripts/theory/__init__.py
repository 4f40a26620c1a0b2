"""The paper's propositions, lemma and corollaries, computed with numpy, scipy and the loss's own penalties.

counterexample   Proposition 3.2: cross-entropy can prefer a wrong policy, and the λ that mends it
learning         any class of few supports: what each corollary promises, and what each loss learns
tokens           what λ makes of the next token's distribution
page, figures    the page that `python -m scripts.theory` writes
"""
