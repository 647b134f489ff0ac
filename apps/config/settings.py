"""All settings, typed. `settings_rooms` has those of accounts, marking, mail, graders and learning. docs/settings.md documents
every value read from the environment (a test checks this).

The embedded mode (one laptop, SQLite, a private Valkey) is the default. A production deployment sets `DATABASE_URL`,
`REDIS_URL`, `SECRET_KEY` and `ALLOWED_HOSTS`.
"""

import secrets
from pathlib import Path
from typing import Any

from csp.constants import NONCE, NONE, SELF
from environs import validate

from apps.config.environment import BASE_DIR, env
from apps.config.settings_rooms import *  # noqa: F403 -- Django needs them as names of this module.
from apps.reasoning.version import VERSION as VERSION


def _private_socket(folder: Path) -> Path:
    """A socket path short enough for the kernel (107 bytes), in a folder of the current user only."""
    direct = folder / "valkey.sock"
    if len(str(direct).encode()) <= 100:
        return direct
    import hashlib
    import os
    import tempfile

    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"lemmascope-{os.getuid()}-{digest}" / "valkey.sock"


def _kept_secret(folder: Path) -> str:
    """The secret key of the embedded mode, created at first start in a file that only its owner can read."""
    path = folder / "secret_key"
    if path.exists():
        return path.read_text().strip()
    key = secrets.token_urlsafe(50)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(key)
    except OSError:
        return key  # `manage.py up` reports the unwritable folder; commands that only read still work.
    return key


# --- locations -------------------------------------------------------------------------------------------------------
DATA_DIR: Path = env.path("DATA_DIR", BASE_DIR / "var")
EMBEDDED: bool = env.bool("EMBEDDED", not env.str("DATABASE_URL", ""))
DEBUG: bool = env.bool("DEBUG", False)
SECRET_KEY: str = env.str("SECRET_KEY", "") or _kept_secret(DATA_DIR)
HOST: str = env.str("HOST", "127.0.0.1")
PORT: int = env.int("PORT", 8000)
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
MODELS_FILE: Path = env.path("MODELS_FILE", BASE_DIR / "apps" / "config" / "models.toml")

# --- stores ----------------------------------------------------------------------------------------------------------
VALKEY_SOCKET = _private_socket(DATA_DIR / "run")
REDIS_URL: str = env.str("REDIS_URL", "") or f"unix://{VALKEY_SOCKET}?db=0"
OWN_REDIS = not env.str("REDIS_URL", "")

DATABASES: dict[str, Any] = {"default": env.dj_db_url("DATABASE_URL", f"sqlite:///{DATA_DIR / 'lemmascope.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",  # A read that becomes a write would otherwise fail with "database is locked".
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA mmap_size=134217728;"
        "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000;PRAGMA temp_store=MEMORY;",
    }
    # Connections are kept: opening one costs more than saving a draft. The tests need a file that all their threads see.
    DATABASES["default"] |= {"CONN_MAX_AGE": None, "TEST": {"NAME": DATA_DIR / "test.sqlite3"}}
else:
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {"min_size": 1, "max_size": env.int("DATABASE_POOL", 10)}
    # A process frozen inside a transaction must not lock its run for ever, and a page must not block the database.
    longest_ms = int(1000 * env.float("DATABASE_STATEMENT_S", 30.0))
    DATABASES["default"]["OPTIONS"]["options"] = (
        f"-c statement_timeout={longest_ms} -c lock_timeout=5s -c idle_in_transaction_session_timeout=60s"
    )
    DATABASES["default"]["CONN_MAX_AGE"] = 0  # The pool keeps connections, so Django must not.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- runs (explained in docs/life_of_a_run.md) -----------------------------------------------------------------------
LEASE_S: float = env.float("LEASE_S", 15.0)
LEASE_RENEW_S: float = env.float("LEASE_RENEW_S", 5.0)
REDISPATCH_GRACE_S: float = env.float("REDISPATCH_GRACE_S", 5.0)
CALL_DEADLINE_S: float = env.float("CALL_DEADLINE_S", 1800.0)
RUN_WINDOW: int = env.int("RUN_WINDOW", 64)
USER_WINDOW: int = env.int("USER_WINDOW", 256)
USER_RUNS: int = env.int("USER_RUNS", 8)
ORCHESTRATOR_RUNS: int = env.int("ORCHESTRATOR_RUNS", 24)
INFERENCE_THREADS: int = env.int("INFERENCE_THREADS", 0)
DRAIN_S: float = env.float("DRAIN_S", 5.0)
# In the transaction of the events:
RUN_EVENT_SINKS = [
    "apps.lemmas.projection.project", "apps.graders.pieces.follow",
    "apps.experiments.cells.follow", "apps.experiments.solving.cells.follow", "apps.experiments.solving.grading.follow",
]  # fmt: skip
CAPTURE_KEEPER = "apps.datasets.tokens.shards.tokens_keep"
CRASH_AT: str = env.str("CRASH_AT", "")
CRASH_ONCE_FILE: str = env.str("CRASH_ONCE_FILE", "")
SANDBOX = env.str("SANDBOX", "auto", validate=validate.OneOf(["auto", "bubblewrap", "landlock", "unsafe-subprocess", "off"]))
SANDBOX_ENVIRONMENT: Path = env.path("SANDBOX_ENVIRONMENT", BASE_DIR / ".venv-sandbox")
WORKED_EXAMPLE_TOKENS_PER_S: float = env.float("WORKED_EXAMPLE_TOKENS_PER_S", 60.0)

# Counts of failed sign-ins: per process on a laptop, shared by all processes of an installation (apps/accounts/throttle.py).
CACHES: dict[str, Any] = {
    "local": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}},
}
if EMBEDDED or OWN_REDIS:
    CACHES["default"] = CACHES["local"]
else:
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "lemmascope-cache",
        "OPTIONS": {"socket_timeout": 3, "socket_connect_timeout": 2},  # A silent broker must not block a sign-in.
    }

# --- Celery ----------------------------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_TASK_ACKS_LATE = False  # Late acks stop a 5.7.0 worker when the broker restarts (docs/adr/0004).
CELERY_TASK_IGNORE_RESULT = True  # The journal is the truth, not a result backend.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "runs"
PRIORITY_STEPS = [0, 3, 6, 9]  # 0 is the highest: a person is waiting.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 60,  # For runs that are reserved and not started; orchestrators resend calls themselves.
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "queue_order_strategy": "round_robin",
    "priority_steps": PRIORITY_STEPS,
    "socket_timeout": 10,  # A silent broker must not block the only sending thread for ever.
    "socket_connect_timeout": 5,
    "socket_keepalive": OWN_REDIS is False,
    "health_check_interval": 25,
}

# --- Django ----------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "apps.config",
    "apps.ui",
    "apps.help",
    "apps.accounts",
    "apps.problems",
    "apps.problem_sets",
    "apps.schemes",
    "apps.contests",
    "apps.submissions",
    "apps.scanning",
    "apps.tables",
    "apps.marks",
    "apps.results",
    "apps.practice",
    "apps.runs",
    "apps.trials",
    "apps.desk",
    "apps.notes",
    "apps.lemmas",
    "apps.sharing",
    "apps.explorations",
    "apps.datasets",
    "apps.learning",
    "apps.graded_sets",
    "apps.graders",
    "apps.preparation",
    "apps.experiments",
    "apps.agreement",
    "apps.operations",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "apps.config.static_files.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "apps.ui.plain_text.plain_text",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "apps.ui.asking.ConfirmMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "apps.config.urls"
ASGI_APPLICATION = "apps.config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])]
            if not DEBUG
            else ["django.template.loaders.filesystem.Loader"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["apps.ui.templatetags.ui", "apps.help.templatetags.help"],
        },
    }
]
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static", ("help", BASE_DIR / "docs" / "images")]
STATIC_ROOT = None if EMBEDDED else BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = EMBEDDED  # A laptop serves static/ directly; production collects it.
WHITENOISE_MIMETYPES = {".webmanifest": "application/manifest+json"}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if EMBEDDED
        else "apps.config.static_files.CollectedFiles"
    },
}
LANGUAGE_CODE = "en-gb"
TIME_ZONE: str = env.str("TIME_ZONE", "UTC")
USE_TZ = True

# --- accounts and security -------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:login"
PASSWORD_HASHERS = ["apps.accounts.hashing.BoundedArgon2Hasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
HTTPS: bool = env.bool("HTTPS", False)
TRUSTED_PROXIES: int = env.int("TRUSTED_PROXIES", 0)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "style-src-attr": ["'unsafe-inline'"],  # KaTeX sets positions in style attributes.
        "img-src": [SELF, "data:"],
        **{name: [SELF] for name in ("connect-src", "font-src", "manifest-src", "worker-src", "form-action")},
        **{name: [NONE] for name in ("frame-ancestors", "base-uri")},
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024

# --- logs ------------------------------------------------------------------------------------------------------------
LOG_LEVEL: str = env.str("LOG_LEVEL", "INFO")
LOG_FORMAT: str = env.str("LOG_FORMAT", "text" if EMBEDDED else "json", validate=validate.OneOf(["text", "json"]))
LOG_URL_TEMPLATE: str = env.str("LOG_URL_TEMPLATE", "")
METRICS_TOKEN: str = env.str("METRICS_TOKEN", "")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {
            "()": "apps.processes.logs.TextFormatter",
            "format": "{asctime} {levelname:<7} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "apps.processes.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "uvicorn": {"handlers": ["console"], "level": "WARNING", "propagate": False},  # Its own handler would not write JSON.
    },
}
