"""The paper's propositions, lemma and corollaries → functions that compute them, and a page that shows them.

numpy and scipy alone; matplotlib where a figure is drawn. `erce.theory.page.write` makes the page.
"""
