"""Words of neighbourhoods on the map."""

import numpy as np
import scipy.sparse as sp

from topicfold.report.map_words import neighbourhood_words

WORDS = ("sun", "moon", "tea", "cup", "everywhere")


def two_crowds():
    """Ten documents on the sky at one end, ten on tea at the other; one word is in all of them."""
    sky = np.arange(20) < 10
    counts = np.column_stack([3 * sky, sky, ~sky, 2 * ~sky, np.ones(20, int)])
    places = np.where(sky[:, None], [100, 200], [9000, 9900]) + np.arange(20)[:, None]
    return sp.csr_array(counts), places


def test_words_that_are_more_frequent_there():
    found = neighbourhood_words(*two_crowds(), WORDS)
    assert {grid for grid, *_ in found} == {0, 1, 2}
    for _, x, y, *words in found:
        assert set(words) == ({"sun", "moon"} if x < 5000 else {"tea", "cup"})
        assert abs(y - (205 if x < 5000 else 9915)) < 10


def test_few_documents_and_none():
    counts, places = two_crowds()
    assert neighbourhood_words(counts[7:13], places[7:13], WORDS) == []  # three in each place
    assert neighbourhood_words(counts[:0], places[:0], WORDS) == []
