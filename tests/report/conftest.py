"""A small corpus with all that a report can show, and models of it."""

from __future__ import annotations

import pytest
from report_cases import fitted, plsa, small_corpus

from topicfold.models import MODELS


@pytest.fixture(scope="session")
def corpus():
    return small_corpus(segments="paragraphs")


@pytest.fixture(scope="session")
def model(corpus):
    return plsa(corpus)


@pytest.fixture(scope="session", params=MODELS, ids=str)
def any_model(request, corpus):
    return fitted(MODELS[request.param], corpus)
