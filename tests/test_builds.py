"""Building programs: what is found again in the cache and what is not, what is said to be missing, and which lines are named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from acl_emu.tools.builds import Build, not_emulated, operators_of
from acl_emu.tools.pages import Program, programs_in
from tests.command import HELLO, acl_emu, refused

PAGE = "# Page\n\ntext\n\n```cpp\n{}\n```\n"
NUMBER = '#include <cstdio>\n#include "number.h"\nint main() { std::printf("%d\\n", NUMBER); }\n'


def test_the_same_text_under_another_name(tmp_path: Path, cache: dict[str, str]) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.md").write_text(PAGE.format(HELLO))
        done = acl_emu("run", tmp_path / f"{name}.md", **cache)
        assert (done.stdout, done.returncode) == ("Ascend910B1 1 8\n", 7), done.stderr
    for name in ("first", "second"):
        assert "building" not in acl_emu("run", tmp_path / f"{name}.md", **cache).stderr


HALVES = """
#include <cstdint>
#include <cstdio>
#include <vector>
int main() {
    std::vector<uint16_t> bits = {0x3C00, 0xC500, 0x0001};
    for (auto& one : bits) std::printf("%g ", static_cast<float>(*reinterpret_cast<__fp16*>(&one)));
    __fp16 rounded = 0.1f;
    std::printf("%d %g\\n", (int)sizeof(rounded), (float)rounded);
}
"""


def test_the_half_precision_type_of_arm_compilers(tmp_path: Path, cache: dict[str, str]) -> None:
    (tmp_path / "page.md").write_text(PAGE.format(HALVES))
    done = acl_emu("run", tmp_path / "page.md", **cache)
    assert done.stdout == "1 -5 5.96046e-08 2 0.0999756\n", done.stderr


@pytest.mark.parametrize("way", ["flag", "CPATH", "CPLUS_INCLUDE_PATH", "beside", "relative"])
def test_a_header_that_changed_is_noticed_wherever_it_is_found(tmp_path: Path, cache: dict[str, str], way: str) -> None:
    headers = tmp_path / "with blanks"
    headers.mkdir()
    source = (headers if way == "beside" else tmp_path) / "program.cpp"
    source.write_text(NUMBER)
    options = {"flag": ["--cxx", f"g++ -I'{headers}'"], "relative": ["--cxx", "g++ '-Iwith blanks'"]}.get(way, [])
    environment = {**cache, **({way: str(headers)} if way.startswith("CP") else {})}
    for number, built in ((1, True), (1, False), (2, True), (2, False), (1, False)):
        (headers / "number.h").write_text(f"#define NUMBER {number}\n")
        done = acl_emu("run", *options, source, cwd=tmp_path, **environment)
        assert done.stdout == f"{number}\n", done.stderr
        assert ("building" in done.stderr) == built


def test_a_header_of_a_header_and_one_that_is_gone(tmp_path: Path, cache: dict[str, str]) -> None:
    (tmp_path / "program.cpp").write_text(NUMBER)
    (tmp_path / "number.h").write_text('#include "deeper.h"\n')
    (tmp_path / "deeper.h").write_text("#define NUMBER 5\n")
    assert acl_emu("run", tmp_path / "program.cpp", **cache).stdout == "5\n"
    (tmp_path / "deeper.h").unlink()
    assert "deeper.h" in refused("run", tmp_path / "program.cpp", **cache)


def test_an_object_that_the_command_names_is_part_of_the_key(tmp_path: Path, cache: dict[str, str]) -> None:
    (tmp_path / "program.cpp").write_text('#include <cstdio>\nint number();\nint main() { std::printf("%d\\n", number()); }\n')
    for number in (1, 2):
        text = f"int number() {{ return {number}; }}\n"
        subprocess.run(["g++", "-x", "c++", "-", "-c", "-o", "number.o"], input=text, text=True, cwd=tmp_path, check=True)
        done = acl_emu("run", "--cxx", "g++ number.o", "program.cpp", cwd=tmp_path, **cache)
        assert done.stdout == f"{number}\n", done.stderr


@pytest.mark.parametrize("name", ["-O3", "-", "a b", "dependencies.json", 'quote"back\\slash', "-iquote"])
def test_any_name_of_a_file(tmp_path: Path, warm_cache: dict[str, str], name: str) -> None:
    (tmp_path / f"{name}.cpp").write_text(HELLO)
    done = acl_emu("run", "--", f"{name}.cpp", "-x", cwd=tmp_path, **warm_cache)
    assert (done.stdout, done.returncode) == ("Ascend910B1 2 [-x] 8\n", 7), done.stderr


def test_lines_are_those_of_the_page(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format("int main() {\n    return undeclared;\n}"))
    assert f"{page}:7:12: error" in refused("run", page, **warm_cache)
    leak = '#include "acl/acl.h"\nint main() {\n    aclInit(nullptr);\n    return 0;\n}'
    page.write_text(PAGE.format("void f();") + PAGE.format(leak))
    assert "aclInit, at main (page.md:15)" in acl_emu("run", "--check", "page.md", cwd=tmp_path, **warm_cache).stderr


def test_what_is_kept_is_the_text_of_the_page(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format("int main() {}"))
    acl_emu("run", "--keep", tmp_path / "kept", page, **warm_cache)
    assert (tmp_path / "kept" / "page.cpp").read_text() == "int main() {}\n"


FOREIGN = """#include "{include}"
// aclnnCommentGetWorkspaceSize(
const char* text = "aclnnStringGetWorkspaceSize(";
int aclnnAddTest(int x) {{ return x; }}
int main() {{
    aclnnAddGetWorkspaceSize();
    aclnnNoSuchGetWorkspaceSize (nullptr);
    aclnnOtherV2GetWorkspaceSize(nullptr);
    return aclnnAddTest(0);
}}
"""


def test_operators_that_a_program_calls() -> None:
    assert operators_of(FOREIGN) == ["aclnnAdd", "aclnnNoSuch", "aclnnOtherV2"]
    own = "int aclnnOwnGetWorkspaceSize(int (*f)(int)) noexcept {{ }}\nint main() { aclnnOwnGetWorkspaceSize(0); }"
    assert operators_of(own) == []


def test_what_is_not_emulated_is_named_for_all_programs_of_a_page(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    good = '#include <cstdio>\nint main() { std::puts("ran"); }'
    first = FOREIGN.format(include="aclnnop/aclnn_no_such.h").replace("aclnnOtherV2", "aclnnAdd")
    second = FOREIGN.format(include="aclnnop/aclnn_other_v2.h").replace("aclnnNoSuch", "aclnnAdd")
    page.write_text(PAGE.format(first) + PAGE.format(second) + PAGE.format(good))
    done = acl_emu("run", page, **warm_cache)
    assert "page-1: aclnnNoSuch is not emulated yet" in done.stderr
    assert "page-2: aclnnOtherV2 is not emulated yet" in done.stderr
    assert (done.stdout, done.returncode) == ("ran\n", 84)


def test_a_program_with_its_own_header_of_an_operator(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "op_api").mkdir()
    (tmp_path / "examples").mkdir()
    (tmp_path / "op_api" / "aclnn_no_such.h").write_text("int aclnnNoSuchGetWorkspaceSize(void*); int aclnnOtherV2GetWorkspaceSize(void*);")
    source = tmp_path / "examples" / "test.cpp"
    source.write_text(FOREIGN.format(include="../op_api/aclnn_no_such.h"))
    done = acl_emu("run", source, **warm_cache)
    assert (done.returncode, done.stdout) == (84, "")
    assert "test: aclnnNoSuch, aclnnOtherV2 are not emulated yet; `acl-emu ops` lists what is" in done.stderr
    (program,) = programs_in(source)
    assert not_emulated(program, Build("g++ -lcustom")) == []  # whoever names a library may bring the operator


def test_headers_that_are_not_there() -> None:
    text = '#include "hccl/hccl.h"\n#include "aclnnop/aclnn_no_such.h"\n#include "../op_api/aclnn_add.h"\nint main() {}'
    assert not_emulated(Program("x", text.encode(), ".cpp"), Build()) == ["aclnn_no_such.h", "hccl/hccl.h"]


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "hello.cpp").write_text(HELLO)
    from tests.command import COMMAND

    done = subprocess.run(
        ["bash", "-c", f'ulimit -f 8; exec "{COMMAND}" run hello.cpp'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert "toolkits: " in done.stderr
    assert "File too large" in done.stderr
    assert not list((tmp_path / "cache" / "acl-emu" / "toolkits").iterdir())
