"""Labels from descriptions alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from topicfold import Corpus, ZeroShotClassifier, build_report
from topicfold.analysis.zero_shot import _averaged_cosines, _without_clear_label, described_labels

WORDS = {
    "pets": ["cat", "dog", "hamster", "leash", "kennel", "puppy"],
    "sky": ["moon", "star", "sun", "comet", "orbit", "planet"],
    "food": ["bread", "soup", "cheese", "apple", "butter", "onion"],
    "cars": ["engine", "wheel", "brake", "clutch", "tyre", "gearbox"],
}
LABELS = {"pets": "a cat or a dog", "sky": "the moon", "food": "bread and soup"}


def texts_of(names, n_each=40, seed=0):
    """Texts with four words of their class and one of any; few of them have a word of the description."""
    rng = np.random.default_rng(seed)
    anything = [word for words in WORDS.values() for word in words]
    texts, classes = [], []
    for name in names:
        for _ in range(n_each):
            texts.append(" ".join([*rng.choice(WORDS[name], 4), rng.choice(anything)]))
            classes.append(name)
    return texts, np.array(classes)


def vectors_of(classes, seed=0):
    """Embeddings with one direction per class, and one that all share."""
    rng = np.random.default_rng(seed)
    places = {name: np.eye(4, 10)[row] for row, name in enumerate(WORDS)}
    return 0.5 + np.array([places[name] for name in classes]) + 0.2 * rng.normal(size=(len(classes), 10))


def naive_fit(counts, anchors, n_iter):
    """The E- and M-steps as their formulas say, a document and a label at a time; words alone, no free topics."""
    n_documents, n_labels = counts.shape[0], len(anchors)
    idf = np.log((1 + n_documents) / (1 + (counts > 0).sum(axis=0))) + 1e-3

    def unit(row):
        length = np.sqrt((row**2).sum())
        return row / length if length > 0 else row

    rows = [unit(row * idf) for row in counts]
    described = [unit(row * idf) for row in anchors]
    centres, prior = described, np.ones(n_labels)
    for step in range(n_iter + 1):
        cosines = np.array([[direction @ centre for centre in centres] for direction in rows])
        score = cosines / cosines.std()
        weights = prior * np.exp(2 * score / score.std())
        posterior = weights / weights.sum(axis=1, keepdims=True)
        if step == n_iter:
            break
        sizes = posterior.sum(axis=0)
        means = [unit(sum(p * row for p, row in zip(posterior[:, z], rows))) for z in range(n_labels)]
        weight = 0.3 * n_documents / n_labels
        centres = [unit(sizes[z] * means[z] + weight * described[z]) for z in range(n_labels)]
        prior = sizes + 0.1 * n_documents / n_labels
    return posterior


@pytest.mark.parametrize("n_iter", [1, 2, 4])
def test_posterior_is_that_of_the_slow_twin(n_iter):
    corpus = Corpus.from_texts(texts_of(LABELS)[0])
    model = ZeroShotClassifier(LABELS, max_iter=n_iter).fit(corpus)
    anchors = corpus.vectorize(list(LABELS.values())).toarray()
    np.testing.assert_allclose(model.doc_topic_, naive_fit(corpus.counts.toarray(), anchors, n_iter), atol=1e-10)


def test_labels_reach_documents_without_a_word_of_the_description():
    texts, classes = texts_of(LABELS)
    model = ZeroShotClassifier(LABELS).fit(texts)
    assert (model.transduction_ == classes).mean() > 0.97
    new, truth = texts_of(LABELS, seed=1)
    assert model.score(new, truth) > 0.97
    described = {word for words in WORDS.values() for word in words if word in " ".join(LABELS.values()).split()}
    rest = [row for row, text in enumerate(new) if not described & set(text.split())]
    assert (model.predict([new[row] for row in rest]) == truth[rest]).mean() > 0.95


def test_transform_gives_what_the_fit_gave_whatever_the_batch():
    texts, classes = texts_of(LABELS)
    model = ZeroShotClassifier(LABELS, n_free_topics=2, random_state=0)
    model.fit(texts, embeddings=vectors_of(classes), label_embeddings=vectors_of(LABELS))
    again = model.transform(texts, embeddings=vectors_of(classes))
    np.testing.assert_allclose(again, model.doc_topic_, atol=1e-12)
    np.testing.assert_allclose(again.sum(axis=1), 1)
    np.testing.assert_allclose(model.transform(texts[:3], embeddings=vectors_of(classes)[:3]), again[:3], atol=1e-12)
    np.testing.assert_allclose(model.doc_class_.sum(axis=1), 1)


def test_embeddings_tell_where_words_do_not():
    texts, classes = texts_of(LABELS)
    odd = {name: f"xyz{row}" for row, name in enumerate(LABELS)}  # no such words
    model = ZeroShotClassifier(odd).fit(texts, embeddings=vectors_of(classes), label_embeddings=vectors_of(LABELS))
    assert (model.transduction_ == classes).mean() > 0.97
    bare = ZeroShotClassifier(odd).fit(
        sp.csr_array(Corpus.from_texts(texts).counts),
        embeddings=vectors_of(classes),
        label_embeddings=vectors_of(LABELS),
    )
    assert (bare.transduction_ == classes).mean() > 0.97


@pytest.mark.parametrize("embedded", [False, True])
def test_documents_of_no_label_are_none_of_these(embedded):
    texts, classes = texts_of(WORDS)
    vectors = {"embeddings": vectors_of(classes), "label_embeddings": vectors_of(LABELS)} if embedded else {}
    labels = {name: " ".join(WORDS[name][:4]) for name in LABELS}
    model = ZeroShotClassifier(labels, n_free_topics=1, random_state=0).fit(texts, **vectors)
    cars = classes == "cars"
    assert model.classes_.tolist() == [*LABELS, ""]
    assert (model.transduction_[cars] == "").mean() > 0.9
    assert (model.transduction_[~cars] == classes[~cars]).mean() > 0.9
    assert model.topic_word_.shape[0] == 4
    tree = model.topic_tree()
    assert {word.word for word in tree.words(3, 6)} == set(WORDS["cars"])


@pytest.mark.parametrize("embedded", [False, True])
def test_a_label_that_was_left_out_is_found_by_one_free_topic(embedded):
    texts, classes = texts_of(WORDS)
    found, wrongly = [], []
    for missing in WORDS:
        labels = {name: " ".join(words[:3]) for name, words in WORDS.items() if name != missing}
        vectors = {"embeddings": vectors_of(classes), "label_embeddings": vectors_of(labels)} if embedded else {}
        none = ZeroShotClassifier(labels, n_free_topics=1, random_state=0).fit(texts, **vectors).transduction_ == ""
        found.append(none[classes == missing].mean())
        wrongly.append(none[classes != missing].mean())
    assert np.mean(found) > 0.7
    assert min(found) > 0.3
    assert max(wrongly) < 0.1


@pytest.mark.parametrize("embedded", [False, True])
def test_nearly_all_documents_keep_a_label_if_none_was_left_out(embedded):
    texts, classes = texts_of(WORDS)
    labels = {name: " ".join(words[:3]) for name, words in WORDS.items()}
    vectors = {"embeddings": vectors_of(classes), "label_embeddings": vectors_of(labels)} if embedded else {}
    for n_free_topics in (1, 4):
        model = ZeroShotClassifier(labels, n_free_topics=n_free_topics, random_state=0).fit(texts, **vectors)
        assert (model.transduction_ == "").mean() < 0.15


def test_more_free_topics_leave_more_documents_without_a_label():
    texts, classes = texts_of(WORDS)
    labels = {name: " ".join(WORDS[name][:3]) for name in ("pets", "sky")}
    rest = np.isin(classes, ["food", "cars"])
    found = []
    for n_free_topics in (1, 4):
        model = ZeroShotClassifier(labels, n_free_topics=n_free_topics, random_state=0).fit(texts)
        found.append((model.transduction_[rest] == "").mean())
    assert found[0] < found[1]
    assert found[1] > 0.9


def test_cosines_are_averaged_over_neighbours_and_standardised():
    vectors = np.eye(3)[[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]] + np.linspace(0, 0.1, 12)[:, None]
    anchors = np.array([[1.0, 0, 0], [0, 1, 0]])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    near = np.zeros((12, 12))
    for row in range(12):
        others = np.where(np.arange(12) == row, -1, cosines[row])
        near[row, np.argsort(-others, kind="stable")[:5]] = 1
    near = np.maximum(near, near.T) + np.eye(12)
    expected = unit @ anchors.T
    for _ in range(4):
        expected = near @ expected / near.sum(axis=1, keepdims=True)
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    np.testing.assert_allclose(_averaged_cosines(unit, anchors), expected, atol=1e-6)


def test_half_of_the_documents_of_a_label_lack_a_clear_one_without_it():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 4))
    scores[np.arange(4000), np.arange(4000) % 4] += 6
    assert _without_clear_label(scores, 0.25).mean() < 0.01
    without = scores[:, 1:]  # the documents of the first label are left with the other three
    lacking = _without_clear_label(without, 0.01 + 0.25)
    assert 0.3 < lacking[::4].mean() < 0.7
    assert np.delete(lacking.reshape(-1, 4), 0, axis=1).mean() < 0.01
    assert _without_clear_label(without, 0.05).mean() <= 0.05


def test_empty_texts_do_not_start_a_free_topic():
    texts, _ = texts_of(LABELS)
    with pytest.warns(UserWarning, match="60 of 180 texts are empty"):
        model = ZeroShotClassifier(LABELS, n_free_topics=1, random_state=0).fit([*texts, *[""] * 60])
    assert (model.transduction_[:120] == "").mean() < 0.15


def test_same_seed_same_bits_and_clone():
    texts, _ = texts_of(WORDS)
    model = ZeroShotClassifier(LABELS, n_free_topics=3, random_state=5)
    first, second = (clone(model).fit(texts).doc_topic_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_tree_has_the_labels_as_names_and_makes_a_page():
    texts, _ = texts_of(LABELS)
    corpus = Corpus.from_texts(texts, titles=[f"t{row}" for row in range(len(texts))], keep_texts=True)
    model = ZeroShotClassifier(LABELS).fit(corpus)
    tree = model.topic_tree(corpus)
    assert [tree.name(topic) for topic in range(3)] == list(LABELS)
    assert {word.word for word in tree.words(0, 6)} == set(WORDS["pets"])
    new = Corpus.from_texts(texts_of(LABELS, 5, seed=1)[0])
    assert model.topic_tree(new).doc_topic.shape == (15, 3)
    assert "sky" in build_report(tree, corpus).to_html()


def test_a_list_of_labels_and_an_empty_document():
    texts, _ = texts_of(("pets", "sky"))
    with pytest.warns(UserWarning, match="1 of 81 texts are empty"):
        model = ZeroShotClassifier(["dog", "moon"]).fit([*texts, ""])
    assert model.classes_.tolist() == ["dog", "moon"]
    assert model.predict_proba([""])[0] == pytest.approx([0.5, 0.5], abs=0.1)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("sport", "labels='sport'"),
        (3, "labels=3"),
        ({"one": "a dog"}, "at least two labels"),
        ({"a": "a dog", "b": "A  dog"}, "'a' and 'b' have the same description"),
        (["dog", "dog", "cat"], "'dog' occurs twice"),
        ({"a": "a dog", "b": " "}, "label 'b' is described by ' '"),
        ({"a": "a dog", "": "a cat"}, "label ''"),
        ({"a": "a dog", 4: "a cat"}, "label 4"),
    ],
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(ValueError, match=message):
        described_labels(labels)


def test_documents_in_another_language_get_no_label():
    pets = ["the dog barks at the cat in the house and the mouse runs away", "a cat and a dog sleep on the old sofa"]
    sky = ["the moon and the stars shine in the night sky over the sea", "the sun and the moon are seen from the earth"]
    german = ["der Hund und die Katze schlafen im Haus auf dem Sofa", "die Sonne und der Mond sind heute am Himmel"]
    described = {"pets": "the cat and the dog and the mouse", "sky": "the sun and the moon and the stars"}
    model = ZeroShotClassifier(described).fit([*pets * 5, *sky * 5, *german], None)
    assert model.language_ == "english"
    assert model.transduction_.tolist() == ["pets"] * 10 + ["sky"] * 10 + ["", ""]
    assert model.predict([german[0], pets[0], "Hund"]).tolist() == ["", "pets", ""]
    tree = model.topic_tree()
    assert tree.wordless.tolist() == [20, 21]
    assert not {"hund", "katze"} & {entry.word for topic in (0, 1) for entry in tree.words(topic, 10)}
    vectors = np.eye(2)[[0] * 10 + [1] * 10 + [0, 1]]  # embeddings may know the language
    model.fit([*pets * 5, *sky * 5, *german], embeddings=vectors, label_embeddings=np.eye(2))
    assert model.transduction_.tolist()[-2:] == ["pets", "sky"]


def test_descriptions_the_words_cannot_tell():
    texts, _ = texts_of(LABELS)
    with pytest.raises(ValueError, match="label 'tax': the corpus has no word of its description 'taxes'"):
        ZeroShotClassifier({"tax": "taxes", "sky": "moon"}).fit(texts)
    with pytest.raises(ValueError, match="'a' and 'b' have the same description in words of the corpus"):
        ZeroShotClassifier({"a": "dog taxes", "b": "dog", "c": "moon"}).fit(texts)
    with pytest.raises(ValueError, match="no word of its description"):
        ZeroShotClassifier(LABELS).fit(np.eye(4))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_free_topics": -1}, "n_free_topics=-1"), ({"max_iter": 0}, "max_iter=0")],
)
def test_parameters_that_cannot_be_used(options, message):
    with pytest.raises(ValueError, match=message):
        ZeroShotClassifier(LABELS, **options).fit(texts_of(LABELS)[0])


def test_documents_and_embeddings_that_cannot_be_used():
    texts, classes = texts_of(LABELS)
    vectors, described = vectors_of(classes), vectors_of(LABELS)
    with pytest.raises(ValueError, match="1 documents: expected at least 2"):
        ZeroShotClassifier(LABELS).fit(["cat moon bread"])
    with pytest.raises(ValueError, match="label_embeddings are missing"):
        ZeroShotClassifier(LABELS).fit(texts, embeddings=vectors)
    with pytest.raises(ValueError, match="embeddings are missing"):
        ZeroShotClassifier(LABELS).fit(texts, label_embeddings=described)
    with pytest.raises(ValueError, match=r"label_embeddings have shape \(3, 9\)"):
        ZeroShotClassifier(LABELS).fit(texts, embeddings=vectors, label_embeddings=described[:, :9])
    with pytest.raises(ValueError, match="row 1 is all zeros"):
        ZeroShotClassifier(LABELS).fit(
            texts, embeddings=vectors, label_embeddings=described * np.array([[1], [0], [1]])
        )
    with pytest.raises(ValueError, match="expected one row for each of 120 documents"):
        ZeroShotClassifier(LABELS).fit(texts, embeddings=vectors[:5], label_embeddings=described)
    model = ZeroShotClassifier(LABELS).fit(texts, embeddings=vectors, label_embeddings=described)
    with pytest.raises(ValueError, match="fitted with embeddings"):
        model.predict(texts)
    with pytest.raises(ValueError, match="embeddings have 9 columns"):
        model.predict(texts, embeddings=vectors[:, :9])
    with pytest.raises(ValueError, match="fitted without embeddings"):
        ZeroShotClassifier(LABELS).fit(texts).predict(texts, embeddings=vectors)
