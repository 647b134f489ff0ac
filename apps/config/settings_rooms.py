"""Settings of accounts, marking, results, mail, graders and learning; part of `settings`, documented in docs/settings.md."""

from apps.config.environment import BASE_DIR, env

# --- accounts (docs/tables_in.md) -------------------------------------------------------------------------------------
_EMBEDDED = env.bool("EMBEDDED", not env.str("DATABASE_URL", ""))
SIGN_IN_FAILURES_PER_ADDRESS: int = env.int("SIGN_IN_FAILURES_PER_ADDRESS", 100)
COACHES_CREATE_ACCOUNTS: bool = env.bool("COACHES_CREATE_ACCOUNTS", _EMBEDDED)

# --- marking (docs/marking.md, docs/after_sealing.md) ----------------------------------------------------------------
MARKING_GRADERS: list[str] = env.list("MARKING_GRADERS", ["computational"])

# --- proof assistants (docs/mathcheck_kernel.md) ----------------------------------------------------------------------
KERNEL_CHECKS: bool = env.bool("KERNEL_CHECKS", True)
COQ_BIN, LEAN_BIN = env.str("COQ_BIN", "coqc"), env.str("LEAN_BIN", "")

# --- handing in (docs/contests.md) -----------------------------------------------------------------------------------
TRANSCRIPTION_WITHIN_S: float = env.float("TRANSCRIPTION_WITHIN_S", 300.0)

# --- results and mail (docs/results.md) ------------------------------------------------------------------------------
HINT_WITHIN_S: float = env.float("HINT_WITHIN_S", 300.0)
RELEASE_UNDO_MIN: int = env.int("RELEASE_UNDO_MIN", 15)
APPEAL_WAIT_H, APPEAL_DAYS = env.int("APPEAL_WAIT_H", 24), env.int("APPEAL_DAYS", 7)
EMAIL_HOST, EMAIL_PORT, EMAIL_TIMEOUT = env.str("EMAIL_HOST", ""), env.int("EMAIL_PORT", 587), 20
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_USER", ""), env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS, DEFAULT_FROM_EMAIL = env.bool("EMAIL_USE_TLS", True), env.str("EMAIL_FROM", "lemmascope@localhost")

# --- practice (docs/practice.md) --------------------------------------------------------------------------------------
PRACTICE_MODEL: str = env.str("PRACTICE_MODEL", "")
PRACTICE_HINT_WAIT_MIN, PRACTICE_CALLS_A_DAY = env.int("PRACTICE_HINT_WAIT_MIN", 3), env.int("PRACTICE_CALLS_A_DAY", 30)

# --- model graders (docs/graders.md) ---------------------------------------------------------------------------------
SUGGESTIONS_AT_ONCE, SUGGESTION_MAX_MIN = env.int("SUGGESTIONS_AT_ONCE", 4), env.int("SUGGESTION_MAX_MIN", 120)
GRADING_AT_ONCE: int = env.int("GRADING_AT_ONCE", 16)
ROLLOUTS_AT_ONCE: int = env.int("ROLLOUTS_AT_ONCE", 64)

# --- geometry (docs/geometry.md) ---------------------------------------------------------------------------------------
GEOMETRY_PYTHON: str = env.str("GEOMETRY_PYTHON", str(BASE_DIR / ".venv-geometry" / "bin" / "python"))

# --- learning (docs/learning.md) -------------------------------------------------------------------------------------
TRAIN_PYTHON: str = env.str("TRAIN_PYTHON", str(BASE_DIR / ".venv-train" / "bin" / "python"))
TRAIN_LAUNCHER: str = env.str("TRAIN_LAUNCHER", "")
TRAIN_DEVICES: list[str] = env.list("TRAIN_DEVICES", [""], delimiter="|")
TRAIN_GRACE_S: float = env.float("TRAIN_GRACE_S", 120.0)
TRAIN_BASES: str = env.str("TRAIN_BASES", "")
TRAIN_SHARD: str = env.str("TRAIN_SHARD", "")
TRAIN_TRACKERS: list[str] = env.list("TRAIN_TRACKERS", ["tensorboard"])
