"""Coaches create named groups of students; only the creator and staff can change them."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import GroupMember, Role, StudentGroup, User
from tests.accounts.factory import a_group

ClientFor = Callable[[User | None], Client]
LIST = "accounts:group_list"


def student(name: str, email: str = "") -> User:
    return User.objects.create_user(name, email or f"{name}@example.org", role=Role.STUDENT)


def at(group: StudentGroup, name: str = "group") -> str:
    return reverse(f"accounts:{name}", args=[group.public_id])


def members(group: StudentGroup) -> list[tuple[str, str]]:
    return list(group.members.values_list("person__username", "school"))


def test_a_coach_creates_a_group_and_adds_students_by_user_name_and_address(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    eve = student("eve", "Eve.Long@example.org")
    client = client_for(bob)
    answer = client.post(reverse(LIST), {"name": "  Winter   camp "})
    group = StudentGroup.objects.get()
    assert (group.name, group.made_by, answer["Location"]) == ("Winter camp", bob, at(group))
    page = client.post(at(group), {"members": "charlie, North School\n\neve.long@example.org\n"}, follow=True)
    assert "Students added: 2." in page.content.decode()
    assert members(group) == [("charlie", "North School"), ("eve", "")]
    client.post(at(group), {"members": "charlie\neve, South School"})
    assert members(group) == [("charlie", "North School"), ("eve", "South School")], "no student is added twice"
    listed = client.get(reverse(LIST)).content.decode()
    assert at(group) in listed
    assert "2 students" in listed
    assert eve.username in client.get(at(group)).content.decode()


def test_one_wrong_line_prevents_the_whole_addition(bob: User, alice: User, charlie: User, client_for: ClientFor) -> None:
    group = a_group()
    student("eve", "shared@example.org")
    student("fay", "Shared@example.org")
    User.objects.create_user("gone", role=Role.STUDENT, is_active=False)
    for line, reason in (
        ("unknown-user", "No account found for unknown-user. No students were added."),
        ("gone", "No account found for gone."),
        ("shared@example.org", "No account found for shared@example.org."),
        ("bob", "bob is not a student. No students were added."),
        ("alice", "alice is not a student."),
        ("", "required"),
        ("a\0b", "Null characters"),
    ):
        answer = client_for(bob).post(at(group), {"members": f"charlie\n{line}" if line else " "})
        assert answer.status_code == 422, line
        assert reason in answer.content.decode(), line
    assert not GroupMember.objects.exists()


def test_a_creator_can_rename_a_group_but_not_reuse_a_name(bob: User, dana: User, client_for: ClientFor) -> None:
    group, other = a_group(), a_group(name="Summer camp")
    a_group(by=dana)
    client = client_for(bob)
    refused = client.post(reverse(LIST), {"name": "Winter camp"})
    assert refused.status_code == 422
    assert "You already have a group “Winter camp”." in refused.content.decode()
    refused = client.post(at(other, "group_rename"), {"name": "Winter camp"})
    assert refused.status_code == 422
    assert "<h1>Summer camp</h1>" in refused.content.decode()
    client.post(at(group, "group_rename"), {"name": "Spring camp"})
    assert sorted(bob.groups_made.values_list("name", flat=True)) == ["Spring camp", "Summer camp"]


def test_a_student_is_removed_and_a_group_is_deleted_after_a_question(bob: User, charlie: User, client_for: ClientFor) -> None:
    group = a_group(charlie)
    client = client_for(bob)
    assert 'name="ask" value="|Delete|Delete “Winter camp”?' in client.get(at(group)).content.decode()
    assert client.post(at(group, "member_remove"), {"username": "unknown-user"}).status_code == 404
    client.post(at(group, "member_remove"), {"username": "charlie"})
    assert members(group) == []
    page = client.post(at(group, "group_delete"), follow=True).content.decode()
    assert "was deleted" in page
    assert not StudentGroup.objects.exists()
    assert User.objects.filter(pk=charlie.pk).exists()


def test_coaches_read_a_group_and_only_its_creator_and_staff_change_it(
    bob: User, alice: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    group = a_group(charlie)
    other = User.objects.create_user("eve", role=Role.COACH)
    page = client_for(other).get(at(group)).content.decode()
    assert "charlie" in page
    assert ">Remove</button>" not in page
    changes: dict[str, dict[str, str]] = {
        "group": {"members": "charlie"},
        "group_rename": {"name": "Mine"},
        "group_delete": {},
        "member_remove": {"username": "charlie"},
    }
    for user in (other, alice, charlie):
        for name, values in changes.items():
            assert client_for(user).post(at(group, name), values).status_code == 404, (user.username, name)
    for user, status in ((alice, 404), (charlie, 404), (dana, 200)):
        assert client_for(user).get(at(group)).status_code == status, user.username
    assert client_for(dana).post(at(group, "group_rename"), {"name": "Camp 2"}).status_code == 302
    group.refresh_from_db()
    assert (group.name, members(group)) == ("Camp 2", [("charlie", "")])


def test_a_researcher_sees_only_their_own_groups_and_a_student_sees_none(
    alice: User, bob: User, charlie: User, client_for: ClientFor
) -> None:
    group, own = a_group(), a_group(name="Readers", by=alice)
    listed = client_for(alice).get(reverse(LIST)).content.decode()
    assert at(own) in listed
    assert at(group) not in listed
    assert client_for(charlie).get(reverse(LIST)).status_code == 404
    assert client_for(charlie).post(reverse(LIST), {"name": "Ours"}).status_code == 404
    assert StudentGroup.objects.count() == 2
