"""games <- models <- planners <- train, and only under the name `duozero`."""

import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest

MAY_IMPORT = {
    "games": set(),
    "models": {"games"},
    "planners": {"games", "models"},
    "train": {"games", "models", "planners"},
}
ROOT = pathlib.Path(__file__).parents[1]
FILES = [path for layer in MAY_IMPORT for path in sorted((ROOT / layer).rglob("*.py"))]


def imports(path):
    """`(level, module)` of everything a file imports; each name of `from .. import a, b` is one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((node.level, module) for module in modules)
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_imports_between_layers_are_relative_and_point_down(path):
    layer, *below = path.relative_to(ROOT).parts
    for level, module in imports(path):
        top = module.split(".")[0]
        if level == 0:
            assert top not in {*MAY_IMPORT, "duozero"}, f"{module} is imported absolutely"
        elif level == len(below) + 1:
            assert top in MAY_IMPORT[layer], f"{layer} may not import {top}"
        else:
            assert level <= len(below)


def test_no_module_has_two_names():
    assert not {layer for layer in MAY_IMPORT if layer in sys.modules}


def test_the_games_refuse_another_name():
    path = ROOT / "games" / "__init__.py"
    spec = importlib.util.spec_from_file_location("games", path)
    assert spec and spec.loader
    with pytest.raises(ImportError, match=r"import duozero\.games, not games"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_rules_need_no_network():
    code = "import duozero.games, sys; assert not {'mctx', 'optax', 'orbax'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
