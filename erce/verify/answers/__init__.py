"""Final answers as text → typed values and expression trees → whether two of them are the same.

`read/` turns text into tokens, tokens into trees and typed values; `compare/` evaluates and compares them.
Both know `values` (what an answer can be), `tree` (expressions), `limits` and `conventions`.
"""
