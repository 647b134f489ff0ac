"""Where the program lies, and the one reader of the environment."""

from pathlib import Path

from environs import FileAwareEnv

BASE_DIR = Path(__file__).resolve().parents[2]
env = FileAwareEnv(strip_whitespace=True)  # `SECRET_KEY_FILE` and the like name a file that holds the value.
