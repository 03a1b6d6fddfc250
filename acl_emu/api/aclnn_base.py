"""aclnn/aclnn_base.h: start and end of the operator library alone."""

from __future__ import annotations

from acl_emu.api.border import acl
from acl_emu.core import soc

HEADER = "aclnn/aclnn_base.h"


@acl(HEADER, "aclnnStatus aclnnInit(const char* configPath)")
def aclnnInit(configPath: str | None = None) -> None:
    """Start the operator library; may be mixed with aclInit and repeated. The configuration is not looked at."""
    soc.check_environment()


@acl(HEADER, "aclnnStatus aclnnFinalize()")
def aclnnFinalize() -> None:
    """End the operator library; nothing is held that would have to be released."""
