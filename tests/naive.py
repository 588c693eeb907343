"""A slow, obvious twin of each kernel: the formula, with dense arrays and loops."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from itertools import chain, product
from math import factorial

import numpy as np
from Stemmer import Stemmer


def plsa_step(counts, doc_topic, topic_word, smoothing=0.0, prior=None, exponent=1.0):
    """One EM step of (tempered) PLSA on dense arrays: new doc_topic, new topic_word, log-likelihood before."""
    log_likelihood = 0.0
    new_doc = np.zeros_like(doc_topic)
    new_word = np.full_like(topic_word, smoothing) + (0 if prior is None else prior)
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            n = counts[d, w]
            if n == 0:
                continue
            log_likelihood += n * np.log(doc_topic[d] @ topic_word[:, w])
            joint = (doc_topic[d] * topic_word[:, w]) ** exponent
            posterior = joint / joint.sum()
            new_doc[d] += n * posterior
            new_word[:, w] += n * posterior
        new_doc[d] = new_doc[d] / new_doc[d].sum() if new_doc[d].sum() > 0 else doc_topic[d]
    return new_doc, new_word / np.maximum(new_word.sum(axis=1, keepdims=True), 1e-300), log_likelihood


def fold_in(counts, topic_word, n_iter=2000, exponent=1.0):
    """P(z|d) with topics fixed, from an even start, EM until it stands still."""
    doc_topic = np.full((counts.shape[0], len(topic_word)), 1 / len(topic_word))
    for _ in range(n_iter):
        doc_topic = plsa_step(counts, doc_topic, topic_word, exponent=exponent)[0]
    return doc_topic


def main_topic(row, topic_word, base, focus):
    """Tokens of the main topic in a document, its posterior r, and f_k(w) as leave_one_out.py has it."""
    strength = focus * min(max(2 - row.sum() / 30, 0), 1)
    share = base / base.sum()
    mixed = base.sum() / (base.sum() + focus)
    spread = (1 - mixed) * topic_word + mixed * (share @ topic_word)
    if strength == 0:
        return strength, np.zeros(len(base)), spread
    logs = np.log(share) + (row * np.log(spread)).sum(axis=1)
    posterior = np.exp(logs - logs.max())
    posterior /= posterior.sum()
    return strength, np.where(posterior > 1e-4, posterior, 0), spread


def leave_one_out_step(counts, doc_count, topic_word, base, smoothing=0.0, focus=0.0):
    """A step of leave-one-out EM with each cell's own share worked out again: new tables, log-likelihood, tokens."""
    log_likelihood = 0.0
    new_count = np.zeros_like(doc_count)
    tokens = np.zeros_like(topic_word)
    for d in range(counts.shape[0]):
        strength, main, spread = main_topic(counts[d], topic_word, base, focus)
        pseudo = doc_count[d] + base + strength * main
        for w in range(counts.shape[1]):
            if counts[d, w] == 0:
                continue
            own = pseudo * topic_word[:, w]
            others = np.maximum(doc_count[d] - own / own.sum(), 0) + base
            if strength > 0:
                others_main = main / spread[:, w]
                others = others + strength * others_main / others_main.sum()
            joint = others * topic_word[:, w]
            new_count[d] += counts[d, w] * joint / joint.sum()
            tokens[:, w] += counts[d, w] * joint / joint.sum()
            log_likelihood += counts[d, w] * np.log(min(joint.sum() / (pseudo.sum() - 1), 1))
    new_word = tokens + smoothing
    return new_count, new_word / new_word.sum(axis=1, keepdims=True), log_likelihood, tokens.sum(axis=1)


def stored_cvb0(counts, topic_word, alpha, beta, n_iter):
    """CVB0 as published, with the responsibilities of every cell kept: P(w|z), and the topics' shares."""
    rows, columns = np.nonzero(counts)
    n = counts[rows, columns].astype(float)
    n_topics, n_words = topic_word.shape
    gamma = topic_word[:, columns].T / topic_word[:, columns].T.sum(axis=1, keepdims=True)
    share = np.full(n_topics, 1 / n_topics)
    for _ in range(n_iter):
        doc_count = np.zeros((counts.shape[0], n_topics))
        np.add.at(doc_count, rows, n[:, None] * gamma)
        gamma = (doc_count[rows] - gamma + alpha * share) * topic_word[:, columns].T
        gamma /= gamma.sum(axis=1, keepdims=True)
        word_count = np.zeros((n_words, n_topics))
        np.add.at(word_count, columns, n[:, None] * gamma)
        share = word_count.sum(axis=0) / n.sum()
        topic_word = ((word_count + beta) / (word_count + beta).sum(axis=0)).T
    return topic_word, share


def count_words(texts, preprocessing):
    """Counts by word, one dictionary per text; a stem is shown as its most frequent form (the first of several)."""
    full = replace(preprocessing, stemmer=None)
    stemmer = None if preprocessing.stemmer is None else Stemmer(preprocessing.stemmer)
    words = [full.words(text) for text in texts]
    total: dict[str, dict[str, int]] = {}  # by stem, then by form
    for word in chain.from_iterable(words):
        forms = total.setdefault(_stemmed(word, stemmer), {})
        forms[word] = forms.get(word, 0) + 1
    shown = {stem: max(forms, key=forms.__getitem__) for stem, forms in total.items()}
    rows = []
    for each in words:
        row: dict[str, int] = {}
        for word in each:
            name = shown[_stemmed(word, stemmer)]
            row[name] = row.get(name, 0) + 1
        rows.append(row)
    return rows


def _stemmed(word, stemmer):
    return word if stemmer is None else " ".join(stemmer.stemWord(part) for part in word.split(" "))


def ttmm_step(counts, theme_weight, theme_topic, topic_word, smoothing=0.0):
    """One EM step of TTMM by its sums over documents, words, themes and topics; and the log-likelihood before it."""
    n_themes, n_topics = theme_topic.shape
    word_theme = theme_topic @ topic_word  # P(w|h)
    logs = np.log(theme_weight) + counts @ np.log(word_theme).T
    log_likelihood = np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1)) + logs.max(axis=1)
    doc_theme = np.exp(logs - log_likelihood[:, None])
    new_theme, new_word = np.zeros_like(theme_topic), np.full_like(topic_word, smoothing)
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            for j in range(n_themes):
                for k in range(n_topics):
                    posterior = theme_topic[j, k] * topic_word[k, w] / word_theme[j, w]
                    new_theme[j, k] += doc_theme[d, j] * counts[d, w] * posterior
                    new_word[k, w] += doc_theme[d, j] * counts[d, w] * posterior
    return (
        doc_theme.mean(axis=0),
        new_theme / new_theme.sum(axis=1, keepdims=True),
        new_word / new_word.sum(axis=1, keepdims=True),
        log_likelihood,
    )


def ttmm_token_topics(counts, doc_theme, theme_topic, topic_word):
    """The share of each document's tokens that each topic made."""
    shares = np.zeros((counts.shape[0], len(topic_word)))
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            for j in range(len(theme_topic)):
                joint = theme_topic[j] * topic_word[:, w]
                shares[d] += counts[d, w] * doc_theme[d, j] * joint / joint.sum()
    return shares / counts.sum(axis=1, keepdims=True)


def ltm_step(counts, doc_topic, topic_word, graph, weight):
    """One step of LTM: PLSA's, then eq. 15 as dense systems, a topic at a time; and the objective before it."""
    laplacian = np.diag(graph.sum(axis=1)) - graph
    new_doc, new_word, log_likelihood = plsa_step(counts, doc_topic, topic_word)
    objective = log_likelihood - weight / 2 * (doc_topic * (laplacian @ np.log(doc_topic))).sum()
    lengths = counts.sum(axis=1)
    solved = np.zeros_like(new_doc)
    for k in range(doc_topic.shape[1]):
        solved[:, k] = np.linalg.solve(np.diag(lengths) + weight * laplacian, lengths * new_doc[:, k])
    solved = np.maximum(solved, 1e-12)
    return solved / solved.sum(axis=1, keepdims=True), new_word, objective


def ltm_step_with_prior(counts, doc_topic, topic_word, share, graph, weight, alpha, smoothing=0.0, focus=0.0):
    """One step of LTM with a prior, dense: new doc_topic, topic_word and shares of topics, and the objective before."""
    lengths, degree = counts.sum(axis=1), graph.sum(axis=1)
    laplacian = np.diag(degree) - graph
    base = alpha * share
    found = [main_topic(row, topic_word, base, focus)[:2] for row in counts]
    strength, main = np.array([row[0] for row in found]), np.array([row[0] * row[1] for row in found])
    own = lengths + alpha + strength
    pseudo = np.maximum(doc_topic * (own + weight * degree)[:, None] - base - main, 0)
    new_count, new_word, log_likelihood, tokens = leave_one_out_step(counts, pseudo, topic_word, base, smoothing, focus)
    objective = log_likelihood - weight / 2 * (doc_topic * (laplacian @ np.log(doc_topic))).sum()
    share = tokens / tokens.sum()
    solved = np.linalg.solve(np.diag(own) + weight * laplacian, new_count + alpha * share + main)
    solved = np.maximum(solved, 1e-12)
    return solved / solved.sum(axis=1, keepdims=True), new_word, share, objective


def lapplsi_step(counts, doc_topic, topic_word, graph, weight):
    """One step of LapPLSI: PLSA's tokens of each topic, then each document's best row given those of the others."""
    new_doc, new_word, _ = plsa_step(counts, doc_topic, topic_word)
    tokens, drawn = counts.sum(axis=1, keepdims=True) * new_doc, doc_topic.copy()
    for i in range(len(drawn)):
        pull, toward = weight * graph[i].sum(), weight * graph[i] @ drawn

        def row(r, i=i, pull=pull, toward=toward):
            b = r - 2 * toward
            return (-b + np.sqrt(b**2 + 8 * pull * tokens[i])) / (4 * pull)

        if pull == 0:
            drawn[i] = new_doc[i]
            continue
        low, high = tokens[i].sum() - 2 * pull, tokens[i].sum() + 2 * pull
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if row(middle).sum() > 1 else (low, middle)
        drawn[i] = row(high)
    return drawn / drawn.sum(axis=1, keepdims=True), new_word


def lapplsi_objective(counts, doc_topic, topic_word, graph, weight):
    """Log-likelihood less weight times the squared distances of neighbours, each edge counted once."""
    total = 0.0
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            if counts[d, w]:
                total += counts[d, w] * np.log(doc_topic[d] @ topic_word[:, w])
        for j in range(d):
            total -= weight * graph[d, j] * ((doc_topic[d] - doc_topic[j]) ** 2).sum()
    return total


def fold_in_near(counts, topic_word, toward, pull, start, n_iter=20_000):
    """P(z|d) of one document drawn to its neighbours: y = (c(y) + toward) / (sum c + pull), until it stands still."""
    y = start
    for _ in range(n_iter):
        c = y * (topic_word @ (counts / np.maximum(y @ topic_word, 1e-300)))
        new = (c + toward) / (c.sum() + pull)
        if np.abs(new - y).sum() < 1e-14:
            break
        y = new
    return y


def separation(doc_topic, graph):
    """(A, B) of DTM: squared distances of all ordered pairs of documents, and times the weight of their edge."""
    pairs = near = 0.0
    for i in range(len(doc_topic)):
        for j in range(len(doc_topic)):
            distance = ((doc_topic[i] - doc_topic[j]) ** 2).sum()
            pairs += distance
            near += graph[i, j] * distance
    return pairs, near


def dtm_update(doc_topic, graph, alpha, i, p, floor=1e-12):
    """Eq. 18 and 19 of DTM for topic p of document i: the table after it, the value kept in floor .. 1 - floor."""
    result = doc_topic.copy()
    value = doc_topic[i, p]
    if value >= 1 - floor:
        return result
    near = graph[i] @ doc_topic[:, p]
    beta = (len(doc_topic) * value + alpha * near) / (doc_topic[:, p].sum() + alpha * graph[i].sum() * value)
    new = min(max(beta * value, floor), 1 - floor)
    result[i] *= (1 - new) / (1 - value)
    result[i, p] = new
    return result


def dtm_sweep(doc_topic, graph, alpha):
    """All topics of all documents once, topic by topic."""
    for p in range(doc_topic.shape[1]):
        for i in range(len(doc_topic)):
            doc_topic = dtm_update(doc_topic, graph, alpha, i, p)
    return doc_topic


def tree_enumeration(tree, documents, emission="presence", words=None):
    """Everything of a latent tree by going through all states of all latents: log-likelihood of each document, beliefs
    and evidence (documents x latents x states), and the sums of EM: word, pair and state."""
    n_latents, most = tree.n_latents, tree.table.shape[2]
    words = np.ones(tree.n_words, bool) if words is None else words
    log_likelihood = np.zeros(len(documents))
    beliefs, evidence = (np.zeros((len(documents), n_latents, most)) for _ in range(2))
    word, pair = np.zeros((tree.n_words, most)), np.zeros((n_latents, most, most))
    state = np.zeros((n_latents, most))
    below = [[z for z in range(n_latents) if y in _path_up(tree, z)] for y in range(n_latents)]
    for d, document in enumerate(documents):
        total, joint = 0.0, {}
        for states in product(*map(range, tree.n_states)):
            p = 1.0
            for z in range(n_latents):
                p *= tree.table[z, states[tree.parent[z]] if tree.parent[z] >= 0 else 0, states[z]]
            for w in np.flatnonzero(words):
                p *= _emitted(tree, w, states, document[w], emission)
            joint[states] = p
            total += p
        log_likelihood[d] = np.log(total)
        for states, p in joint.items():
            for z in range(n_latents):
                beliefs[d, z, states[z]] += p / total
                pair[z, states[tree.parent[z]] if tree.parent[z] >= 0 else 0, states[z]] += p / total
            for w in range(tree.n_words):
                word[w, states[tree.word_parent[w]]] += document[w] * p / total
        state += beliefs[d]
        for y in range(n_latents):
            inside = [z for z in below[y] if z != y]
            for s in range(tree.n_states[y]):
                for rest in product(*(range(tree.n_states[z]) for z in inside)):
                    states = {y: s, **dict(zip(inside, rest))}
                    p = 1.0
                    for z in inside:
                        p *= tree.table[z, states[tree.parent[z]], states[z]]
                    for w in np.flatnonzero(words & np.isin(tree.word_parent, below[y])):
                        p *= _emitted(tree, w, states, document[w], emission)
                    evidence[d, y, s] += p
            evidence[d, y] /= evidence[d, y].max()
    return log_likelihood, beliefs, evidence, word, pair, state


def _path_up(tree, z):
    path = [z]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path


def _emitted(tree, w, states, n, emission):
    """P(n times the word w | states); whole n."""
    p = tree.word_table[w, states[tree.word_parent[w]]]
    if emission == "presence":
        return p if n else 1 - p
    return p**n * np.exp(-p) / factorial(int(n))


def tree_pass(tree, documents, emission="presence"):
    """One pass up and down all latents of a tree for each document, absent words and all: log-likelihood (of counts
    without the log n! that no table changes) and the sums of EM: word, pair and state."""
    n_latents, most = tree.n_latents, tree.table.shape[2]
    log_likelihood = np.zeros(len(documents))
    word, pair = np.zeros((tree.n_words, most)), np.zeros((n_latents, most, most))
    state = np.zeros((n_latents, most))
    for d, document in enumerate(documents):
        log_below = np.zeros((n_latents, most))
        for w, n in enumerate(document):
            for s in range(tree.n_states[tree.word_parent[w]]):
                p = tree.word_table[w, s]
                log_p = np.log(p if n else 1 - p) if emission == "presence" else n * np.log(p) - p
                log_below[tree.word_parent[w], s] += log_p
        given = np.zeros((n_latents, most, most))  # P(z=s | parent's state, all below z)
        for z in range(n_latents - 1):
            for q in range(tree.n_states[tree.parent[z]]):
                terms = np.log(tree.table[z, q, : tree.n_states[z]]) + log_below[z, : tree.n_states[z]]
                total = np.logaddexp.reduce(terms)
                given[z, q, : tree.n_states[z]] = np.exp(terms - total)
                log_below[tree.parent[z], q] += total
        terms = np.log(tree.table[-1, 0, : tree.n_states[-1]]) + log_below[-1, : tree.n_states[-1]]
        log_likelihood[d] = np.logaddexp.reduce(terms)
        belief = np.zeros((n_latents, most))
        belief[-1, : tree.n_states[-1]] = np.exp(terms - log_likelihood[d])
        pair[-1, 0] += belief[-1]
        for z in range(n_latents - 2, -1, -1):
            joint = belief[tree.parent[z]][:, None] * given[z]
            pair[z] += joint
            belief[z] = joint.sum(axis=0)
        state += belief
        word += np.asarray(document)[:, None] * belief[tree.word_parent]
    return log_likelihood, word, pair, state


def mutual_information(x, y):
    """Of two columns of values, in nats."""
    result = 0.0
    for a in np.unique(x):
        for b in np.unique(y):
            both = np.mean((x == a) & (y == b))
            if both > 0:
                result += both * np.log(both / (np.mean(x == a) * np.mean(y == b)))
    return result


def pattern_counts(columns):
    """How many rows have each pattern of zeros and ones; bit i of a pattern's number is column i."""
    table = np.zeros(1 << columns.shape[1])
    for row in columns:
        table[sum(1 << i for i, value in enumerate(row) if value)] += 1
    return table


def discerning_index(on, share, s, w):
    """I(W; [Z=s]) from the four cells of their joint distribution; on[s, w] = P(w|Z=s), share[s] = P(Z=s)."""
    joint = np.zeros((2, 2))  # of [Z=s] and W
    for t in range(len(share)):
        joint[int(t == s), 1] += share[t] * on[t, w]
        joint[int(t == s), 0] += share[t] * (1 - on[t, w])
    result = 0.0
    for a in range(2):
        for b in range(2):
            if joint[a, b] > 0:
                result += joint[a, b] * np.log(joint[a, b] / (joint[a].sum() * joint[:, b].sum()))
    return result


def information_told(tree, z, words, documents, emission="presence"):
    """What these words of the documents tell about a latent: H(Z) less the mean of H(Z | words), by enumeration."""
    seen = np.isin(np.arange(tree.n_words), words)
    prior = tree_enumeration(tree, documents[:1], emission, np.zeros(tree.n_words, bool))[1][0, z]
    beliefs = tree_enumeration(tree, documents, emission, seen)[1][:, z]
    return _entropy(prior) - np.mean([_entropy(belief) for belief in beliefs])


def _entropy(p):
    return -sum(value * np.log(value) for value in p if value > 0)


def ldcc_log_joint(tokens, ends, documents, topic, cluster, alpha, beta, delta, n_words):
    """log P(words, topics, clusters) of LDCC as one long product: each draw given those before it."""
    result = 0.0
    in_topic, in_document = {}, {}
    for g in range(len(ends) - 1):
        d, k = documents[g], cluster[g]
        seen = in_document.setdefault(d, [0] * len(alpha))
        result += np.log((seen[k] + delta) / (sum(seen) + len(alpha) * delta))
        seen[k] += 1
        in_segment = [0] * alpha.shape[1]
        for i in range(ends[g], ends[g + 1]):
            w, l = tokens[i], topic[i]
            result += np.log((in_segment[l] + alpha[k, l]) / (sum(in_segment) + sum(alpha[k])))
            in_segment[l] += 1
            words = in_topic.setdefault(l, {})
            result += np.log((words.get(w, 0) + beta) / (sum(words.values()) + n_words * beta))
            words[w] = words.get(w, 0) + 1
    return result


def ldcc_conditional(values, item, n_values, log_joint):
    """P(values[item] | the others) by trying each value; log_joint() looks at `values`."""
    before, logs = values[item], []
    for value in range(n_values):
        values[item] = value
        logs.append(log_joint())
    values[item] = before
    chances = np.exp(np.array(logs) - max(logs))
    return chances / chances.sum()


def ldcc_frozen(segments, topic_word, alpha, delta):
    """P(l|segment) and P(k|segment) of one document, a list of lists of words, by going through all states."""
    n_clusters, n_topics = alpha.shape
    topics, clusters, total = np.zeros((len(segments), n_topics)), np.zeros((len(segments), n_clusters)), 0.0
    lengths = [len(words) for words in segments]
    for ks in product(range(n_clusters), repeat=len(segments)):
        for zs in product(range(n_topics), repeat=sum(lengths)):
            p, rest = 1.0, iter(zs)
            counts = np.zeros((len(segments), n_topics))
            for s, words in enumerate(segments):
                p *= (delta + ks[:s].count(ks[s])) / (n_clusters * delta + s)
                for n, w in enumerate(words):
                    l = next(rest)
                    p *= (alpha[ks[s], l] + counts[s, l]) / (alpha[ks[s]].sum() + n) * topic_word[l, w]
                    counts[s, l] += 1
            total += p
            for s, k in enumerate(ks):
                clusters[s, k] += p
                topics[s] += p * (alpha[k] + counts[s]) / (alpha[k].sum() + lengths[s])
    return topics / total, clusters / total


def ldcc_moment_alpha(counts):
    """Alpha of one document-topic from its segments' counts, segments x topics, each share with some variance."""
    share = counts / counts.sum(axis=1, keepdims=True)
    mean, variance = share.mean(axis=0), share.var(axis=0)
    log_total = 0.0
    for l in range(counts.shape[1] - 1):
        log_total += np.log(mean[l] * (1 - mean[l]) / variance[l] - 1)
    return np.exp(log_total / (counts.shape[1] - 1)) * mean


def likely_nearest(query, base, n_neighbors, share, n_candidates, intersect=False, skip=None):
    """The columns and scores of an approximate search for one query, best first: candidates by its rarest words."""
    alike = np.minimum if intersect else np.multiply
    documents = (base != 0).sum(axis=0)
    words = [w for w in np.argsort(documents, kind="stable") if query[w] != 0 and documents[w] > 0]
    weight = query if intersect else query**2
    looked_up, held = [], 0.0
    for w in words:
        if held >= share * sum(weight[words]):
            break
        looked_up.append(w)
        held += weight[w]
    met = [d for d in range(len(base)) if d != skip and (base[d, looked_up] != 0).any()]
    met.sort(key=lambda d: (-alike(query[looked_up], base[d, looked_up]).sum(), d))
    scores = {d: alike(query, base[d]).sum() for d in met[:n_candidates]}
    found = sorted((d for d in scores if scores[d] > 0), key=lambda d: (-scores[d], d))[:n_neighbors]
    return found, [scores[d] for d in found]


def copies(counts, texts):
    """First copies, and the numbers of exact and near ones, by comparing every document with all earlier ones."""
    folded = [" ".join(unicodedata.normalize("NFC", text).casefold().split()) for text in texts]
    exact = [folded.index(text) if text else d for d, text in enumerate(folded)]
    rows = counts.toarray().astype(int)
    near = list(range(len(rows)))
    for d, x in enumerate(rows):
        if exact[d] != d or (x > 0).sum() < 15:
            continue
        for other in range(d):
            y = rows[other]
            is_first = exact[other] == other and near[other] == other and (y > 0).sum() >= 15
            if is_first and 10 * np.minimum(x, y).sum() >= 9 * np.maximum(x, y).sum():
                near[d] = other
                break
    n_exact = sum(first != d for d, first in enumerate(exact))
    n_near = sum(exact[d] == d and first != d for d, first in enumerate(near))
    return [near[first] for first in exact], n_exact, n_near


def resampled_clusters(counts, cluster, n_clusters, uniform, greedy, document_prior=1.0, word_prior=0.1):
    """A sweep of collapsed Gibbs sampling with one topic per document, from tables counted anew for each document."""
    counts, cluster = counts.toarray(), np.array(cluster)
    for d, row in enumerate(counts):
        length = row.sum()
        if length == 0:
            continue
        others = np.arange(len(counts)) != d
        scores = []
        for k in range(n_clusters):
            members = others & (cluster == k)
            documents = (members & (counts.sum(axis=1) > 0)).sum()
            words = counts[members].sum(axis=0)
            score = np.log(documents + document_prior)
            for w in np.flatnonzero(row):
                score += sum(np.log(words[w] + i + word_prior) for i in range(row[w]))
            # sum_i log(tokens + V beta + i) of the exact formula, with the middle of the range in place of each i
            scores.append(score - length * np.log(words.sum() + len(row) * word_prior + (length - 1) / 2))
        share = np.exp(np.array(scores) - max(scores))
        cluster[d] = np.argmax(scores) if greedy else np.searchsorted(np.cumsum(share / share.sum()), uniform[d])
    return cluster


def log_likelihood_by_largest_topic(counts, largest, unseen, predicted):
    """Log-likelihood of unseen tokens, half by the documents with the same largest topic, half by all of them."""
    corpus = (counts.sum(axis=0) + 1) / (counts.sum() + counts.shape[1])
    sums = np.zeros(len(unseen))
    for d in range(len(unseen)):
        cluster = counts[largest == predicted[d]].sum(axis=0)
        cluster = cluster / cluster.sum() if cluster.sum() else cluster
        for w in range(counts.shape[1]):
            sums[d] += unseen[d, w] * np.log(cluster[w] / 2 + corpus[w] / 2)
    return sums


def spread_labels(graph, start, neighbor_weight):
    """Label propagation: F = (1 - a) (I - a S)^-1 start, S[i, j] = W[i, j] / sqrt(degree_i degree_j)."""
    weights = graph.toarray()
    degree = weights.sum(axis=1)
    scaled = np.zeros_like(weights)
    for i in range(len(weights)):
        for j in range(len(weights)):
            if weights[i, j] > 0:
                scaled[i, j] = weights[i, j] / np.sqrt(degree[i] * degree[j])
    return (1 - neighbor_weight) * np.linalg.solve(np.eye(len(weights)) - neighbor_weight * scaled, start)
