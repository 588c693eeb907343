"""A small invented 20 Newsgroups for the experiments."""

import gzip
import json

import numpy as np


def write_newsgroups(folder):
    """Four groups with words of their own, and some words for all."""
    rng = np.random.default_rng(0)
    groups = ("boats", "chess", "music", "stars")
    posts = []
    for split, n_posts in (("train", 24), ("test", 9)):
        for group in groups:
            words = [f"{group}{letter}" for letter in "abcdefghijklmno"]
            shared = [f"every{letter}" for letter in "abcdefghijklmnopqrst"]
            for number in range(n_posts):
                text = " ".join([*rng.choice(words, 12), *rng.choice(shared, 3)])
                post = {"id": f"{group}/{split}{number}", "text": f"From: {group}\n\n{text}", "labels": [group]}
                posts.append({**post, "split": split})
    (folder / "20newsgroups_raw").mkdir(parents=True)
    lines = "".join(json.dumps(post) + "\n" for post in posts)
    (folder / "20newsgroups_raw" / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
