"""Addresses of marking."""

from django.urls import path

from apps.marks.views import (
    blind,
    calibration,
    captain,
    coordination,
    keymaps,
    reveal,
    setting_up,
    workspace,
    workspace_changes,
)

app_name = "marks"
urlpatterns = [
    path("marking/", workspace.home, name="home"),
    path("marking/keys/", keymaps.keys, name="keys"),
    path("marking/keys/single", keymaps.single_keys, name="single_keys"),
    path("marking/contest/<uuid:contest_id>/hand-back", blind.hand_back, name="hand_back"),
    path("marking/problem/<uuid:problem_id>/next", workspace.next_task, name="next"),
    path("marking/problem/<uuid:problem_id>/setup/", setting_up.setup, name="setup"),
    path("marking/problem/<uuid:problem_id>/phrases", workspace.phrases, name="phrases"),
    path("marking/problem/<uuid:problem_id>/scripts/", workspace.script_list, name="script_list"),
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
    path("marking/sealed/", reveal.sealed_list, name="sealed_list"),
    path("marking/sealed/look", reveal.triage_show, name="triage_show"),
    path("marking/sealed/clear", reveal.triage_keep, name="triage_keep"),
    path("marking/task/<uuid:task_id>/reveal/", reveal.reveal, name="reveal"),
    path("marking/task/<uuid:task_id>/reveal/show", reveal.reveal_show, name="reveal_show"),
    path("marking/task/<uuid:task_id>/reveal/answer", reveal.reveal_answer, name="reveal_answer"),
    path("marking/task/<uuid:task_id>/reveal/decide", reveal.reveal_decide, name="reveal_decide"),
    path("marking/coordination/", coordination.coordination_list, name="coordination_list"),
    path("marking/coordination/<uuid:coordination_id>/", coordination.coordination, name="coordination"),
    path("marking/coordination/<uuid:coordination_id>/<slug:verb>", coordination.coordination_do, name="coordination_do"),
    path("marking/case/<uuid:case_id>/ledger/", coordination.case_ledger, name="case_ledger"),
    path("marking/case/<uuid:case_id>/precedent", coordination.precedent_add, name="precedent_add"),
    path("marking/case/<uuid:case_id>/settle-without", coordination.fresh_skip, name="fresh_skip"),
    path("marking/case/<uuid:case_id>/calibration", calibration.calibration_change, name="calibration_change"),
    path("marking/problem/<uuid:problem_id>/calibration/", calibration.calibration, name="calibration"),
]
