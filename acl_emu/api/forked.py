"""The child of a fork: where the parent has used the library, every call is refused.

Only the thread that forked goes on in the child. Streams have no background threads there, and what another thread held stays held. On a
device it is undefined. A child whose parent had made no call yet starts anew, and so does one that executes a program.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from acl_emu.api.border import FUNCTIONS
from acl_emu.core import ending, observe
from acl_emu.core.errors import AclError, AclnnInner, report

_ALLOWED = "aclGetRecentErrMsg"
_PHASE_TWO = "executor"


class _Forked(observe.Watch):
    """Refuses every call; the text can be asked for."""

    def call(
        self,
        name: str,
        parameters: tuple[str, ...],
        arguments: tuple[Any, ...],
        function: Callable[[], Any],
        *,
        status_last: bool,
        refuse: Callable[[AclError], Any],
    ) -> Any:
        """Refuse it, without a look at anything that another thread may have held."""
        if name == _ALLOWED:
            return function()
        declared = FUNCTIONS.get(name)
        is_aclnn = declared is None or declared.prototype.result == "aclnnStatus"
        error = (AclnnInner if is_aclnn else AclError)(
            f"{name}: this process was forked by one that had used the library; start it anew (fork and exec, or multiprocessing's spawn)"
        )
        return report(error) if declared is None and _PHASE_TWO in parameters else refuse(error)


def _after_fork() -> None:
    if observe.started:
        observe.replace(_Forked(()))
        ending.forget()


os.register_at_fork(after_in_child=_after_fork)
