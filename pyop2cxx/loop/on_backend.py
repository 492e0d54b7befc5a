# SPDX-License-Identifier: BSD-3-Clause
"""Loops of a certain backend: `pyop2cxx.backends.opencl.ParLoop`, after source document 003."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import uses_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks, shorten

if TYPE_CHECKING:
    from pyop2cxx.pipeline.explain import Explanation
    from pyop2cxx.pipeline.request import GeneratedCode
    from pyop2cxx.sets.entities import SetPartition


@ends_tracebacks("generate", "explain")
class LoopOnBackend(ParLoop):
    """A loop of one backend, whatever the backend of the program is.

    Values move as for ``with op2.backend(...)`` around the loop. Subclasses are made by
    `loops_on`.

    Attributes:
        backend: Name of the backend.
    """

    backend: ClassVar[str]
    _epoch_around = -1
    """Epoch of the program's backend after the last preparation."""

    def compute(self, part: SetPartition | None = None) -> None:
        """Run the loop once, now, on the backend of the class.

        Args:
            part: As for `ParLoop.compute`.

        Raises:
            UnknownBackendError: The backend does not exist any more.
            UsageError: A graph of another backend is being recorded.
            Others: As for `ParLoop.compute`.
        """
        if runtime.backend == self.backend:
            super().compute(part)
            return
        if part is None and self._epoch_around == runtime.epoch and not runtime.writes_graph:
            self._compute_again()
            return
        self._check_graph()
        with runtime.use_backend(self.backend):
            super().compute(part)
            is_kept = self.is_kept
        self._epoch_around = runtime.epoch if is_kept else -1

    def _compute_again(self) -> None:
        """Run the prepared loop; nothing has changed since the preparation."""
        try:
            runtime.settle()
            if runtime.others_record:
                runtime.settle_others(*uses_of(self.args))
            self.bound_run.once(self.args)
        except Op2Error as error:
            shorten(error)
            raise error

    def __call__(
        self, given: SetPartition | Mapping[int | str, Any] | None = None, /, **data: Any
    ) -> None:
        """Run the loop once on the backend of the class, as `ParLoop.__call__`."""
        if not data and not isinstance(given, Mapping):
            self.compute(given)
            return
        if runtime.backend == self.backend:
            super().__call__(given, **data)
            return
        self._check_graph()
        with runtime.use_backend(self.backend):
            super().__call__(given, **data)

    def generate(self, options: Mapping[str, Any] | None = None) -> GeneratedCode:
        """Return the text of the loop for the backend of the class, as `ParLoop.generate`."""
        if runtime.backend == self.backend:
            return super().generate(options)
        with runtime.use_backend(self.backend):
            return super().generate(options)

    def explain(self) -> Explanation:
        """Return the choice on the backend of the class, as `ParLoop.explain`."""
        if runtime.backend == self.backend:
            return super().explain()
        with runtime.use_backend(self.backend):
            return super().explain()

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        title, rows = super().as_table()
        return title, [rows[0], ("on", f"backend '{self.backend}'"), *rows[1:]]

    def __repr__(self) -> str:
        head, _, uses = super().__repr__().partition(":")
        return f"{head} on '{self.backend}':{uses}"

    def _check_graph(self) -> None:
        """Raise if a graph is being recorded, whose loops run on one backend."""
        if runtime.writes_graph:
            raise UsageError(
                f"{self.label}: the loop is of backend '{self.backend}', but the graph that is "
                f"recorded runs on '{runtime.backend}'; record with op2.backend('{self.backend}') "
                "around, or take op2.ParLoop"
            )


@cache
def loops_on(name: str) -> type[LoopOnBackend]:
    """Return the class of loops of a backend; the same class each time.

    Args:
        name: The backend.
    """
    about = {
        "__doc__": f"A loop of backend '{name}', whatever `op2.init` or `op2.backend` say.\n\n"
        "    As `op2.ParLoop`, which is the base, in all else.\n    ",
        "__module__": f"pyop2cxx.backends.{name}",
        "backend": name,
    }
    return type("ParLoop", (LoopOnBackend,), about)
