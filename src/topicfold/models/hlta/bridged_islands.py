"""Islands: groups of variables that one latent variable explains, the first step of Bridged-Islands (Liu et al. 2014).

A working set grows from the closest pair of variables until two latents explain it better than one, by BIC; one of the
two groups becomes an island, the rest goes back. The models compared are small: a latent Y over its children and
possibly, below Y, a second latent Z over its own children. A latent class model is the case in which Z has one state
and no children.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...engine.jit import njit
from .islands import Island

__all__ = ["bridged_islands", "mutual_information"]

MOST_STATES = 6  # of a latent, in addition to the bound of `most_states`
SMOOTHING = 0.01  # documents added to each cell of a table: no probability is 0
_EM_STEPS = 500
_EM_TOL = 0.001  # gain of a step in the log-likelihood of all documents
_DOCUMENTS_PER_BLOCK = 1 << 14
_N_STARTS = 16
_LEAST_GAIN = 1.0  # in BIC, by a change of the two-latent model
_LEAST_STATE_GAIN = 0.1  # in BIC, by one more state of a latent class model


class Sample(NamedTuple):
    """Documents reduced to a few variables: the distinct rows, and how many documents have each."""

    row: np.ndarray  # of each document
    rows: np.ndarray  # distinct rows x variables
    weights: np.ndarray
    n_values: np.ndarray

    def add(self, column: np.ndarray, n_values: int) -> Sample:
        """The sample with one more variable."""
        cell = self.row * n_values + column
        counts = np.bincount(cell, minlength=len(self.rows) * n_values)
        cells = np.flatnonzero(counts)
        number = np.zeros(len(counts), np.int64)
        number[cells] = np.arange(len(cells))
        rows = np.column_stack([self.rows[cells // n_values], (cells % n_values).astype(np.uint8)])
        return Sample(number[cell], rows, counts[cells].astype(np.float64), np.append(self.n_values, n_values))


class LatentClassModel(NamedTuple):
    """Y over its children; Z, a child of Y, over those that `second` marks.

    tables[i, s, x] = P(X_i=x | s), s a state of the latent above X_i: variables x MOST_STATES x values, some unused.
    """

    second: np.ndarray
    prior: np.ndarray  # P(Y)
    bridge: np.ndarray  # P(Z|Y)
    tables: np.ndarray
    log_likelihood: float = -np.inf


@njit
def em_steps(rows, weights, n_values, second, prior, bridge, tables, touched, n_steps, tol):
    """At most n_steps of EM in place, on the tables that are touched; the log-likelihood they end with.

    P(row) = sum_y P(y) prod_(i below Y) P(x_i|y) sum_z P(z|y) prod_(i below Z) P(x_i|z)
    touched: the tables of the variables, then P(Y), then P(Z|Y). Ends when a step gains less than tol.
    """
    n_rows, k = rows.shape
    n_y, n_z = bridge.shape
    # what the tables that do not change say about each row
    fixed_y, fixed_z = np.ones((n_rows, n_y)), np.ones((n_rows, n_z))
    for i in range(k):
        if not touched[i]:
            for r in range(n_rows):
                if second[i]:
                    for z in range(n_z):
                        fixed_z[r, z] *= tables[i, z, rows[r, i]]
                else:
                    for y in range(n_y):
                        fixed_y[r, y] *= tables[i, y, rows[r, i]]
    moving = np.flatnonzero(touched[:k])
    likelihood_y, likelihood_z = np.empty(n_y), np.empty(n_z)
    in_y, in_z = np.empty(n_y), np.empty(n_z)
    both, counts = np.empty((n_y, n_z)), np.empty(tables.shape)
    last = -np.inf
    value = -np.inf
    for step in range(n_steps + 1):
        # expected counts, and the log-likelihood
        value = 0.0
        both[:] = SMOOTHING
        counts[:] = SMOOTHING
        for r in range(n_rows):
            likelihood_y[:] = fixed_y[r]
            likelihood_z[:] = fixed_z[r]
            for m in moving:
                if second[m]:
                    for z in range(n_z):
                        likelihood_z[z] *= tables[m, z, rows[r, m]]
                else:
                    for y in range(n_y):
                        likelihood_y[y] *= tables[m, y, rows[r, m]]
            total = 1e-300  # a nearly impossible row must not divide by 0
            for y in range(n_y):
                below = 0.0
                for z in range(n_z):
                    below += bridge[y, z] * likelihood_z[z]
                likelihood_y[y] *= prior[y]  # from here on P(y, what is below Y)
                in_y[y] = likelihood_y[y] * below
                total += in_y[y]
            value += weights[r] * np.log(total)
            scale = weights[r] / total
            in_z[:] = 0.0
            for y in range(n_y):
                in_y[y] *= scale
                for z in range(n_z):
                    part = scale * likelihood_y[y] * bridge[y, z] * likelihood_z[z]
                    both[y, z] += part
                    in_z[z] += part
            for m in moving:
                if second[m]:
                    for z in range(n_z):
                        counts[m, z, rows[r, m]] += in_z[z]
                else:
                    for y in range(n_y):
                        counts[m, y, rows[r, m]] += in_y[y]
        if step == n_steps or value - last < tol:
            break
        last = value
        # new tables
        if touched[k]:
            for y in range(n_y):
                prior[y] = both[y].sum() / both.sum()
        if touched[k + 1]:
            for y in range(n_y):
                bridge[y] = both[y] / both[y].sum()
        for m in moving:
            for s in range(n_z if second[m] else n_y):
                total = 0.0
                for x in range(n_values[m]):
                    total += counts[m, s, x]
                for x in range(n_values[m]):
                    tables[m, s, x] = counts[m, s, x] / total
    return value


def n_parameters(model: LatentClassModel, n_values: np.ndarray) -> int:
    """Free probabilities: of P(Y), of P(Z|Y) and of each variable's table."""
    n_y, n_z = model.bridge.shape
    states = np.where(model.second, n_z, n_y)
    return int(n_y - 1 + n_y * (n_z - 1) + states @ (n_values - 1))


def bic(model: LatentClassModel, sample: Sample) -> float:
    """Log-likelihood - parameters / 2 ln N."""
    return model.log_likelihood - n_parameters(model, sample.n_values) / 2 * np.log(len(sample.row))


def most_states(neighbours: np.ndarray) -> int:
    """The largest cardinality of a regular latent, prod|neighbour| / max|neighbour|, from 2 to MOST_STATES."""
    return int(np.clip(np.prod(neighbours.astype(np.float64)) / neighbours.max(), 2, MOST_STATES))


def _normalised(weights: np.ndarray) -> np.ndarray:
    return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)


def fit_class_model(
    sample: Sample, starts: list[LatentClassModel], touched: np.ndarray | None = None
) -> LatentClassModel:
    """EM from several starts, the better half kept after 1, 2, 4 ... steps; of all tables or the `touched` ones."""
    if touched is None:
        touched = np.ones(len(sample.n_values) + 2, np.bool_)
    # the kernel works in place
    models = [m._replace(prior=m.prior.copy(), bridge=m.bridge.copy(), tables=m.tables.copy()) for m in starts]
    steps = 1
    while len(models) > 1:
        values = [em_steps(*sample[1:], *m[:4], touched, steps, 0.0) for m in models]
        models = [models[i] for i in np.argsort(values, kind="stable")[::-1][: len(models) // 2]]
        steps *= 2
    value = em_steps(*sample[1:], *models[0][:4], touched, _EM_STEPS, _EM_TOL)
    return models[0]._replace(log_likelihood=value)


def mutual_information(data: np.ndarray) -> np.ndarray:
    """I(X; Y) in nats of all pairs of columns of small whole numbers; -1 on the diagonal."""
    n_documents, n_variables = data.shape
    top = int(data.max(initial=0)) + 1
    single = np.array([np.count_nonzero(data == value, axis=0) for value in range(top)], np.float64)
    result = np.zeros((n_variables, n_variables))
    for a in range(top):
        for b in range(a, top):
            joint = np.zeros_like(result)
            for begin in range(0, n_documents, _DOCUMENTS_PER_BLOCK):
                block = data[begin : begin + _DOCUMENTS_PER_BLOCK]
                # float32 represents whole numbers of this size exactly: the sums do not depend on the number of threads
                joint += (block == a).astype(np.float32).T @ (block == b).astype(np.float32)
            with np.errstate(divide="ignore", invalid="ignore"):
                term = joint / n_documents * np.log(joint * n_documents / np.outer(single[a], single[b]))
            term[joint == 0] = 0
            result += term if a == b else term + term.T
    result = np.maximum(result, 0)
    np.fill_diagonal(result, -1)
    return result


class WorkingSet:
    """A few variables and their models: latent class models, each fitted once, and changes of a model.

    smaller: the set before its last variable joined, whose models are good starts.
    """

    def __init__(self, sample: Sample, random_state: np.random.RandomState, smaller: WorkingSet | None = None) -> None:
        self.sample = sample
        self.random_state = random_state
        self.earlier = {} if smaller is None else smaller.fitted
        self.fitted: dict[int, LatentClassModel] = {}
        self.k = len(sample.n_values)
        values = np.arange(sample.n_values.max())
        counts = np.tensordot(sample.weights, sample.rows[:, :, None] == values, 1) + SMOOTHING
        counts[values >= sample.n_values[:, None]] = 0
        self.marginals = _normalised(counts)

    def add(self, column: np.ndarray, n_values: int) -> WorkingSet:
        return WorkingSet(self.sample.add(column, n_values), self.random_state, self)

    def bic(self, model: LatentClassModel) -> float:
        return bic(model, self.sample)

    # -- one latent

    def class_model(self, n_states: int) -> LatentClassModel:
        """The latent class model with this many states."""
        if n_states not in self.fitted:
            starts = [self._random_class_model(n_states) for _ in range(_N_STARTS)]
            if n_states in self.earlier:
                starts.append(self._extended(self.earlier[n_states]))
            if n_states > 2:
                starts += [self._split_state(self.class_model(n_states - 1), False) for _ in range(_N_STARTS)]
            self.fitted[n_states] = fit_class_model(self.sample, starts)
        return self.fitted[n_states]

    def best_class_model(self) -> LatentClassModel:
        """Add states as long as this raises BIC."""
        model = self.class_model(2)
        for n_states in range(3, most_states(self.sample.n_values) + 1):
            larger = self.class_model(n_states)
            if self.bic(larger) - self.bic(model) <= _LEAST_STATE_GAIN:
                break
            model = larger
        return model

    def _random_tables(self, which: np.ndarray) -> np.ndarray:
        shape = len(which), MOST_STATES, self.marginals.shape[1]
        return _normalised(self.marginals[which][:, None] * self.random_state.standard_exponential(shape))

    def _random_class_model(self, n_states: int) -> LatentClassModel:
        prior = _normalised(self.random_state.standard_exponential(n_states))
        second = np.zeros(self.k, np.bool_)
        return LatentClassModel(second, prior, np.ones((n_states, 1)), self._random_tables(np.arange(self.k)))

    def _extended(self, model: LatentClassModel) -> LatentClassModel:
        """A model of the smaller set with the last variable independent of Y; one step of EM makes it dependent."""
        tables = np.repeat(self.marginals[:, None], MOST_STATES, 1)
        tables[:-1] = 0
        tables[:-1, :, : model.tables.shape[2]] = model.tables
        return model._replace(second=np.append(model.second, False), tables=tables)

    # -- two latents

    def _split_state(self, model: LatentClassModel, of_second: bool) -> LatentClassModel:
        """Split a random state of Y or Z in two: each has half of its documents, with slightly different tables."""
        n_states = model.bridge.shape[int(of_second)]
        state = self.random_state.randint(n_states)
        prior, bridge, tables = model.prior, model.bridge, model.tables.copy()
        if of_second:
            bridge = np.column_stack([bridge, bridge[:, state]])
            bridge[:, [state, n_states]] /= 2
        else:
            prior = np.append(prior, prior[state])
            prior[[state, n_states]] /= 2
            bridge = np.vstack([bridge, bridge[state]])
        children = np.flatnonzero(model.second == of_second)
        for s in (n_states, state):  # the copy first: the original changes too
            noise = np.exp(0.7 * self.random_state.standard_normal((len(children), tables.shape[2])))
            tables[children, s] = _normalised(model.tables[children, state] * noise)
        return LatentClassModel(model.second, prior, np.ascontiguousarray(bridge), tables)

    def one_more_state(self, model: LatentClassModel) -> list[LatentClassModel]:
        """The model with one more state of Y, and with one more of Z, if that keeps the latent regular."""
        n_y, n_z = model.bridge.shape
        if n_z == 1:
            return [self.class_model(n_y + 1)] if n_y < most_states(self.sample.n_values) else []
        result = []
        for of_second, n_states, n_other in ((False, n_y, n_z), (True, n_z, n_y)):
            children = model.second == of_second
            if n_states < most_states(np.append(self.sample.n_values[children], n_other)):
                touched = np.append(children, [not of_second, True])
                starts = [self._split_state(model, of_second) for _ in range(_N_STARTS)]
                result.append(fit_class_model(self.sample, starts, touched))
        return result

    def new_latent(self, model: LatentClassModel, pair: list[int]) -> LatentClassModel:
        """A latent class model with a second latent over the pair; states are added as long as this raises BIC."""
        second = np.zeros(self.k, np.bool_)
        second[pair] = True
        touched = np.append(second, [False, True])
        n_y = len(model.prior)
        best = None
        for n_z in range(2, most_states(np.append(self.sample.n_values[pair], n_y)) + 1):
            starts = []
            for _ in range(_N_STARTS):
                bridge = _normalised(self.random_state.standard_exponential((n_y, n_z)))
                tables = model.tables.copy()
                tables[second] = self._random_tables(np.flatnonzero(second))
                starts.append(LatentClassModel(second, model.prior, bridge, tables))
            # nearly the same as one latent
            copied = np.arange(n_z) % n_y
            tables = model.tables.copy()
            tables[second, :n_z] = model.tables[second][:, copied]
            bridge = _normalised(0.1 + (np.arange(n_y)[:, None] == copied))
            starts.append(LatentClassModel(second, model.prior, bridge, tables))
            larger = fit_class_model(self.sample, starts, touched)
            if best is not None and self.bic(larger) <= self.bic(best):
                break
            best = larger
        assert best is not None
        return best

    def relocated(self, model: LatentClassModel) -> LatentClassModel:
        """Children of Y moved to Z one by one, the best first, as long as this raises BIC; two stay."""
        while np.count_nonzero(~model.second) > 2:
            moved = []
            for i in np.flatnonzero(~model.second):
                second, touched = model.second.copy(), np.zeros(self.k + 2, np.bool_)
                second[i] = touched[i] = True
                tables = model.tables.copy()
                tables[i] = self.marginals[i]
                moved.append(fit_class_model(self.sample, [model._replace(second=second, tables=tables)], touched))
            best = max(moved, key=self.bic)
            if self.bic(best) - self.bic(model) <= _LEAST_GAIN:
                break
            model = fit_class_model(self.sample, [best])
        return model

    def second_cluster(self, pair: list[int], delta: float) -> np.ndarray | None:
        """The UD-test: None if one latent explains the set, otherwise the variables that go to the second.

        The search stops when the test has failed: further states would not change the clusters.
        """
        bound = self.bic(self.best_class_model()) + delta
        model = self.class_model(2)
        while model.bridge.shape[1] == 1 or self.bic(model) <= bound:
            changed = self.one_more_state(model)
            if model.bridge.shape[1] == 1:
                changed.append(self.new_latent(model, pair))
            score, size = self.bic(model), n_parameters(model, self.sample.n_values)
            changed = [m for m in changed if self.bic(m) - score > _LEAST_GAIN]
            if not changed:
                return None
            added = [max(n_parameters(m, self.sample.n_values) - size, 1) for m in changed]
            best = changed[int(np.argmax([(self.bic(m) - score) / n for m, n in zip(changed, added)]))]
            is_new = best.bridge.shape[1] > 1 and model.bridge.shape[1] == 1
            model = fit_class_model(self.sample, [best])
            if is_new:
                model = self.relocated(model)
        return model.second


class Level:
    """The variables of one level, and the working sets made of them."""

    def __init__(self, data: np.ndarray, n_values: np.ndarray, random_state: np.random.RandomState) -> None:
        self.columns = np.ascontiguousarray(data.T)
        self.n_values = np.asarray(n_values, np.int64)
        self.information = mutual_information(data)
        self.random_state = random_state

    def working_set(self, variables: list[int]) -> WorkingSet:
        n_documents = self.columns.shape[1]
        sample = Sample(np.zeros(n_documents, np.int64), np.zeros((1, 0), np.uint8), np.ones(1), self.n_values[:0])
        for v in variables:
            sample = sample.add(self.columns[v], self.n_values[v])
        return WorkingSet(sample, self.random_state)

    def island(self, variables: list[int], current: WorkingSet | None = None) -> Island:
        model = (current or self.working_set(variables)).best_class_model()
        tables = [model.tables[i, : len(model.prior), : self.n_values[v]] for i, v in enumerate(variables)]
        order = np.argsort(sum(t @ np.arange(t.shape[1]) for t in tables), kind="stable")
        return Island(np.array(variables), model.prior[order], tuple(t[order] for t in tables))

    def grow(self, seeds: list[int], free: np.ndarray, delta: float, island_size: int) -> Island:
        """The island that grows from two seeds: free variables join, the closest first, until the UD-test fails."""
        variables = list(seeds)
        current = self.working_set(variables)
        outside = free.copy()
        outside[variables] = False
        while outside.any() and len(variables) < island_size:
            new = int(np.where(outside, self.information[variables].max(0), -1).argmax())
            closest = int(self.information[variables, new].argmax())
            variables.append(new)
            outside[new] = False
            current = current.add(self.columns[new], self.n_values[new])
            if len(variables) >= 4:
                second = current.second_cluster([closest, len(variables) - 1], delta)
                if second is not None:
                    return self.island(_island_cluster(variables, second, self.information))
        return self.island(variables, current)


def _island_cluster(variables: list[int], second: np.ndarray, information: np.ndarray) -> list[int]:
    """The cluster with both seeds, otherwise the larger one, otherwise the one with more mutual information."""
    clusters = [[v for v, below in zip(variables, second) if below == side] for side in (False, True)]

    def rank(cluster: list[int]) -> tuple[bool, int, float]:
        pairs = information[np.ix_(cluster, cluster)]
        return variables[0] in cluster and variables[1] in cluster, len(cluster), float(np.triu(pairs, 1).sum())

    return max(clusters, key=rank)


def bridged_islands(
    data: np.ndarray,
    n_values: np.ndarray,
    *,
    delta: float,
    island_size: int,
    random_state: np.random.RandomState,
    report: Callable[[int, int], None] | None = None,
) -> list[Island]:
    """Put every variable in one island, of at least two variables if there are two.

    data: documents x variables, values 0..n_values[i]-1. delta: a working set is split if a second latent gains more
    than this in BIC. island_size: a working set stops growing at this size. report(variables placed, islands) is called
    after each island.
    """
    n_variables = data.shape[1]
    if n_variables == 0:
        return []
    level = Level(data, n_values, random_state)
    information = level.information
    islands: list[Island] = []
    free = np.ones(n_variables, np.bool_)
    closest = information.argmax(1)
    while np.count_nonzero(free) > 1:
        stale = np.flatnonzero(free & ~free[closest])
        closest[stale] = np.where(free, information[stale], -2).argmax(1)
        seed = int(np.where(free, information[np.arange(n_variables), closest], -2).argmax())
        islands.append(level.grow([seed, int(closest[seed])], free, delta, island_size))
        free[islands[-1].variables] = False
        if report is not None:
            report(n_variables - np.count_nonzero(free), len(islands))
    for single in np.flatnonzero(free).tolist():  # at most one
        variables = [single]
        if islands:
            place = int(np.argmax([information[single, island.variables].max() for island in islands]))
            variables = [*islands.pop(place).variables.tolist(), single]
        islands.append(level.island(variables))
        if report is not None:
            report(n_variables, len(islands))
    return islands
