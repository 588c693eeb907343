"""Topics of a latent tree: the words below, the discerning index, effective words, parents."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from latent_tree_cases import EMISSIONS, check_tree, random_documents, random_tree, two_levels

import naive
from topicfold.models.hlta.latent_tree import (
    Inference,
    LatentTree,
    sample_documents,
    state_marginals,
    words_given_states,
)
from topicfold.models.hlta.tree_topics import (
    TopicStates,
    discerning_index,
    effective_words,
    subtree,
    topic_parents,
    words_below,
)


def test_words_below_and_subtree():
    tree = two_levels(0)
    below = words_below(tree)
    assert [words.tolist() for words in below[:4]] == np.arange(16).reshape(4, 4).tolist()
    assert below[4].tolist() == list(range(8))  # latents beside each other at the top are not below each other
    assert below[5].tolist() == list(range(8, 12))
    assert below[6].tolist() == list(range(12, 16))
    documents = random_documents(0, 5, 16)
    for z in (1, 4, 5):
        part = subtree(tree, z, state_marginals(tree)[z], below[z])
        check_tree(part)
        seen = np.isin(np.arange(16), below[z])
        np.testing.assert_allclose(
            Inference(part).log_likelihood(sp.csr_array(documents[:, below[z]])),
            Inference(tree, words=seen).log_likelihood(sp.csr_array(documents)),
            rtol=1e-9,
        )


def test_discerning_index_is_its_definition():
    rng = np.random.default_rng(0)
    for n_states in (2, 3, 5):
        on, share = rng.random((n_states, 6)), rng.dirichlet(np.ones(n_states))
        on[:, 0] = 0.3  # tells nothing
        on[:, 1] = 0
        on[:, 2] = 1
        on[0, 3], on[1:, 3] = 1, 0
        index = discerning_index(on, share)
        for s, w in product(range(n_states), range(6)):
            assert index[s, w] == pytest.approx(naive.discerning_index(on, share, s, w), abs=1e-12)
    assert discerning_index(np.array([[0.1], [0.9]]), np.array([0.0, 1.0])) == pytest.approx(0)


def told_by_first_words(tree, on, documents, emission):
    """For each latent its words by I(Z; W), and what the first 0, 1, 2 ... of them tell."""
    below, marginal = words_below(tree), state_marginals(tree)
    result = []
    for z in range(tree.n_latents):
        known = slice(tree.n_states[z])
        information = []
        for w in below[z]:
            p, share = on[z, known, w].astype(float), marginal[z, known]
            q = share @ p
            information.append(share @ (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))))
        words = below[z][np.argsort(-np.array(information), kind="stable")]
        told = [naive.information_told(tree, z, words[:n], documents, emission) for n in range(len(words) + 1)]
        result.append((words, np.array(told)))
    return result


def presence(tree, emission):
    return tree.word_table if emission == "presence" else -np.expm1(-tree.word_table)


@EMISSIONS
@pytest.mark.parametrize("seed", range(2))
def test_information_rises_to_all_and_effective_words_are_the_fewest(seed, emission):
    tree = random_tree(seed, 4, 9, 3, emission)
    documents = sample_documents(tree, 40, emission, np.random.RandomState(seed)).toarray().astype(float)
    on = words_given_states(LatentTree.from_arrays({**tree.arrays(), "word_table": presence(tree, emission)}))
    expected = told_by_first_words(tree, on, documents, emission)
    assert all(told[0] == pytest.approx(0, abs=1e-9) for _, told in expected)
    sizes = []
    for coverage in (0.3, 0.6, 0.95, 1.0):
        bases = effective_words(tree, on, sp.csr_array(documents), coverage, emission)
        for z, (words, told) in enumerate(expected):
            assert np.array_equal(bases[z], words[: len(bases[z])])
            enough = np.flatnonzero(told[1:] > coverage * told[-1] + 1e-6)
            assert len(bases[z]) == (1 + enough[0] if len(enough) else len(words)), (z, coverage, told)
        sizes.append([len(words) for words in bases])
    assert (np.diff(sizes, axis=0) >= 0).all()


def test_topic_parents_are_the_likeliest_above():
    tree = two_levels(2)
    latent = np.repeat(np.arange(7), tree.n_states - 1)
    state = np.concatenate([np.arange(1, n) for n in tree.n_states])
    topics = TopicStates.of(tree)
    assert np.array_equal(topics.latent, latent)
    assert np.array_equal(topics.state, state)
    parents = topic_parents(tree, topics)
    marginal = state_marginals(tree)
    for k, (z, s) in enumerate(zip(latent, state)):
        if tree.level[z] == 2:
            assert parents[k] == -1
            continue
        assert latent[parents[k]] == tree.parent[z]
        y = tree.parent[z]
        joint = {t: marginal[y, t] * tree.table[z, t, s] for t in range(1, tree.n_states[y])}
        assert state[parents[k]] == max(joint, key=joint.get)
