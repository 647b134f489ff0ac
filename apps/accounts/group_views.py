"""Pages of groups of students: the list, and one group with its members."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import selectors, services
from apps.accounts.access import group_get_for, group_keeper_of, group_kept_for, group_may_change, user_of
from apps.accounts.forms import GroupForm, MembersForm
from apps.accounts.models import StudentGroup, User
from apps.ui.plain_text import without_nul


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def group_list(request: HttpRequest) -> HttpResponse:
    """List the groups, with a form for a new one."""
    user = group_keeper_of(request)
    form = GroupForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            group = services.group_create(name=form.cleaned_data["name"], by=user)
        except services.GroupRefused as error:
            form.add_error("name", str(error))
        else:
            return redirect("accounts:group", group_id=group.public_id)
    context = {"groups": selectors.group_list(user), "form": form}
    return render(request, "accounts/group_list.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def group_detail(request: HttpRequest, group_id: uuid.UUID) -> HttpResponse:
    """Show the members of a group; add students, all or none."""
    user = user_of(request)
    if request.method != "POST":
        return _page(request, user, group_get_for(user, group_id))
    group = group_kept_for(user, group_id)
    form = MembersForm(request.POST)
    if form.is_valid():
        try:
            added = services.members_add(group=group, members=form.cleaned_data["members"])
        except services.GroupRefused as error:
            form.add_error("members", f"{error} No students were added.")
        else:
            messages.success(request, f"Students added: {added}.")
            return redirect("accounts:group", group_id=group_id)
    return _page(request, user, group, members_form=form, status=422)


@require_POST
def group_rename(request: HttpRequest, group_id: uuid.UUID) -> HttpResponse:
    """Rename a group."""
    user = user_of(request)
    group = group_kept_for(user, group_id)
    form = GroupForm(request.POST, auto_id="group_%s")
    if form.is_valid():
        try:
            services.group_rename(group=group, name=form.cleaned_data["name"])
        except services.GroupRefused as error:
            form.add_error("name", str(error))
            group.refresh_from_db()
        else:
            return redirect("accounts:group", group_id=group_id)
    return _page(request, user, group, name_form=form, status=422)


@require_POST
def member_remove(request: HttpRequest, group_id: uuid.UUID) -> HttpResponse:
    """Remove a student from a group."""
    group = group_kept_for(user_of(request), group_id)
    member = group.members.filter(person__username=without_nul(request.POST).get("username", "")).first()
    if member is None:
        raise Http404("This student is not in the group.")
    services.member_remove(member=member)
    messages.success(request, f"{member.person.username} was removed from “{group.name}”.")
    return redirect("accounts:group", group_id=group_id)


@require_POST
def group_delete(request: HttpRequest, group_id: uuid.UUID) -> HttpResponse:
    """Delete a group; contests keep their students."""
    group = group_kept_for(user_of(request), group_id)
    services.group_delete(group=group)
    messages.success(request, f"“{group.name}” was deleted. Contests keep their students.")
    return redirect("accounts:group_list")


def _page(
    request: HttpRequest,
    user: User,
    group: StudentGroup,
    *,
    name_form: GroupForm | None = None,
    members_form: MembersForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "group": group,
        "members": selectors.member_list(group),
        "may_change": group_may_change(user, group),
        "name_form": name_form or GroupForm(initial={"name": group.name}, auto_id="group_%s"),
        "members_form": members_form or MembersForm(),
    }
    return render(request, "accounts/group_detail.html", context, status=status)
