from django.urls import path

from apps.accounts import views

app_name = "accounts"
urlpatterns = [
    path("login/", views.account_login, name="login"),
    path("logout/", views.account_logout, name="logout"),
    path("profile/", views.account_profile, name="profile"),
    path("password/", views.account_password, name="password"),
    path("tokens/", views.token_create, name="token_create"),
    path("tokens/<uuid:public_id>/revoke/", views.token_revoke, name="token_revoke"),
]
