from django.urls import path

from apps.accounts import group_views, views

app_name = "accounts"
urlpatterns = [
    path("login/", views.account_login, name="login"),
    path("logout/", views.account_logout, name="logout"),
    path("profile/", views.account_profile, name="profile"),
    path("password/", views.account_password, name="password"),
    path("tokens/", views.token_create, name="token_create"),
    path("tokens/<uuid:public_id>/revoke/", views.token_revoke, name="token_revoke"),
    path("groups/", group_views.group_list, name="group_list"),
    path("groups/<uuid:group_id>/", group_views.group_detail, name="group"),
    path("groups/<uuid:group_id>/name/", group_views.group_rename, name="group_rename"),
    path("groups/<uuid:group_id>/remove/", group_views.member_remove, name="member_remove"),
    path("groups/<uuid:group_id>/delete/", group_views.group_delete, name="group_delete"),
]
