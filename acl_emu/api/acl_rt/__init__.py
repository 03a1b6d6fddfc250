"""acl/acl_rt.h, one module per chapter of it."""

HEADER = "acl/acl_rt.h"
