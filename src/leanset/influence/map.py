import abc

from leanset._arrays import Matrix, Rows, Vector, Vectors32


class InfluenceMap(abc.ABC):
    """Influence vectors of rows, in coordinates that (about) preserve Euclidean length.

    Removing a set R of m out of n examples changes the head by about Δθ = (1/(n−m)) H_K⁻¹ Σ_R (g_i + l2·θ̂), with H_K
    the Hessian of the kept rows; the vector of a row is its term of that sum.
    """

    residual: float  # relative residual of the inverse, on a sample of rows
    captured: float  # share of the squared length in these coordinates; 1 if they are complete

    @abc.abstractmethod
    def vectors(self, rows: Rows) -> Vectors32:
        """Return the (k, p) vectors of some rows."""

    @abc.abstractmethod
    def total(self, weights: Vector) -> Vector:
        """Return the weighted sum of the vectors in float64, without computing them."""

    @abc.abstractmethod
    def coordinates(self, head: Matrix) -> Vector:
        """Return a (C, D) change of the head in these coordinates."""

    @abc.abstractmethod
    def norms(self) -> Vector:
        """Return the length of every row's vector."""
