"""Answers as text → tokens → trees and typed values."""
