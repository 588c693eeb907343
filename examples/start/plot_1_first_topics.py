"""
First topics and a report
=========================

What are four thousand Debian packages about? This example fits LDA with 20 topics to their descriptions, shows the
topics, and writes a page that anyone can explore in a browser.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from topicfold import LDA, build_report, plots
from topicfold.datasets import load_demo

# %%
# A corpus holds the word counts and everything else that is known about the documents. To read your own texts, use
# ``Corpus.read("texts.csv", text="body")``.

corpus = load_demo()
print(corpus)

# %%
# Fit a model and print its topics, the largest first. With ``random_state`` the result is the same every time.

model = LDA(n_topics=20, random_state=0).fit(corpus)
tree = model.topic_tree(corpus)
print(tree.to_text(n_words=6))

# %%
# The words of the eight largest topics. Each bar shows the probability of a word in its topic.

plots.topic_words(tree, tree.children()[:8], n_words=8)

# %%
# The share of each topic in the whole corpus. Until you give a topic a name, it is named after its three best words.

plots.topic_sizes(tree)

# %%
# New texts need no preparation. Each gets a share of every topic.

new = "A chess program with a strong computer opponent"
best = model.transform([new])[0].argmax()
print(f"{new!r} is about {tree.name(best)!r}")

# %%
# The report is one HTML file that needs no server and no network.

with TemporaryDirectory() as folder:
    report = build_report(model, corpus, name="Debian packages")
    report.save(Path(folder) / "debian.html")
    print(report)
