"""In item mode letters stand for items, and digits stay points."""

from apps.marks.selectors import LABELS, labels_of


def test_every_item_has_its_own_letter_and_no_digit() -> None:
    assert labels_of(["A1", "A2", "A3", "d1", "!c"]) == {"A1": "a", "A2": "s", "A3": "f", "d1": "d", "!c": "g"}
    many = labels_of([f"A{number}" for number in range(60)])
    assert len(many) == len(set(many.values())) == len(LABELS)
    assert all(label.isalpha() for label in many.values())
