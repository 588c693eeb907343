"""select: the planted number of topics, the rule of the recommendation, failures, and what is printed."""

import json
import math
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import NMF

from topicfold import LTM, PLSA, Corpus, select
from topicfold.analysis import held_out_fits
from topicfold.analysis.recommendation import Selection, SelectionRow, beyond, recommend


def planted_counts(seed=0, n_topics=5, n_documents=300, n_words=150, length=80, noise=0.1):
    """Documents drawn from a topic model: each topic has a block of words to itself, and a little of every other."""
    rng = np.random.default_rng(seed)
    topics = np.kron(np.eye(n_topics), np.ones(n_words // n_topics)) * rng.gamma(1.0, size=(n_topics, n_words))
    topics = (1 - noise) * topics / topics.sum(axis=1, keepdims=True) + noise / n_words
    shares = rng.dirichlet(np.full(n_topics, 0.3), n_documents)
    return sp.csr_array(np.stack([rng.multinomial(length, words) for words in shares @ topics]))


class Fake(BaseEstimator):
    """Scores are those of a table, and fits of a small `wobble` are alike. The first count of a document is its own."""

    def __init__(self, n_topics=2, table=None, wobble=None, random_state=None):
        self.n_topics = n_topics
        self.table = table
        self.wobble = wobble
        self.random_state = random_state

    def fit(self, X, y=None):
        self.seen_ = set(X.toarray()[:, 0])
        noise = np.random.RandomState(self.random_state).random_sample((self.n_topics, X.shape[1]))
        self.topic_word_ = np.eye(self.n_topics, X.shape[1]) + 0.01 + (self.wobble or {}).get(self.n_topics, 0) * noise
        self.topic_word_ /= self.topic_word_.sum(axis=1, keepdims=True)
        return self

    def score(self, X):
        assert threading.current_thread() is not threading.main_thread(), "Ctrl-C would end one fit and not select"
        held_out = X.toarray()[:, 0]
        assert self.seen_.isdisjoint(held_out), "a held-out document was seen in training"
        # A hard fold is hard for all points, by far more than points differ; these differ a little from fold to fold.
        own = 0.05 * np.sin(37 * self.n_topics * held_out.mean())
        return (self.table or {}).get(self.n_topics, -1.0) + held_out.mean() + own


def numbered_counts(n_documents=30, n_words=12):
    counts = np.ones((n_documents, n_words), int)
    counts[:, 0] = np.arange(1, n_documents + 1)
    return counts


def figures(result):
    return [
        {key: value for key, value in row.items() if key != "seconds"} for row in json.loads(result.to_json())["rows"]
    ]


# ---- what is recommended --------------------------------------------------------------------------------------------


def test_finds_the_planted_number_of_topics():
    result = select(PLSA(), planted_counts(), {"n_topics": [2, 3, 5, 8, 12]})
    assert result.best == {"n_topics": 5}
    best = result.best_row
    assert best.stability > 0.95
    assert best.stability == max(row.stability for row in result.rows)
    assert best.coherence == max(row.coherence for row in result.rows)
    assert best.behind == best.behind_error == 0
    assert best.perplexity == pytest.approx(math.exp(-best.score))
    assert "widen" not in result.reason


def test_folds_are_compared_with_themselves():
    result = select(Fake(table={2: -1.0, 3: -0.5, 4: -1.0}), numbered_counts(), {"n_topics": [2, 3, 4]})
    assert result.best == {"n_topics": 3}
    other = result.rows[0]
    assert other.score_error > 10 * other.behind_error
    assert "more than one standard error ahead" in result.reason


def test_the_most_stable_of_the_points_within_one_standard_error():
    table = {2: -9.0, 3: -0.1, 4: -0.12, 5: -0.1}
    wobble = {2: 0.0, 3: 0.5, 4: 0.0, 5: 3.0}
    result = select(Fake(table=table, wobble=wobble), numbered_counts(), {"n_topics": [2, 3, 4, 5]})
    close = [row.params["n_topics"] for row in result.rows if row.behind <= row.behind_error]
    assert 4 in close
    assert 2 not in close
    assert len(close) > 1
    assert result.best_row.behind > 0
    assert result.best == {"n_topics": 4}


def test_equally_stable_points_yield_to_the_smaller():
    rows = [
        SelectionRow("Fake", {"n_topics": 8}, score=-1.0, behind=0.0, behind_error=0.0, stability=0.9, topics=8),
        SelectionRow("Fake", {"n_topics": 4}, score=-1.1, behind=0.1, behind_error=0.2, stability=0.901, topics=4),
        SelectionRow("Fake", {"n_topics": 2}, score=-1.5, behind=0.5, behind_error=0.2, stability=0.99, topics=2),
        SelectionRow("Fake", {"n_topics": 99}, failed="too many"),
    ]
    chosen, reason, edge = recommend(rows, 0, [], "nats a token")
    assert (chosen, edge) == (1, ())
    assert reason == (
        "n_topics=4 is the most stable (0.90) of the 2 points within one standard error of the best held-out score "
        "(-1.0000 nats a token), the score of n_topics=8."
    )


def rows_of(figures):
    """Rows by their number of topics: (score, stability)."""
    best = max(score for score, _ in figures.values())
    return [
        SelectionRow(
            "Fake", {"n_topics": n}, score=score, behind=best - score, behind_error=0.0, stability=stable, topics=n
        )
        for n, (score, stable) in figures.items()
    ]


@pytest.mark.parametrize(
    ("figures", "wanted", "said"),
    [
        # stability + 0.3 x share of the gain - 0.04 x squared doublings from the middle, 28: 0.52, 0.83, 0.71
        ({10: (-1.30, 0.4), 20: (-1.20, 0.6), 80: (-1.0, 0.5)}, 20, "is the most stable (0.60) and reaches 80% of the"),
        # 0.70, 0.77, 0.76
        (
            {20: (-1.20, 0.5), 40: (-1.1, 0.5), 80: (-1.0, 0.5)},
            40,
            "n_topics=40 is the most stable (0.50) and reaches 90% of",
        ),
        # 0.53, 0.65
        (
            {20: (-1.20, 0.3), 80: (-1.0, 0.4)},
            80,
            "n_topics=80 is the most stable (0.40) and has the best",
        ),
        # 0.74, 0.77, 0.46
        (
            {5: (-1.4, 0.6), 10: (-1.1, 0.5), 20: (-1.0, 0.2)},
            10,
            "balances stability (0.50) and prediction best: it reaches 90% of",
        ),
        ({10: (-1.0, 0.5), 5: (-1.0, 0.5)}, 5, "n_topics=5"),  # equal sums
        # nothing is gained over the unigram model: as without one
        ({10: (-2.1, 0.9), 20: (-2.2, 0.8)}, 10, "more than one standard error ahead"),
    ],
)
def test_the_best_balance_of_stability_and_gain(figures, wanted, said):
    rows, baseline = rows_of(figures), SelectionRow("unigram", {}, score=-2.0)
    first = int(np.argmax([row.score for row in rows]))
    chosen, reason, _ = recommend(rows, first, [baseline], "nats")
    assert rows[chosen].params == {"n_topics": wanted}
    assert said in reason


def test_only_points_of_the_model_with_the_best_score_are_recommended():
    rows = [SelectionRow("B", {"n_topics": 5}, score=-1.1, stability=0.9, topics=5)]
    rows += [
        SelectionRow("A", {"n_topics": n}, score=score, stability=0.2, topics=n) for n, score in ((5, -1.0), (9, -1.2))
    ]
    chosen, reason, _ = recommend(rows, 1, [SelectionRow("unigram", {}, score=-2.0)], "nats")
    assert chosen == 1
    assert reason.startswith("A with n_topics=5 ")


def test_the_next_values_are_twice_or_half_those_at_an_edge():
    rows = rows_of({10: (-1.0, 1.0), 20: (-2.0, 1.0)})
    assert beyond(rows, 0) == {"n_topics": 5}
    assert beyond(rows, 1) == {"n_topics": 40}
    rows = [SelectionRow("Fake", {"weight": weight}) for weight in (0.5, 1.0, 2.0)]
    assert beyond(rows, 0) == {"weight": 0.25}
    assert beyond(rows, 1) == {}


def test_a_unigram_model_stands_beside_the_grid():
    counts = planted_counts(n_documents=90)
    result = select(PLSA(beta=0.1), counts, {"n_topics": [2, 5]})
    (unigram,) = result.baselines
    assert unigram.model == "unigram"
    assert unigram.score == pytest.approx(select(PLSA(beta=0.1), counts, {"n_topics": [1]}).rows[0].score, abs=0.01)
    assert all(row.score > unigram.score for row in result.rows)
    assert "without topics (score, perplexity): unigram: -" in str(result)
    assert [row["model"] for row in json.loads(result.to_json())["baselines"]] == ["unigram"]


def test_one_topic_agrees_with_nothing():
    assert select(PLSA(), planted_counts(n_documents=60), {"n_topics": [1, 5]}).rows[0].stability == 0


def test_the_grid_goes_on_by_itself_where_it_is_asked_to():
    counts = planted_counts(n_documents=150)
    plain = select(PLSA(), counts, {"n_topics": [2, 3]}, n_seeds=1)
    assert plain.at_edge == ("n_topics",)
    assert "widen the grid" in plain.reason
    extended = select(PLSA(), counts, {"n_topics": [2, 3]}, n_seeds=1, extend=True)
    assert [row.params["n_topics"] for row in extended.rows] == [2, 3, 6, 12]
    assert extended.best == {"n_topics": 6}
    assert extended.at_edge == ()
    with pytest.raises(ValueError, match="every point"):
        select(PLSA(), counts[:10], {"n_topics": [50]}, extend=True)


def test_without_a_grid_there_are_usual_sizes():
    result = select(PLSA(max_iter=2), planted_counts(n_documents=60), n_splits=2, n_seeds=1)
    assert [row.params["n_topics"] for row in result.rows] == [5, 10, 20, 40]
    assert "more than there are documents" in result.rows[-1].failed


def test_graph_and_embeddings_are_those_of_the_documents_fitted():
    counts = planted_counts(n_documents=60)
    vectors = np.arange(60.0)[:, None] + np.zeros((1, 3))

    class Recording(PLSA):
        def fit(self, X, y=None, *, graph=None, embeddings=None):
            rows = embeddings[:, 0].astype(int)
            assert np.array_equal(X.toarray(), counts.toarray()[rows])
            assert np.array_equal(graph.toarray(), ring.toarray()[np.ix_(rows, rows)])
            return super().fit(X)

    ring = sp.csr_array(np.roll(np.eye(60), 1, axis=1) + np.roll(np.eye(60), -1, axis=1))
    result = select(
        {"a": (Recording(max_iter=3), {"n_topics": [2]})}, counts, graph=ring, embeddings=vectors, n_seeds=1
    )
    assert result.rows[0].failed is None
    with pytest.raises(ValueError, match="embeddings"):
        select(PLSA(), counts, {"n_topics": [2]}, embeddings=vectors[:5])
    apart = np.eye(5)[counts.toarray().reshape(60, 5, 30).sum(axis=2).argmax(axis=1)]
    found = select(LTM(graph_weight=1.0, max_iter=3), counts, {"n_topics": [5]}, embeddings=apart, n_seeds=1)
    assert found.rows[0].failed is None


@pytest.mark.parametrize(
    ("values", "table", "remark"),
    [
        ([2, 3], {2: -2.0, 3: -1.0}, "this is the largest n_topics tried (3), so widen the grid"),
        ([6, 7], {6: -1.0, 7: -2.0}, "this is the smallest n_topics tried (6), so widen the grid"),
        ([5, 7], {5: -1.0, 7: -2.0}, None),  # fewer than five topics are not suggested
        ([2, 3, 4], {2: -2.0, 3: -1.0, 4: -2.0}, None),
        ([2], {2: -1.0}, None),
    ],
)
def test_remark_at_the_edge_of_the_grid(values, table, remark):
    reason = select(Fake(table=table), numbered_counts(), {"n_topics": values}).reason
    assert "widen" not in reason if remark is None else remark in reason


def test_a_failed_point_is_the_end_of_the_grid():
    result = select(PLSA(), planted_counts(n_documents=60), {"n_topics": [2, 5, 1000]}, n_seeds=1)
    assert result.best == {"n_topics": 5}
    assert "widen" not in result.reason
    failed = result.rows[2]
    assert "n_topics=1000 is more than there are documents or words" in failed.failed
    assert math.isnan(failed.score)
    assert "n_topics=1000 failed: n_topics=1000 is more" in str(result)
    assert json.loads(result.to_json())["rows"][2]["score"] is None


def test_all_points_failed():
    with pytest.raises(ValueError, match="every point of the grid failed; n_topics=1000: n_topics=1000 is more than"):
        select(PLSA(), planted_counts(n_documents=60), {"n_topics": [1000, 2000]})


# ---- how it is measured ---------------------------------------------------------------------------------------------


def test_does_not_depend_on_the_number_of_jobs():
    counts = planted_counts(n_documents=120)
    grid = {"n_topics": [3, 5, 500], "init": ["nmf", "kmeans"]}
    one, three = (select(PLSA(max_iter=20), counts, grid, n_jobs=n_jobs) for n_jobs in (None, 3))
    assert figures(one) == figures(three)
    assert one.reason == three.reason


def test_random_state_cuts_other_folds():
    counts = planted_counts(n_documents=120)
    zero, one = (select(PLSA(max_iter=5), counts, {"n_topics": [3]}, random_state=seed) for seed in (0, 1))
    assert zero.rows[0].score != one.rows[0].score


def test_the_model_is_not_changed():
    model = PLSA(7, random_state=3, n_jobs=2)
    before = model.get_params()
    select(model, planted_counts(n_documents=60), {"n_topics": [2]}, n_seeds=1)
    assert model.get_params() == before
    assert not hasattr(model, "topic_word_")


def test_every_kind_of_x_gives_the_same():
    pd = pytest.importorskip("pandas")
    counts = planted_counts(n_documents=60)
    names = [f"w{column}" for column in range(counts.shape[1])]
    kinds = [counts, counts.tocoo(), counts.toarray(), Corpus.from_counts(counts, names)]
    kinds.append(pd.DataFrame(counts.toarray(), columns=names))
    results = [figures(select(PLSA(max_iter=5), X, {"n_topics": [2, 3]}, n_seeds=1)) for X in kinds]
    assert all(result == results[0] for result in results)


def test_words_of_held_out_documents_alone_are_no_topic_words():
    topic_word = np.array([[0.5, 0.3, 0.2]])
    words = held_out_fits._top_words(NMF(), topic_word, sp.csr_array([[3, 0, 2]]))
    assert words[0].tolist() == [0, 2]


def test_other_estimators_are_measured_by_their_components():
    class ScoredNMF(NMF):
        def score(self, X, y=None):
            return -float(np.linalg.norm(X - self.transform(X) @ self.components_))

    result = select(ScoredNMF(max_iter=500, tol=1e-3), planted_counts(n_documents=60), {"n_components": [2, 5]})
    assert result.best == {"n_components": 5}
    assert result.unit == "the score of ScoredNMF"
    assert math.isnan(result.best_row.perplexity)


def test_two_parameters():
    grid = {"n_topics": [2, 3], "beta": [0.0, 0.1]}
    result = select(PLSA(max_iter=5), planted_counts(n_documents=60), grid, n_seeds=1)
    assert [tuple(row.params.values()) for row in result.rows] == [(2, 0.0), (2, 0.1), (3, 0.0), (3, 0.1)]


# ---- several models -------------------------------------------------------------------------------------------------


def test_models_are_compared_by_name():
    counts = planted_counts(n_documents=60)
    models = {"few": (PLSA(max_iter=3), {"n_topics": [2]}), "many": (PLSA(), {"n_topics": [5], "beta": [0.1]})}
    result = select(models, counts, n_seeds=1)
    assert result.best_row.model == "many"
    assert result.best == {"n_topics": 5, "beta": 0.1}
    assert result.reason.startswith("many with n_topics=5")
    assert "few" in str(result)


def test_scores_in_different_units_are_refused(monkeypatch):
    monkeypatch.setattr(Fake, "score_unit", "nats per document", raising=False)
    models = {"plsa": (PLSA(), {"n_topics": [2]}), "fake": (Fake(), {"n_topics": [2]})}
    with pytest.raises(ValueError, match=r"different units .*plsa in nats per token; fake in nats per document"):
        select(models, numbered_counts())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": NMF(), "grid": None}, "expected values to try"),
        ({"grid": {}}, "expected values to try"),
        ({"grid": {"n_topcs": [2]}}, "PLSA has no parameter 'n_topcs'; it has .*n_topics"),
        ({"grid": {"n_topics": 2}}, "expected a list of values of n_topics, got 2"),
        ({"grid": {"init": "nmf"}}, "expected a list of values of init, got 'nmf'"),
        ({"grid": {"n_topics": []}}, "expected a list of values of n_topics"),
        ({"n_splits": 1}, "n_splits=1: expected a whole number, at least 2"),
        ({"n_splits": 31}, "n_splits=31 is more than there are documents"),
        ({"n_seeds": 0}, "n_seeds=0: expected a whole number, at least 1"),
        ({"model": {}, "grid": None}, "no models"),
        ({"model": {"a": PLSA()}, "grid": None}, "expected a pair"),
        ({"model": {"a": (PLSA(), {"n_topics": [2]})}}, "leave out grid"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        select(**{"model": PLSA(), "X": numbered_counts(), "grid": {"n_topics": [2]}, **arguments})


# ---- what is shown --------------------------------------------------------------------------------------------------


@pytest.fixture
def result():
    rows = (
        SelectionRow("PLSA", {"n_topics": 5}, -7.5, 0.01, 0.1, 0.02, 1808.0, 0.2, 0.01, 0.9, 0.8, 5, 0.5),
        SelectionRow("PLSA", {"n_topics": np.int64(10)}, -7.4, 0.01, 0.0, 0.0, 1636.0, 0.25, 0.01, 0.9, 0.7, 10, 1.0),
        SelectionRow("PLSA", {"n_topics": 900}, failed="n_topics=900 is too many"),
    )
    return Selection(rows, 1, "n_topics=10 is best.", "nats a token", 3, 1)


def test_table(result):
    assert str(result).splitlines() == [
        "3 points, 3 folds x 1 seed; held-out score in nats a token",
        "   n_topics             score      behind best  perplexity  coherence  diversity  stability  CPU s",
        "          5  -7.5000 ± 0.0100  0.1000 ± 0.0200       1,808      0.200       0.90       0.80   0.50",
        "*        10  -7.4000 ± 0.0100                0       1,636      0.250       0.90       0.70   1.00",
        "        900                 -                -           -          -          -          -      -",
        "n_topics=900 failed: n_topics=900 is too many",
        "",
        "n_topics=10 is best.",
    ]


def test_json(result):
    content = json.loads(result.to_json())
    assert content["best"] == {"n_topics": 10}
    assert content["rows"][0]["coherence"] == 0.2
    assert content["rows"][2]["failed"] == "n_topics=900 is too many"


def test_frame(result):
    frame = pytest.importorskip("pandas") and result.table()
    assert frame["n_topics"].tolist() == [5, 10, 900]
    assert frame["recommended"].tolist() == [False, True, False]
    assert frame["stability"][0] == 0.8


def test_progress_only_when_asked(capsys):
    counts = planted_counts(n_documents=60)
    select(PLSA(max_iter=2), counts, {"n_topics": [2]}, n_seeds=1)
    assert capsys.readouterr() == ("", "")
    select(PLSA(max_iter=2), counts, {"n_topics": [2]}, n_seeds=1, verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "select" in err


class InterruptedAfter(Fake):
    """Ctrl-C is pressed while a point with more topics than `last` is fitted."""

    def __init__(self, n_topics=2, last=3, random_state=None):
        super().__init__(n_topics, random_state=random_state)
        self.last = last

    def fit(self, X, y=None):
        if self.n_topics > self.last:
            raise KeyboardInterrupt
        return super().fit(X)


def test_ctrl_c_keeps_the_points_that_are_complete():
    grid = {"n_topics": [2, 3, 4, 5]}
    with pytest.warns(UserWarning, match="^select: interrupted; the points that have all of their fits are kept"):
        result = select(InterruptedAfter(), numbered_counts(), grid, extend=True)
    assert [row.params["n_topics"] for row in result.rows] == [2, 3]
    assert result.interrupted
    assert json.loads(result.to_json())["interrupted"]
    assert not select(InterruptedAfter(last=9), numbered_counts(), grid).interrupted
    with pytest.raises(KeyboardInterrupt):
        select(InterruptedAfter(last=1), numbered_counts(), grid)
