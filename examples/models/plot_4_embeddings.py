"""
Embeddings
==========

Vectors from a language model show which texts mean the same in different words. LTM uses such vectors in addition to
the counts: texts with similar vectors are drawn to the same topics, and topics are still lists of words.

This example must run anywhere, so TF-IDF and SVD on the long descriptions of packages replace the language model. LTM
sees only the one-line synopses, so the vectors contain more than the short texts, as those of a language model would.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

from topicfold import LDA, LTM, Corpus, embed
from topicfold.datasets import load_demo

# %%
# ``embed`` takes any function from texts to vectors, such as ``SentenceTransformer("all-MiniLM-L6-v2").encode``. It
# also takes the name or folder of an embedding model, and can keep the vectors in files:
# ``embed(corpus, "sentence-transformers/all-MiniLM-L6-v2", cache=".")``.

packages = load_demo()
encoder = make_pipeline(TfidfVectorizer(stop_words="english", sublinear_tf=True), TruncatedSVD(50, random_state=0))
vectors = embed(packages, encoder.fit(packages.texts).transform)
print(vectors.shape)

# %%
# Words alone, vectors alone, and both.

short = Corpus.from_texts([title.partition(": ")[2] for title in packages.titles], min_df=3)
lda = LDA(30, random_state=0).fit(short)
ltm = LTM(30, graph_weight=1, random_state=0).fit(short, embeddings=vectors)
largest = {
    "words (LDA)": lda.doc_topic_.argmax(axis=1),
    "vectors (k-means)": KMeans(30, n_init=1, random_state=0).fit_predict(vectors),
    "both (LTM)": ltm.doc_topic_.argmax(axis=1),
}
nmi = {name: normalized_mutual_info_score(packages.label_array(), topics) for name, topics in largest.items()}
print(ltm.topic_tree(short).to_text(n_words=5))

# %%
# How well the largest topics agree with the sections of the packages, which no method has seen.

figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
bars = axes.barh(list(nmi), np.array(list(nmi.values())), color=["0.7", "0.7", "tab:blue"])
axes.bar_label(bars, fmt=" %.2f")
axes.set(xlabel="NMI with the sections of packages", xlim=(0, 0.6))
axes.invert_yaxis()
