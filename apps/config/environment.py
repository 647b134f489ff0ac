"""The program's folder, and the only reader of environment variables."""

from pathlib import Path

from environs import FileAwareEnv

BASE_DIR = Path(__file__).resolve().parents[2]
env = FileAwareEnv(strip_whitespace=True)  # `SECRET_KEY_FILE` and similar variables name a file with the value.
