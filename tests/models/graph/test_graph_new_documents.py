"""New documents of LTM, LapPLSI and DTM: drawn to neighbours by words, by embeddings or by a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import ALL, DENSE, EITHER

from topicfold import DTM, LTM, LapPLSI, load
from topicfold.engine.arrays import normalise_rows
from topicfold.graph.neighbors import NeighborIndex, document_vectors, nearest
from topicfold.metrics.completion import split_tokens
from topicfold.models.em.fold_in import fold_in, fold_in_near
from topicfold.models.em.leave_one_out import document_prior, fold_in_counts

pytestmark = DENSE


def folded(fitted, counts, neighbors):
    """P(z|d) of documents with these neighbours: of LTM with a prior, leaving out each token in turn."""
    weight = fitted.neighbor_weight_ if isinstance(fitted, DTM) else fitted.graph_weight_
    if isinstance(fitted, LTM) and fitted.alpha > 0:
        return left_out(fitted, counts, weight * (neighbors @ fitted.doc_topic_.astype(float)))
    topics = (fitted.topic_word_, fitted.topic_weight_)
    counts = sp.csr_array(counts).astype(fitted.topic_word_.dtype)
    options = {"squared": isinstance(fitted, LapPLSI), "prior": fitted.alpha}
    if isinstance(fitted, LapPLSI) and fitted.alpha > 0:  # what its words say, drawn to the neighbours
        options["prior"] = pseudo_counts(fitted, counts, None).astype(float)
        counts = sp.csr_array(counts.shape, dtype=counts.dtype)
    return fold_in_near(counts, *topics, neighbors, fitted.doc_topic_, weight, **options)


def plainly(fitted, counts):
    """P(z|d) of documents without neighbours."""
    if fitted.alpha > 0:
        return left_out(fitted, counts, None)
    return fold_in(sp.csr_array(counts).astype(np.float32), fitted.topic_word_, fitted.topic_weight_)


def pseudo_counts(fitted, counts, near):
    counts = sp.csr_array(counts).astype(fitted.topic_word_.dtype)
    prior = document_prior(fitted.alpha, fitted.topic_weight_, getattr(fitted, "focus", 0.0))
    return fold_in_counts(counts, fitted.topic_word_, prior, pull=near, with_prior=True)


def left_out(fitted, counts, near):
    return normalise_rows(pseudo_counts(fitted, counts, near))


@ALL
@EITHER
def test_new_documents_are_drawn_to_their_neighbours_by_words(model, make, sampled):
    train, new = sampled[:60], sampled[60:90]
    fitted = make(model, n_neighbors=4).fit(train)
    base = document_vectors(train).toarray().astype(float)
    alike = document_vectors(new, idf=fitted.neighbor_idf_).toarray().astype(float) @ base.T
    neighbors = np.zeros((30, 60))
    np.put_along_axis(neighbors, np.argsort(-alike, axis=1)[:, :4], 1.0, axis=1)
    found = fitted.transform(new)
    assert np.array_equal(found, folded(fitted, new, sp.csr_array(neighbors)))
    assert np.array_equal(found, fitted.transform(new, graph=neighbors))
    assert not np.allclose(found, plainly(fitted, new), atol=0.01)


@ALL
@EITHER
def test_without_stored_neighbours_words_alone_count(model, make, sampled):
    train, new = sampled[:60], sampled[60:90]
    kept, dropped = make(model).fit(train), make(model, store_neighbors=False).fit(train)
    assert dropped.neighbor_vectors_ is None
    assert dropped.neighbor_idf_ is None
    assert np.array_equal(dropped.doc_topic_, kept.doc_topic_)
    assert np.array_equal(dropped.transform(new), plainly(dropped, new))
    assert np.array_equal(dropped.transform(new, graph=np.ones((30, 60))), kept.transform(new, graph=np.ones((30, 60))))


@ALL
@EITHER
def test_what_is_stored_does_not_change_the_fit(model, make, blocks):
    counts = blocks[0]
    embeddings = np.random.default_rng(0).normal(size=(30, 4))
    kept = make(model, max_iter=4, tol=0).fit(counts, embeddings=embeddings)
    dropped = make(model, max_iter=4, tol=0, store_neighbors=False).fit(counts, embeddings=embeddings)
    assert np.array_equal(kept.topic_word_, dropped.topic_word_)
    assert np.array_equal(kept.doc_topic_, dropped.doc_topic_)
    with pytest.raises(ValueError, match="keeps no neighbours"):
        dropped.transform(counts, embeddings=embeddings)


@ALL
@EITHER
def test_new_documents_of_a_users_graph_have_neighbours_by_words_or_bring_them(model, make, few, few_graph):
    fitted = make(model).fit(few, graph=few_graph)
    vectors = document_vectors(few[:5], idf=fitted.neighbor_idf_)
    near = nearest(vectors, document_vectors(few), fitted.n_neighbors)
    near.data[:] = 1
    assert np.array_equal(fitted.transform(few[:5]), folded(fitted, few[:5], near))
    dropped = make(model, store_neighbors=False).fit(few, graph=few_graph)
    assert np.array_equal(dropped.transform(few[:5]), plainly(dropped, few[:5]))
    neighbors = np.zeros((5, 60))
    neighbors[np.arange(5), [9, 30, 2, 55, 41]] = [1, 2, 0.5, 1, 4]
    assert np.array_equal(fitted.transform(few[:5], graph=neighbors), folded(fitted, few[:5], sp.csr_array(neighbors)))
    assert np.isfinite(fitted.score(few[:5], graph=neighbors))


@ALL
@EITHER
def test_new_documents_with_embeddings(model, make, sampled):
    rng = np.random.default_rng(0)
    train, new, vectors, new_vectors = sampled[:60], sampled[60:80], rng.normal(size=(60, 4)), rng.normal(size=(20, 4))
    fitted = make(model, n_neighbors=3).fit(train, embeddings=vectors)
    alike = (new_vectors / np.linalg.norm(new_vectors, axis=1, keepdims=True)) @ (
        vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    ).T
    neighbors = np.zeros((20, 60))
    np.put_along_axis(neighbors, np.argsort(-alike, axis=1)[:, :3], 1.0, axis=1)
    found = fitted.transform(new, embeddings=new_vectors)
    assert np.array_equal(found, folded(fitted, new, sp.csr_array(neighbors)))
    with pytest.warns(UserWarning, match="fitted on embeddings, but the new documents have none"):
        assert np.array_equal(fitted.transform(new), plainly(fitted, new))
    assert fitted.score(new, embeddings=new_vectors) < 0


@ALL
@EITHER
def test_score_seeks_neighbours_of_the_observed_half_only(model, make, sampled, monkeypatch):
    train, new = sampled[:60], sampled[60:90]
    fitted = make(model).fit(train)
    asked, seek = [], NeighborIndex.nearest

    def spy(self, queries, *arguments, **options):
        asked.append(queries)
        return seek(self, queries, *arguments, **options)

    monkeypatch.setattr(NeighborIndex, "nearest", spy)
    fitted.score(new)
    seen, _ = split_tokens(new)
    assert len(asked) == 1
    assert np.array_equal(asked[0].toarray(), document_vectors(seen, idf=fitted.neighbor_idf_).toarray())


@ALL
@EITHER
@pytest.mark.parametrize("by", ["words", "embeddings", "graph", "dropped"])
def test_saved_and_loaded(model, make, by, few, few_graph, tmp_path):
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    fits = {"embeddings": {"embeddings": embeddings}, "graph": {"graph": few_graph}}
    calls = {"embeddings": {"embeddings": embeddings[:9] + 0.1}, "graph": {"graph": few_graph[:9]}}
    fitted = make(model, store_neighbors=by != "dropped").fit(few, **fits.get(by, {}))
    fitted.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert set(vars(loaded)) == set(vars(fitted))
    assert np.array_equal(loaded.graph_.toarray(), fitted.graph_.toarray())
    new = few[:9] + few[1:10]
    assert np.array_equal(loaded.transform(new, **calls.get(by, {})), fitted.transform(new, **calls.get(by, {})))
