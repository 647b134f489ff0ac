"""Addresses of marking."""

from django.urls import path

from apps.marks.views import captain, keymaps, setting_up, workspace, workspace_changes

app_name = "marks"
urlpatterns = [
    path("marking/", workspace.home, name="home"),
    path("marking/keys/", keymaps.keys, name="keys"),
    path("marking/keys/single", keymaps.single_keys, name="single_keys"),
    path("marking/problem/<uuid:problem_id>/next", workspace.next_task, name="next"),
    path("marking/problem/<uuid:problem_id>/setup/", setting_up.setup, name="setup"),
    path("marking/problem/<uuid:problem_id>/phrases", workspace.phrases, name="phrases"),
    path("marking/problem/<uuid:problem_id>/questions/", captain.question_list, name="questions"),
    path("marking/questions/<int:pass_id>/answer", captain.question_answer, name="question_answer"),
    path("marking/task/<uuid:task_id>/", workspace.task, name="task"),
    path("marking/task/<uuid:task_id>/pane/<slug:name>", workspace.pane, name="pane"),
    path("marking/task/<uuid:task_id>/next-up", workspace.next_up, name="next_up"),
    path("marking/task/<uuid:task_id>/command", workspace_changes.command, name="command"),
    path("marking/task/<uuid:task_id>/undo", workspace_changes.undo, name="undo"),
    path("marking/task/<uuid:task_id>/redo", workspace_changes.redo, name="redo"),
    path("marking/task/<uuid:task_id>/seal", workspace_changes.seal, name="seal"),
    path("marking/task/<uuid:task_id>/unseal", workspace_changes.unseal, name="unseal"),
    path("marking/task/<uuid:task_id>/heartbeat", workspace_changes.heartbeat, name="heartbeat"),
    path("marking/task/<uuid:task_id>/pass", workspace_changes.hand_on, name="pass"),
]
