"""
People judge topics
===================

Measures such as coherence agree only loosely with what people think. When topics matter, ask people: which of six words
does not belong (an *intruder* from another topic), and how well do the best words go together? topicfold makes the
tasks, writes a page on which to answer them, and reads the answers.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDA, judgement_tasks, read_judgements, save_tasks_page
from topicfold.datasets import load_demo

# %%
# Two tasks for each of 20 topics.

corpus = load_demo()
tree = LDA(n_topics=20, random_state=0).fit(corpus).topic_tree(corpus)
tasks = judgement_tasks(tree, corpus, seed=0)
print(*tasks.tasks[0].words, sep=", ")

# %%
# Send the page to people; they send back the file that it downloads. Here five simulated people answer, so the result
# shows how to read the figure and says nothing about these topics. They find the intruder with a probability that
# differs from topic to topic, and guess otherwise.

rng = np.random.default_rng(0)
clear = {topic: rng.uniform(0.1, 1) for topic in tasks.names}


def answer(task):
    if rng.random() < clear[task.topic]:
        return task.intruder if task.kind == "intrusion" else 3
    return rng.integers(1, task.n_answers + 1)


with TemporaryDirectory() as folder:
    save_tasks_page(tasks, Path(folder) / "tasks.html", "Debian packages")
    answers = Path(folder) / "answers.csv"
    rows = [f"{tasks.id},P{who},{n},{answer(task)}" for who in range(5) for n, task in enumerate(tasks.tasks, 1)]
    answers.write_text("\n".join(["tasks,rater,task,answer", *rows]), encoding="utf-8")
    judgements = read_judgements(tasks, [answers])

# %%
# With five people per topic, intervals are wide: only the best and the worst topics can be distinguished.

table = judgements.topic_table().sort_values("intrusion")
figure, axes = plt.subplots(figsize=(7, 5.5), layout="constrained")
reach = [table.intrusion - table.intrusion_low, table.intrusion_high - table.intrusion]
axes.errorbar(100 * table.intrusion, table.name, xerr=[100 * side for side in reach], fmt="o")
axes.axvline(100 * judgements.chance, color="0.4", linestyle="--", label="guessing")
axes.set_xlabel("intruders found by five simulated people, % (95 % interval)")
axes.legend(frameon=False)
print(f"intruders found: {judgements.kinds[0].mean.value:.0%}")
