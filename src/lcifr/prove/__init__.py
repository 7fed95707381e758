"""Methods that prove the largest value of a network over a region, and their cascade."""

# Imported here and not on demand: a module and a function share a name, and what is bound last is what users get.
from lcifr.prove.maximize import maximize
from lcifr.prove.question import Answer, Budget, Interrupted, Resources, Status
from lcifr.prove.radius import Radius, radius

__all__ = ["Answer", "Budget", "Interrupted", "Radius", "Resources", "Status", "maximize", "radius"]
