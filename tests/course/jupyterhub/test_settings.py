"""The class server's settings and their effect, without starting a Hub."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from subprocess import CalledProcessError
from unittest.mock import AsyncMock, Mock

import pytest

from course.jupyterhub import hub_settings
from course.jupyterhub.hub_settings import SettingsError, read_settings

HUB = 'needs: pip install -e . -e "./course[hub]"'
FOLDER = hub_settings.Path(hub_settings.__file__).parent
NOT_WINDOWS = pytest.mark.skipif(
    sys.platform == "win32", reason="JupyterHub does not run on Windows"
)
SHORTEST = 'instructors = ["emmy"]\nstudents = ["ada"]\n'


@pytest.fixture
def written(tmp_path):
    """`written(text)`: the path of a settings file."""

    def write(text):
        place = tmp_path / "hub.toml"
        place.write_text(text, encoding="utf-8")
        return place

    return write


def test_the_example_is_the_defaults():
    settings = read_settings(FOLDER / "hub.example.toml")
    assert settings.people == ("emmy", "ada", "grace")
    for part in ("server", "limits", "folders"):
        assert getattr(settings, part) == getattr(hub_settings, part.title())()


def test_a_list_of_students_may_be_a_file(written, tmp_path):
    (tmp_path / "students.txt").write_text("grace  # moved here\n\nlin-2\n", encoding="utf-8")
    place = written(f'students_file = "{(tmp_path / "students.txt").as_posix()}"\n{SHORTEST}')
    assert read_settings(place).students == ("ada", "grace", "lin-2")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("instructors = [", "hub.toml"),
        ('students = ["ada"]', "instructors: at least one"),
        ('instructors = ["ada"]\nstudents = ["ada"]', "instructor and student at once: ada"),
        ('instructors = ["Emmy N"]', "'Emmy N' cannot be an account"),
        ('instructors = ["root"]', "'root' cannot be an account"),
        ('instructors = ["bertlab"]', "'bertlab' cannot be an account"),
        (f'{SHORTEST}[server]\nspawner = "docker"', "server.spawner"),
        (f"{SHORTEST}[limits]\nmemory_gb = 0", "limits.memory_gb: more than 0"),
        (f"{SHORTEST}[limits]\nmemory = 4", "'memory'"),
        (f'{SHORTEST}[folders]\ncourse = "here"', "folders.course: a path from /"),
        (f"{SHORTEST}colour = 1", "'colour'"),
        (f'students_file = "/nowhere/at-all"\n{SHORTEST}', "students_file"),
    ],
)
def test_errors_in_the_settings_are_named(written, text, complaint):
    with pytest.raises(SettingsError) as caught:
        read_settings(written(text))
    assert complaint in str(caught.value)


def test_missing_settings_are_reported_with_where_to_begin(tmp_path):
    with pytest.raises(SettingsError, match=r"hub\.example\.toml"):
        read_settings(tmp_path / "none.toml")


@NOT_WINDOWS
def test_a_command_of_the_system_that_fails_is_named(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])  # the program adds its own folder
    from course.jupyterhub import prepare_server

    failed = CalledProcessError(1, ["useradd", "ada"], stderr="no space left\n")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(prepare_server, "read_settings", Mock(side_effect=failed))
    assert prepare_server.main() == 1
    assert capsys.readouterr().err == "useradd failed: no space left\n"


@pytest.mark.slow
@NOT_WINDOWS
def test_systemd_gets_everybodys_limits(written, monkeypatch):
    pytest.importorskip("jupyterhub", reason=HUB)
    systemd = pytest.importorskip("systemdspawner.systemd", reason=HUB)
    from jupyterhub.orm import User
    from systemdspawner import SystemdSpawner
    from traitlets.config import PyFileConfigLoader

    place = written(f"{SHORTEST}[limits]\nmemory_gb = 3\ncpus = 1.5\nprocesses = 250\n")
    monkeypatch.setattr(hub_settings, "PLACE", place)
    monkeypatch.setenv("BERTLAB_HUB_SETTINGS", str(place))
    for name in ("hub_settings", "limited_spawner"):  # as the Hub imports them
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    config = PyFileConfigLoader("jupyterhub_config.py", str(FOLDER)).load_config()
    assert config.JupyterHub.spawner_class == "systemd"

    start = AsyncMock()
    monkeypatch.setattr(systemd, "start_transient_service", start)
    running = AsyncMock(side_effect=chain([False], repeat(True)))
    monkeypatch.setattr(systemd, "service_running", running)
    monkeypatch.setattr(systemd, "service_failed", AsyncMock(return_value=False))
    spawner = SystemdSpawner(config=config, user=User(name="root"))
    monkeypatch.setattr(spawner, "get_env", lambda: {})
    monkeypatch.setattr(spawner, "get_args", lambda: [])
    with ThreadPoolExecutor() as pool:  # the browser tests keep a loop running in this thread
        pool.submit(lambda: asyncio.run(spawner.start())).result()
    wanted = {"MemoryMax": 3 * 2**30, "CPUQuota": "150%", "TasksMax": "250"}
    wanted |= {"PrivateTmp": "yes", "NoNewPrivileges": "yes"}
    assert wanted.items() <= start.call_args.kwargs["properties"].items()
