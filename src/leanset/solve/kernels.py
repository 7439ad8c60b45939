"""Inner loops, as functions of arrays only. Each has a plain NumPy twin in the tests.

Random numbers come from an explicit xorshift64* state (Vigna 2016), so a kernel depends only on its arguments.
`order` contains rows grouped in segments; in each segment the removed rows come first, up to `middle`. Flipping a row
swaps it with the row at the boundary, so a partner in the opposite state is found in constant time.
"""

import numba
import numpy as np


@numba.njit(inline="always", cache=True, nogil=True)
def _next(state):  # type: ignore[no-untyped-def]
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@numba.njit(inline="always", cache=True, nogil=True)
def _below(state, limit):  # type: ignore[no-untyped-def]
    return np.int64(((_next(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@numba.njit(inline="always", cache=True, nogil=True)
def _uniform(state):  # type: ignore[no-untyped-def]
    return np.float64(_next(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@numba.njit(inline="always", cache=True, nogil=True)
def _flip(row, removed, order, position, segment, middle):  # type: ignore[no-untyped-def]
    s = segment[row]
    if removed[row]:
        middle[s] -= 1
        boundary = middle[s]
    else:
        boundary = middle[s]
        middle[s] += 1
    other, here = order[boundary], position[row]
    order[boundary], order[here] = row, other
    position[row], position[other] = boundary, here
    removed[row] = not removed[row]


@numba.njit(fastmath=True, cache=True, nogil=True)
def exchange_gain(vectors, total, leaves, enters):  # type: ignore[no-untyped-def]
    """Return ‖total − v[leaves] + v[enters]‖² − ‖total‖² in one pass over the two rows."""
    along = np.float32(0.0)
    length = np.float32(0.0)
    for q in range(vectors.shape[1]):
        step = vectors[enters, q] - vectors[leaves, q]
        along += total[q] * step
        length += step * step
    return 2.0 * along + length


@numba.njit(fastmath=True, cache=True, nogil=True)
def anneal(  # type: ignore[no-untyped-def]
    vectors, groups, removed, total, movers, cells, order, position, segment, start, middle, end, spare, quiet_share,
    proposals, temperature, best, energies, state,
):  # fmt: skip
    """Try Metropolis exchanges at one temperature; change `removed`, `total`, the segment arrays and `spare` in place.

    A mover is drawn from `movers`. Its partner, in the opposite state, is drawn from the quiet rows of its cell with
    probability `quiet_share`, else from the movers of that cell. Segment 2g contains the movers of cell g, 2g+1 its
    quiet rows. `spare[c]` is how many more examples group c may lose. `energies` contains the current and the best
    squared norm; `best`, unless it is empty, the set with the best one. Returns the number of accepted exchanges.
    """
    accepted = 0
    for _ in range(proposals):
        i = movers[_below(state, len(movers))]
        s = 2 * cells[i]
        if _uniform(state) < quiet_share:
            s += 1
        if removed[i]:
            low, high = middle[s], end[s]
        else:
            low, high = start[s], middle[s]
        if high <= low:
            continue
        j = order[low + _below(state, high - low)]
        if removed[i]:
            leaves, enters = i, j
        else:
            leaves, enters = j, i
        if groups[leaves] != groups[enters] and spare[groups[enters]] <= 0:
            continue
        gain = exchange_gain(vectors, total, leaves, enters)
        if gain <= 0.0 or _uniform(state) < np.exp(-gain / temperature):
            for q in range(vectors.shape[1]):
                total[q] += vectors[enters, q] - vectors[leaves, q]
            spare[groups[leaves]] += 1
            spare[groups[enters]] -= 1
            _flip(leaves, removed, order, position, segment, middle)
            _flip(enters, removed, order, position, segment, middle)
            energies[0] += gain
            if energies[0] < energies[1]:
                energies[1] = energies[0]
                for r in range(len(best)):
                    best[r] = removed[r]
            accepted += 1
    return accepted


@numba.njit(fastmath=True, cache=True, nogil=True)
def grow_set(vectors, groups, removed, total, bound, spare, proposals, temperature, state):  # type: ignore[no-untyped-def]
    """Try Metropolis moves that maximise the number removed while ‖total‖ ≤ bound; change the arrays in place.

    A move flips one row or, half of the time, two: pairs can reach sets that single flips cannot, because of the bound.
    A move that shrinks the set by k is accepted with probability exp(−k / temperature). Returns the number of accepted
    moves.
    """
    accepted = 0
    for _ in range(proposals):
        i = _below(state, len(removed))
        j = i
        if _uniform(state) < 0.5:
            j = _below(state, len(removed))
        sign_i = -1 if removed[i] else 1
        sign_j = 0 if j == i else (-1 if removed[j] else 1)
        shrinks = -(sign_i + sign_j)
        if shrinks > 0 and _uniform(state) >= np.exp(-shrinks / temperature):
            continue
        spare[groups[i]] -= sign_i
        spare[groups[j]] -= sign_j
        allowed = spare[groups[i]] >= 0 and spare[groups[j]] >= 0
        if allowed:
            square = 0.0
            for q in range(vectors.shape[1]):
                moved = total[q] + sign_i * vectors[i, q] + sign_j * vectors[j, q]
                square += moved * moved
            allowed = square <= bound * bound
        if not allowed:
            spare[groups[i]] += sign_i
            spare[groups[j]] += sign_j
            continue
        for q in range(vectors.shape[1]):
            total[q] += sign_i * vectors[i, q] + sign_j * vectors[j, q]
        removed[i] = not removed[i]
        if sign_j != 0:
            removed[j] = not removed[j]
        accepted += 1
    return accepted
