"""People as learners take them, and how far similar people lie from them in a representation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.regions.region import FloatArray, Region


@dataclass(frozen=True)
class EncodedPeople:
    """Encoded people with their regions.

    Parameters
    ----------
    x : (people, features) float64. region : theirs. label : (people,) codes or scaled numbers; None without a label.
    weight : (people,) of mean 1.
    """

    x: np.ndarray
    region: Region
    label: np.ndarray | None
    weight: np.ndarray


@dataclass(frozen=True)
class LatentReach:
    """Latents of people, and bounds on the distance of anyone similar.

    Parameters
    ----------
    latent : (people, outputs) z = f(x). radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    lower, upper : (people, outputs) the box that holds the same.
    """

    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of_box(cls, latent: FloatArray, lower: FloatArray, upper: FloatArray) -> LatentReach:
        """The smallest ball around z that holds the box."""
        farthest = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
        return cls(latent, farthest, lower, upper)
