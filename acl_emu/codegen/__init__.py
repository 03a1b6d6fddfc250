"""Everything that is derived: constants, headers, the C shim, Python faces, tables."""
