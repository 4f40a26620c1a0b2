"""The paper's propositions, lemma and corollaries, computed.

counterexample   Proposition 3.2: cross-entropy can prefer a wrong policy, and the λ that mends it
entropies        H, R and S of a distribution, of any order
bounds           the lemma, and the sample sizes of the corollaries
classes          any class with few supports: samples, learners, risks
tokens           what λ makes of the next token's distribution
findings         every number of the page that `erce theory` writes (`erce.reporting.pages.theory`)

It needs numpy and scipy alone.
"""
