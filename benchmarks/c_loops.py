"""The loops of small_calls.c in this process, and a callback into Python that does nothing."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from cffi import FFI

from acl_emu.cface import toolkit

SOURCE = Path(__file__).with_name("small_calls.c")
OBJECTS = ("created", "scalars", "arrays", "allocated", "copied", "copied_from_heap")
LOOPS = ("waited", "queued", "planned", "offsets", "shapes", "listed", "lives", *OBJECTS)


@lru_cache(maxsize=None)
def load() -> Any:
    """Compile and load them. They link against the library as programs do; it finds the Python that is running."""
    ffi = FFI()
    ffi.cdef(
        "int small_prepare(const float *); int small_result(float *); int small_finish(void); void call_empty(int);"
        + "".join(f"int small_{name}(int);" for name in LOOPS)
        + 'extern "Python" void empty(void);'
    )
    tree = toolkit.cached()
    ffi.set_source(
        "_small_calls",
        SOURCE.read_text() + "\nstatic void empty(void);\nvoid call_empty(int calls) { while (calls-- > 0) empty(); }\n",
        include_dirs=[str(tree / "include"), str(tree / "include" / "aclnnop")],
        library_dirs=[str(tree / "lib64")],
        libraries=["ascendcl"],
        extra_link_args=[f"-Wl,-rpath,{tree / 'lib64'}"],
        extra_compile_args=["-O2"],
    )
    with tempfile.TemporaryDirectory() as folder:
        built = ffi.compile(folder, verbose=False)
        spec = importlib.util.spec_from_file_location("_small_calls", built)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["_small_calls"] = module
        spec.loader.exec_module(module)
    module.ffi.def_extern(name="empty")(lambda: None)
    return module
