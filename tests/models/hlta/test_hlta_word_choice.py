"""Which words HLTA puts into its tree."""

from __future__ import annotations

import numpy as np
import pytest
from hlta_cases import check_model, small

from topicfold.models.hlta import hlta


def chosen_words(counts, max_words, min_df):
    """By mean length-normalised tf x idf, word by word."""
    frequency = (counts > 0).sum(axis=0)
    score = np.zeros(counts.shape[1])
    for row in counts:
        if row.sum() > 0:
            score += row / row.sum()
    score *= np.log(len(counts) / np.maximum(frequency, 1))
    candidates = [w for w in range(counts.shape[1]) if frequency[w] >= min_df]
    return sorted(sorted(candidates, key=lambda w: -score[w])[:max_words])


@pytest.mark.parametrize("scale", [1, 0.0001])
@pytest.mark.parametrize(("max_words", "min_df"), [(5, 1), (12, 30), (3, 60), (100, 1), (1, 1), (20, 80)])
def test_words_are_chosen_by_tf_idf(sampled, max_words, min_df, scale):
    # how long a document is does not matter, be it in tokens or in parts of one
    counts = sampled.toarray() * np.random.default_rng(0).integers(1, 50, (400, 1)) * scale
    counts[7] = 0
    expected = chosen_words(counts, max_words, min_df)
    model = small(max_words=max_words, min_df=min_df, max_iter=1, n_relocations=0).fit(counts)
    assert model.word_columns_.tolist() == expected
    assert np.array_equal(model.word_frequency_, (counts > 0).sum(axis=0))
    assert model.transform(counts).shape[0] == 400
    check_model(model)
    other = counts.copy()
    other[:, np.setdiff1d(np.arange(30), expected)] += 1  # words out of the tree say nothing
    assert np.array_equal(model.transform(other), model.transform(counts))
    assert np.array_equal(model.log_likelihood(other), model.log_likelihood(counts))


def test_min_df_alone_and_too_high(sampled):
    frequency = (sampled > 0).sum(axis=0)
    model = small(min_df=50, max_iter=1).fit(sampled)
    assert model.word_columns_.tolist() == np.flatnonzero(frequency >= 50).tolist()
    with pytest.raises(ValueError, match=rf"min_df=401 .*the most frequent is in {frequency.max()} documents: lower"):
        small(min_df=401).fit(sampled)


def test_too_many_words_are_refused(sampled, monkeypatch):
    monkeypatch.setattr(hlta, "_MOST_WORDS", 20)
    with pytest.raises(ValueError, match="keep the best with max_words"):
        small().fit(sampled)
    assert len(small(max_words=20, max_iter=1).fit(sampled).word_columns_) == 20
