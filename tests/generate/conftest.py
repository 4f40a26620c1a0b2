"""A server with the embedded model behind it; tests with a model of their own name it the same."""

import pytest
from toys.server import Engine, serving

from erce.hf.models import load_model, load_tokenizer


@pytest.fixture(scope="module")
def model():
    return load_model("tiny")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("tiny")


@pytest.fixture
def engine(model, tokenizer):
    return Engine({"tiny": model}, tokenizer)


@pytest.fixture
def server(engine):
    with serving(engine) as server:
        yield server
