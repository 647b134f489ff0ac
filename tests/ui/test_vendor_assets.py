"""The copy of the front-end packages: complete, repeatable, with clear errors for missing packages."""

from pathlib import Path

import pytest

from apps.ui.vendor import ASSETS, LICENCES, VendorError, vendor_copy, vendor_is_complete


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A node_modules folder with a small file for every asset."""
    root = tmp_path / "node_modules"
    for asset in (*ASSETS, *LICENCES):
        path = root / asset.source
        if not Path(asset.source).suffix and path.name != "LICENSE":
            path.mkdir(parents=True)
            path = path / "index.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("export {};\n//# sourceMappingURL=index.js.map\n")
    return root


def test_all_assets_are_copied_once(packages: Path, tmp_path: Path) -> None:
    target = tmp_path / "vendor"
    written, kept = vendor_copy(packages, target)
    assert (kept, vendor_is_complete(target)) == (0, True)
    assert vendor_copy(packages, target) == (0, written)


def test_links_to_source_maps_are_removed(packages: Path, tmp_path: Path) -> None:
    vendor_copy(packages, tmp_path / "vendor")
    assert "sourceMappingURL" not in (tmp_path / "vendor" / "htmx" / "htmx.min.js").read_text()


def test_a_changed_package_is_copied_again(packages: Path, tmp_path: Path) -> None:
    target = tmp_path / "vendor"
    vendor_copy(packages, target)
    (packages / "htmx.org/dist/htmx.min.js").write_text("newer")
    assert vendor_copy(packages, target)[0] == 1
    assert (target / "htmx/htmx.min.js").read_text() == "newer"


def test_missing_packages_are_reported_with_advice(tmp_path: Path) -> None:
    with pytest.raises(VendorError, match="Run `make setup` first"):
        vendor_copy(tmp_path / "node_modules", tmp_path / "vendor")


def test_a_package_without_its_file_is_named(packages: Path, tmp_path: Path) -> None:
    (packages / "htmx.org/dist/htmx.min.js").unlink()
    with pytest.raises(VendorError, match=r"htmx\.min\.js is missing"):
        vendor_copy(packages, tmp_path / "vendor")
    assert not vendor_is_complete(tmp_path / "vendor")
