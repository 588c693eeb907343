"""Tasks for people and what is read from their answers."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from topicfold import HLTA, PLSA, Corpus, JudgementTasks, judgement_tasks, read_judgements
from topicfold.analysis.judgement_tasks import Task
from topicfold.metrics import coherence, krippendorff_alpha, wilson_interval

THEMES = {
    "garden": "rose tulip soil spade seed hedge lawn rake compost fern",
    "kitchen": "pan oven flour sugar knife bread spice bowl whisk dough",
    "sky": "star moon comet orbit planet galaxy telescope cloud nova dusk",
    "sea": "wave harbour sail anchor tide island gull rope deck buoy",
}


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    words = [theme.split() for theme in THEMES.values()]
    return Corpus.from_texts([" ".join(rng.choice(words[d % 4], 12)) for d in range(80)])


@pytest.fixture(scope="module")
def tree(corpus):
    return PLSA(4, random_state=0).fit(corpus).topic_tree(corpus)


@pytest.fixture(scope="module")
def tasks(tree, corpus):
    return judgement_tasks(tree, corpus, seed=1)


def theme_of(word):
    return next(name for name, words in THEMES.items() if word in words.split())


@pytest.fixture
def answered(tasks, tmp_path):
    """Write answers of people, {task: answer}, each to a file; all=function of the task answers the rest."""

    def write(name, chosen, file=None, tasks_id=tasks.id):
        path = tmp_path / f"{file or name}.csv"
        rows = "".join(f"{tasks_id},{name},{task},{value}\n" for task, value in chosen.items())
        path.write_text("tasks,rater,task,answer\n" + rows, encoding="utf-8")
        return path

    return write


def right(tasks):
    return {number: task.intruder or 3 for number, task in enumerate(tasks.tasks, start=1)}


def test_an_intruder_is_among_the_best_words_of_another_topic_and_foreign_to_this_one(tasks, tree):
    intrusion = [task for task in tasks.tasks if task.kind == "intrusion"]
    assert sorted(task.topic for task in intrusion) == [0, 1, 2, 3]
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    for task in intrusion:
        intruder = task.words[task.intruder - 1]
        own = [word for word in task.words if word != intruder]
        assert sorted(own) == sorted(word.word for word in tree.words(task.topic, 5))
        assert len({theme_of(word) for word in own}) == 1
        assert theme_of(intruder) != theme_of(own[0])
        others = [t for t in range(4) if t != task.topic]
        assert any(intruder in [word.word for word in tree.words(other, 5)] for other in others)
        assert tree.topic_word[task.topic, column[intruder]] < 0.1 * tree.topic_word[others, column[intruder]].max()


def test_a_rating_has_the_ten_best_words_in_order(tasks, tree):
    ratings = [task for task in tasks.tasks if task.kind == "rating"]
    assert len(ratings) == 4
    for task in ratings:
        assert task.words == tuple(word.word for word in tree.words(task.topic, 10))
        assert task.intruder == 0
    assert [task.kind for task in tasks.tasks] == ["intrusion"] * 4 + ["rating"] * 4  # lists would give intruders away


def test_the_same_seed_gives_the_same_tasks_and_places_are_even(tree, corpus, tasks):
    assert judgement_tasks(tree, corpus, seed=1) == tasks
    seeds = [judgement_tasks(tree, corpus, kinds=["intrusion"], seed=seed) for seed in range(60)]
    places = Counter(task.intruder for made in seeds for task in made.tasks)
    assert set(places) == set(range(1, 7))
    assert max(places.values()) < 2 * 240 / 6
    assert len({made.id for made in seeds}) > 50
    assert len({tuple(task.topic for task in made.tasks) for made in seeds}) > 10


def test_an_intruder_is_no_form_of_an_own_word():
    texts = ["game player chess board score", "games moon star orbit planet"] * 10
    corpus = Corpus.from_texts(texts)
    tree = PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)
    for seed in range(20):
        for task in judgement_tasks(tree, corpus, kinds=["intrusion"], seed=seed).tasks:
            assert not {"game", "games"} <= set(task.words)


def test_topics_can_be_chosen_drawn_or_left_out(tree, corpus, themes):
    assert set(judgement_tasks(tree, corpus, topics=[2, 0]).names) == {0, 2}
    assert len(judgement_tasks(tree, corpus, sample=3).names) == 3
    assert len(judgement_tasks(tree, corpus, sample=30).names) == 4
    tall = HLTA(2, 2, 3, random_state=0, verbose=False).fit(themes).topic_tree(themes)
    scores = tall.word_score.toarray()
    for row in np.flatnonzero(tall.at_lowest_level)[:2]:
        scores[row, np.argsort(-scores[row])[2:]] = 0
    tall = replace(tall, word_score=sp.csr_array(scores))
    with pytest.warns(UserWarning, match="2 topics have too few words for intrusion tasks"):
        made = judgement_tasks(tall, themes)
    assert len(made.names) == tall.at_lowest_level.sum()
    assert "discerning index" in made.measures


def test_measures_are_those_of_the_topics(tasks, tree, corpus):
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    best = [[column[word.word] for word in tree.words(topic, 10)] for topic in range(4)]
    expected = coherence(best, counts=corpus.counts_over(tree.vocabulary), measure="c_v")
    assert [tasks.measures["c_v"][topic] for topic in range(4)] == pytest.approx(expected.tolist())
    assert set(tasks.measures) == {"size", "keyness", "u_mass", "u_mass_gensim", "c_npmi", "c_v"}
    assert tasks.measures["size"] == {topic: tree.size_of(topic) for topic in range(4)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kinds": ["guess"]}, "kinds='guess': expected one of intrusion, rating"),
        ({"kinds": []}, "no task can be made"),
        ({"topics": [9]}, "there is no topic 9"),
        ({"sample": 0}, "sample=0"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_requests_for_tasks(tree, corpus, given, said):
    with pytest.raises(ValueError, match=said):
        judgement_tasks(tree, corpus, **given)


def test_the_table_has_the_words_and_not_the_key(tasks):
    rows = list(csv.DictReader(io.StringIO(tasks.to_csv())))
    assert [row["task"] for row in rows] == [str(n + 1) for n in range(8)]
    assert {row["tasks"] for row in rows} == {tasks.id}
    assert rows[0].keys() == {"tasks", "task", "question", *(f"word {n + 1}" for n in range(10)), "rater", "answer"}
    assert [rows[0][f"word {n + 1}"] for n in range(6)] == list(tasks.tasks[0].words)


def test_the_key_is_read_back(tasks, tmp_path):
    odd = JudgementTasks(tasks.tasks, tasks.names, {**tasks.measures, "gap": dict.fromkeys(range(4), float("nan"))})
    odd.save_key(tmp_path / "k.json")
    loaded = JudgementTasks.load_key(tmp_path / "k.json")
    assert (loaded.tasks, loaded.names, loaded.id) == (tasks.tasks, tasks.names, tasks.id)
    assert np.isnan(loaded.measures["gap"][0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda key: "nonsense", "is not JSON .*: expected the .key.json file written with the tasks"),
        (lambda key: [], "is not a key of tasks"),
        (lambda key: {**key, "format": "else"}, "is not a key of tasks"),
        (lambda key: {**key, "tasks": key["tasks"][1:]}, "damaged: its parts do not fit"),
        (lambda key: {**key, "names": {}}, "damaged: its parts do not fit"),
        (lambda key: {**key, "names": None}, "is damaged"),
        (
            lambda key: {**key, "tasks": [{**key["tasks"][0], "intruder": 9}, *key["tasks"][1:]]},
            "position of an intruder",
        ),
        (lambda key: {**key, "tasks": [{**key["tasks"][0], "words": [1]}, *key["tasks"][1:]]}, "is damaged"),
    ],
)
def test_keys_that_are_none(tasks, tmp_path, change, said):
    tasks.save_key(tmp_path / "k.json")
    changed = change(json.loads((tmp_path / "k.json").read_text()))
    (tmp_path / "k.json").write_text(changed if isinstance(changed, str) else json.dumps(changed))
    with pytest.raises(ValueError, match=said):
        JudgementTasks.load_key(tmp_path / "k.json")


def test_answers_are_counted_by_topic_and_together(tasks, answered):
    wrong = {1: tasks.tasks[0].intruder % 6 + 1, 5: 1, 6: 2, 8: 0}
    files = [answered("ann", right(tasks)), answered("bob", {**right(tasks), **wrong}), answered("cid", {1: 0, 2: 1})]
    found = read_judgements(tasks, files)
    assert found.raters == ("ann", "bob", "cid")
    assert found.chance == pytest.approx(1 / 6)
    intrusion, rating = found.kinds
    hit = int(tasks.tasks[1].intruder == 1)
    assert intrusion.mean == wilson_interval(7 + hit, 9)
    assert (intrusion.unknown, rating.unknown) == (1, 1)
    assert rating.mean.value == pytest.approx(np.mean([3, 3, 3, 3, 1, 2, 3]))
    assert 1 < rating.mean.low < rating.mean.value < rating.mean.high <= 3
    topic = next(judged for judged in found.topics if judged.topic == tasks.tasks[0].topic)
    assert topic.intrusion == wilson_interval(1, 2)
    assert topic.name == tasks.names[topic.topic]
    values = [judged.intrusion.value for judged in found.topics]
    assert values == sorted(values, reverse=True)


def test_agreement_between_people_is_alpha_of_the_answers(tasks, answered):
    rng = np.random.default_rng(0)
    given = {
        name: {n: int(rng.integers(1, task.n_answers + 1)) for n, task in enumerate(tasks.tasks, 1)} for name in "abc"
    }
    found = read_judgements(tasks, [answered(name, chosen) for name, chosen in given.items()])
    table = np.array([list(chosen.values()) for chosen in given.values()], float)
    assert found.kinds[0].alpha.value == pytest.approx(krippendorff_alpha(table[:, :4]))
    assert found.kinds[1].alpha.value == pytest.approx(krippendorff_alpha(table[:, 4:], "ordinal"))
    assert found.kinds[0].alpha.low <= found.kinds[0].alpha.value <= found.kinds[0].alpha.high
    alone = read_judgements(tasks, [answered("ann", right(tasks))])
    assert np.isnan(alone.kinds[0].alpha.value)


def ten_topics():
    """Tasks on ten topics, one measure that rises and one that is constant."""
    words = tuple("abcdef")
    tasks = tuple(Task("intrusion", topic, (*words[:5], f"x{topic}"), 6) for topic in range(10))
    measures = {"good": {t: float(t) for t in range(10)}, "flat": dict.fromkeys(range(10), 1.0)}
    return JudgementTasks(tasks, {t: f"topic {t}" for t in range(10)}, measures)


def test_correlations_with_measures_are_over_topics(tmp_path):
    key = ten_topics()
    right = [0, 1, 1, 2, 2, 1, 3, 4, 3, 4]  # of four people
    lines = ["tasks,rater,task,answer"]
    for topic, n in enumerate(right):
        lines += [f"{key.id},person {p},{topic + 1},{6 if p < n else 1}" for p in range(4)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found = {row.measure: row.rho for row in read_judgements(key, [tmp_path / "a.csv"]).correlations}
    assert found["good"].value == pytest.approx(spearmanr(right, range(10)).statistic)
    assert found["good"].low > 0
    assert np.isnan(found["flat"].value)
    assert found["good"].n == 10


def test_figures_as_text_json_and_table(tasks, answered):
    found = read_judgements(tasks, [answered("ann", right(tasks)), answered("bob", {**right(tasks), 1: 0})])
    text = str(found)
    assert text.startswith("2 people, 4 topics")
    assert "intruders found (chance 17 %): 100 % (65 % to 100 %), 7 answers, 1 more did not know the words" in text
    assert "mean rating (1 to 3): 3.00" in text
    assert "c_npmi" in text
    plain = json.loads(found.to_json())
    assert plain["kinds"][0]["mean"]["n"] == 7
    assert plain["correlations"][0]["rho"]["value"] is None  # all found all
    table = found.topic_table()
    assert table.index.tolist() == [judged.topic for judged in found.topics]
    assert table["intrusion_answers"].sum() == 7
    assert table["rating"].tolist() == [3.0] * 4


def test_a_table_that_was_filled_in_is_a_file_of_answers(tasks, tmp_path):
    rows = list(csv.reader(io.StringIO(tasks.to_csv())))
    for row, (_, value) in zip(rows[1:5], right(tasks).items()):
        row[-2:] = ["Ann; Bob's", str(value)]
    with open(tmp_path / "filled.csv", "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)  # as spreadsheets of many countries write it
    found = read_judgements(tasks, [tmp_path / "filled.csv"])
    assert found.raters == ("Ann; Bob's",)
    assert (found.kinds[0].mean.value, found.kinds[0].mean.n, found.kinds[1].mean.n) == (1, 4, 0)
    assert "mean rating (1 to 3): -, 0 answers" in str(found)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "a.csv has no column 'tasks': expected the columns tasks, rater, task, answer"),
        ("tasks,rater,task\n", "has no column 'answer'"),
        ("tasks,rater,task,answer\n", "a.csv contains no answers"),
        ("tasks,rater,task,answer\nID,ann,1,\n", "a.csv contains no answers"),
        ("tasks,rater,task,answer\nother,ann,1,1\n", "line 2: the answer is to tasks 'other', but the key is for"),
        ("tasks,rater,task,answer\nID,ann,1,1\nID,ann,99,1\n", "line 3: there is no task '99' among 8"),
        ("tasks,rater,task,answer\nID,ann,1,7\n", "line 2: answer '7' to task 1: expected a number from 0 to 6"),
        ("tasks,rater,task,answer\nID,ann,8,4\n", "answer '4' to task 8: expected a number from 0 to 3"),
        ("tasks,rater,task,answer\nID,ann,1," + "9" * 5000, "line 2: answer '999"),
        ("tasks,rater,task,answer\nID,,1,1\n", "line 2: the answer has no name in the column rater"),
        ("tasks,rater,task,answer\nID,ann,1,1\nID,ann,1,2\n", "line 3: 'ann' answers task 1 twice"),
        ("tasks,rater,task,answer\nID,\udcff,1,1\n", "is not UTF-8"),
    ],
)
def test_bad_answers_are_said_in_one_line(tasks, tmp_path, content, said):
    (tmp_path / "a.csv").write_bytes(content.replace("ID", tasks.id).encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=said) as caught:
        read_judgements(tasks, [tmp_path / "a.csv"])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_one_person_is_in_one_file(tasks, answered):
    files = [answered("ann", {1: 1}), answered("ann", {2: 1}, file="again")]
    with pytest.raises(ValueError, match=r"'ann' is in .*ann.csv and in .*again.csv: expected one file per person"):
        read_judgements(tasks, files)
    with pytest.raises(ValueError, match="there are no answers"):
        read_judgements(tasks, [])
    with pytest.raises(ValueError, match="expected a list of files"):
        read_judgements(tasks, str(files[0]))
