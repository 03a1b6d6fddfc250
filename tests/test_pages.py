"""Finding programs on pages whose fences are damaged in every way that real pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from acl_emu.core.soc import ALL, Product
from acl_emu.tools import pages as samples
from acl_emu.tools.pages import SampleError, programs_in


def code_blocks(page: str) -> list[str]:
    return [block.text for block in samples.code_blocks(page)]


PROGRAM = "int main() {\n    return 0;\n}"


@pytest.mark.parametrize("tag", ["Cpp", "cpp", "c++", "C++", "CPP", "c", ""])
def test_every_tag_of_a_program(tag: str) -> None:
    assert code_blocks(f"text\n```{tag}\n{PROGRAM}\n```\nmore\n") == [PROGRAM + "\n"]


@pytest.mark.parametrize("tag", ["bash", "cmake", "text", "python", "json"])
def test_other_languages_are_passed_over(tag: str) -> None:
    assert code_blocks(f"```{tag}\n{PROGRAM}\n```\n```cpp\nint x;\n```\n") == ["int x;\n"]


def test_indented_fences_in_list_items_lose_their_indent() -> None:
    page = "- item\n\n   ```Cpp\n" + "\n".join("   " + line for line in PROGRAM.split("\n")) + "\n   ```\n- next\n"
    assert code_blocks(page) == [PROGRAM + "\n"]


def test_a_fence_that_is_never_closed_ends_with_the_page() -> None:
    assert code_blocks(f"# T\n```Cpp\n{PROGRAM}") == [PROGRAM + "\n"]


def test_a_fence_that_is_reopened_without_a_close() -> None:
    assert code_blocks(f"```cpp\nint a;\n```cpp\n{PROGRAM}\n```\n") == ["int a;\n", PROGRAM + "\n"]


def test_a_closing_fence_glued_to_the_last_line() -> None:
    assert code_blocks(f"```cpp\n{PROGRAM}```\nafter\n```cpp\nint b;\n```\n") == [PROGRAM + "\n", "int b;\n"]


def test_windows_line_ends() -> None:
    assert code_blocks("```cpp\r\nint main() {}\r\n```\r\n") == ["int main() {}\n"]


def test_several_programs_and_blocks_that_are_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```cpp\nvoid f();\n```\n```cpp\n{PROGRAM}\n```\n```cpp\n{PROGRAM}\n```\n")
    assert [program.name for program in programs_in(page)] == ["page-1", "page-2"]


def test_damaged_encoding_survives_byte_by_byte(tmp_path: Path) -> None:
    body = b"int main() {\n    // \xe5\x85\x83 \x85\x0b \xff\xfe comment\n    return 0;\n}\n"
    page = tmp_path / "page.md"
    page.write_bytes(b"# \xc3\xa5\n```Cpp\n" + body + b"```\n")
    assert programs_in(page)[0].text == body


@pytest.mark.parametrize(("name", "text", "words"), [
    ("page.md", "# nothing\n", "no program found"),
    ("page.md", "```cpp\nvoid f();\n```\n", "no program found"),
    ("page.txt", PROGRAM, "expected an operator page"),
])  # fmt: skip
def test_pages_without_a_program_say_so(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SampleError, match=words):
        programs_in(path)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="No such file"):
        programs_in(tmp_path / "absent.md")


def test_parts_for_some_products_only() -> None:
    page = (
        f'```cpp\n{PROGRAM}\n```\n<!-- npu="A3,910b" id9 -->\n```cpp\n{PROGRAM}\n```\n<!-- end id9 -->\n'
        f'<!-- npu="950" id10 -->\n- item\n  ```cpp\n  {PROGRAM}\n  ```\n<!-- end id10 -->\n```cpp\n{PROGRAM}\n```\n'
    )
    assert [block.products for block in samples.code_blocks(page)] == [ALL, {Product.A3, Product.A2}, {Product.A950}, ALL]


def test_a_mark_of_a_product_closes_an_open_fence() -> None:
    page = (
        f'<!-- npu="910b" id1 -->\n```cpp\n{PROGRAM}\n<!-- end id1 -->\n<!-- npu="950" id2 -->\n```cpp\n{PROGRAM}\n'
        f'<!-- npu="A3" id3 -->\ntext\n<!-- end id3 -->\n<!-- end id2 -->\nmore\n'
    )
    assert [(block.text, block.products) for block in samples.code_blocks(page)] == [
        (PROGRAM + "\n", {Product.A2}),
        (PROGRAM + "\n", {Product.A950}),
    ]


TWO = """#include <cstdio>
#define BRACE '{'
int f() { return 0; }  // main( {
int main(int argc, char** argv) {
    const char* text = "}"; /* } */
    if (argc) { return f(); }
}
"""


def test_two_programs_in_one_fence_are_two(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# T\n```cpp\n{TWO}\n// the second\n{TWO}```\n")
    first, second = programs_in(page)
    assert (first.text.decode(), first.line, first.name) == (TWO, 3, "page-1")
    assert (second.text.decode(), second.line, second.name) == ("\n// the second\n" + TWO, 10, "page-2")


@pytest.mark.parametrize("text", [
    "#ifdef A\n#include <a>\nint main() { return 0; }\n#else\n#include <b>\nint main() { return 1; }\n#endif\n",
    "#include <a>\nint main();\nint helper() { return 0; }\nint main() { return helper(); }\n",
    "#include <a>\nint main() { return 0; }\n// main() is done\n#include <b>\n",
    "#include <a>\nint main() { return 0; }\nint main() { return 1; }\n",
])  # fmt: skip
def test_one_program_stays_one(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```cpp\n{text}```\n")
    assert [program.text.decode() for program in programs_in(page)] == [text]
