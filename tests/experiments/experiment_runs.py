"""A run of an experiment, with the results behind its page."""

import json

import pytest

from experiments import runner


def run_with_results(name, experiment, **options):
    """The page that a run writes, and its results as JSON would keep them."""
    caught, measure = [], runner.measure

    def kept(*arguments, **more):
        caught.append(measure(*arguments, **more))
        return caught[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "load_experiment", lambda name: experiment)
        patch.setattr(runner, "measure", kept)
        text = runner.run(name, **options)
    return text, json.loads(json.dumps(caught[0], default=dict))
