"""The crew that a job is given to, by what was asked for; Ray is imported only for a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from lcifr.runs.executors.crew import Crew, RayCluster, Workers


def crew_for(job: Any, workers: Workers) -> AbstractContextManager[Crew]:
    """Whom a job is given to."""
    if isinstance(workers, RayCluster):
        from lcifr.runs.executors.ray import RayCrew

        return RayCrew(job, workers)
    from lcifr.runs.executors.local import LocalCrew

    return LocalCrew(job, workers)
