"""``@single_phase``: a function of the operator library without workspace, executor and stream. It works at once, on the host."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from acl_emu.core import constants as c
from acl_emu.core import observe, soc
from acl_emu.core.errors import AclError, AclnnInner, report
from acl_emu.core.soc import ALL, Product
from acl_emu.spec.operator import STANDARD_ORDER, Check, Declaration


class Result(NamedTuple):
    """An out-parameter: what Python gets as a result, and C through a pointer. ``Annotated[int, Result("uint64_t", "size")]``."""

    c_type: str
    """What the pointer points to."""
    name: str
    python_type: str = "int"
    """For the type stubs."""


class SinglePhase(Declaration):
    """Such a function. Called from Python it gives its results, and the status last; where it fails, results are 0."""

    def __init__(
        self, function: Callable[..., Any], products: frozenset[Product], elsewhere: type[AclError], checks: tuple[Check, ...]
    ) -> None:
        super().__init__(function, products, elsewhere, checks)
        self.results = tuple(_results(get_type_hints(function, include_extras=True)["return"]))
        if not self.results:
            raise TypeError(f"{self.name}: the return type is not annotated with a Result")

    def call(self, /, *arguments: Any, **named: Any) -> tuple[Any, ...]:
        """What a program calls."""
        if named or len(arguments) != len(self.names):
            arguments = inspect.signature(self.function).bind(*arguments, **named).args
        if observe.watching is None:
            return self._carry_out(arguments)
        answer: tuple[Any, ...] = observe.watching.call(
            self.name, self.names, arguments, lambda: self._carry_out(arguments), status_last=True, refuse=self._refuse
        )
        return answer

    def _carry_out(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            values = tuple(kind.take(name, value) for (name, kind), value in zip(self.parameters, arguments, strict=True))
            for check in self.checks:
                check(self, values)
            chip = soc.current()
            if chip.product not in self.products:
                code = c.ACLNN_ERR_INNER_NULLPTR if self.elsewhere is AclnnInner else None
                raise self.elsewhere(f"{self.name} is not there on {chip.name} ({chip.product.value})", code)
            found = self.function(*values)
        except AclError as error:
            return self._refuse(error)
        return (*found, c.ACLNN_SUCCESS) if len(self.results) > 1 else (found, c.ACLNN_SUCCESS)

    def _refuse(self, error: AclError) -> tuple[Any, ...]:
        if not str(error).startswith(self.name):
            error.args = (f"{self.name}: {error}",)
        return (*(0 for _ in self.results), report(error))


def _results(hint: Any) -> list[Result]:
    if get_origin(hint) is tuple:
        return [result for part in get_args(hint) for result in _results(part)]
    return [note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Result)]


def single_phase(
    *, products: frozenset[Product] = ALL, elsewhere: type[AclError] = AclnnInner, checks: tuple[Check, ...] = STANDARD_ORDER
) -> Callable[[Callable[..., Any]], SinglePhase]:
    """Declare such a function: the annotated function does the work; arguments as for ``@operator``."""
    return lambda function: SinglePhase(function, products, elsewhere, checks)
