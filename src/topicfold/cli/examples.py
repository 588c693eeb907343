"""Examples at the end of each command's help; a test runs them."""

from __future__ import annotations

__all__ = ["EXAMPLES"]

EXAMPLES: dict[str, tuple[str, ...]] = {
    "check": (
        "topicfold check reviews.csv",
        "topicfold check new.jsonl --json",
    ),
    "read": (
        "topicfold read reviews.csv --id id --labels product --out corpus.safetensors",
        "topicfold read 'part-*.csv' --text body --min-df 2 --out corpus.safetensors",
    ),
    "fit": (
        "topicfold fit reviews.csv --out model.safetensors --report topics.html",
        "topicfold fit reviews.csv --model plsa -p n_topics=5 -p tol=0.001 --out model.safetensors",
        "topicfold fit reviews.csv --graph knn -p n_topics=3 --out model.safetensors",
    ),
    "select": (
        "topicfold select reviews.csv",
        "topicfold select reviews.csv --model plsa -p 'n_topics=[2,4,8]' --splits 2 --json",
    ),
    "demo": ("topicfold demo",),
    "show": (
        "topicfold show model.safetensors",
        "topicfold show model.safetensors --topic 0 --words 20",
    ),
    "tree": (
        "topicfold tree model.safetensors --merge 0,1 --drop 2 --out tree.safetensors",
        "topicfold tree model.safetensors --group 2 --out tree.safetensors",
    ),
    "name": (
        "topicfold name model.safetensors reviews.csv --dry-run",
        "topicfold name model.safetensors --command 'llm -m small' --out names.json",
    ),
    "explore": (
        "topicfold explore reviews.csv",
        "topicfold explore model.safetensors reviews.csv --id id --labels product",
        "topicfold explore model.safetensors reviews.csv --compare other.safetensors --out both.html",
    ),
    "assign": (
        "topicfold assign model.safetensors new.csv --id id --out topics.csv",
        "topicfold assign model.safetensors - --to csv < new.jsonl",
    ),
    "label": (
        "topicfold label reviews.csv labels.json --out labelled.csv",
        "topicfold label reviews.csv labels.json --free-topics 5 --embed --report labelled.html",
    ),
    "search": ("topicfold search model.safetensors reviews.csv 'battery lasts a week' -n 5",),
    "score": ("topicfold score model.safetensors new.csv",),
    "contrast": (
        "topicfold contrast model.safetensors reviews.csv --by product",
        "topicfold contrast model.safetensors reviews.csv --by product --topic 0 --out words.csv",
    ),
    "effects": (
        "topicfold effects model.safetensors reviews.csv --formula '~ product'",
        "topicfold effects model.safetensors reviews.csv --formula '~ product' --contrast 'product: phone - lamp'",
    ),
    "tasks": ("topicfold tasks model.safetensors reviews.csv --sample 10 --out tasks.html",),
    "agreement": ("topicfold agreement tasks.key.json answers-*.csv",),
    "models": (
        "topicfold models",
        "topicfold models lda",
    ),
    "doctor": ("topicfold doctor",),
    "completion": (
        "topicfold completion bash > ~/.local/share/bash-completion/completions/topicfold",
        "topicfold completion zsh > ~/.zfunc/_topicfold    # a folder of $fpath",
        "topicfold completion fish > ~/.config/fish/completions/topicfold.fish",
    ),
}
