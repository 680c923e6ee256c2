"""The front door: paths and texts, kinds of files, hostile files, and what is printed."""

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest

import jaxsim
from jaxsim import cli
from jaxsim.model import safe_xml

URDF = """<?xml version="1.0"?>
<robot name="r">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="finger"><inertial><mass value="0.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
  <joint name="grip" type="prismatic"><parent link="arm"/><child link="finger"/>
    <limit lower="0" upper="1" effort="3" velocity="4"/><mimic joint="elbow" multiplier="0.5" offset="0.1"/></joint>
</robot>"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    return tmp_path / "robot.urdf"


def test_paths_and_texts_are_the_same(path):
    models = [jaxsim.load(source) for source in (path, str(path), URDF, "\ufeff\n  " + URDF.split("?>")[1])]
    assert {model.body_names for model in models} == {("world", "arm", "finger")}


def test_the_same_file_gives_the_same_model(path):
    assert jaxsim.load(path).topology == jaxsim.load(path).topology


def test_a_missing_file_is_named():
    with pytest.raises(FileNotFoundError, match=r"There is no file 'nowhere\.urdf'"):
        jaxsim.load("nowhere.urdf")
    with pytest.raises(TypeError, match="not from int"):
        jaxsim.load(3)


def test_other_formats_are_named():
    with pytest.raises(ValueError, match="begins with <sdf>; jaxsim loads URDF"):
        jaxsim.load("<sdf/>")
    with pytest.raises(ValueError, match="an MJCF begins with <mujoco>"):
        jaxsim.load_mjcf(URDF)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<robot>", "not well-formed XML: no element found on line 1"),
        ("<robot></link>", "mismatched tag"),
        ("<robot/><robot/>", "junk after document element"),
        ("<robot><!-- ", "unclosed token"),
        ('<?xml version="1.0" encoding="no-such"?><robot/>', "XML"),
        ("<robot>&lol;</robot>", "undefined entity"),
    ],
)
def test_broken_xml_is_located(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        jaxsim.load(text)


def test_entities_do_not_expand():
    """The billion laughs: ten levels of ten references each would be ten gigabytes."""
    levels = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(10))
    text = f'<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY l0 "lol">{levels}]><robot name="&l10;"/>'
    started = time.perf_counter()
    with pytest.raises(ValueError, match="document type declarations and entities are refused"):
        jaxsim.load(text)
    assert time.perf_counter() - started < 1.0


def test_external_entities_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("secret")
    text = f'<!DOCTYPE robot [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><robot name="&x;"/>'
    with pytest.raises(ValueError, match="refused"):
        jaxsim.load(text)


def test_deep_and_huge_files_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="nest deeper than 64"):
        jaxsim.load("<robot>" * 10_000)
    monkeypatch.setattr(safe_xml, "MAX_BYTES", 1000)
    (tmp_path / "big.urdf").write_text(URDF + " " * 1000)
    with pytest.raises(ValueError, match=r"big\.urdf has \d+ bytes"):
        jaxsim.load(tmp_path / "big.urdf")
    with pytest.raises(ValueError, match="at most 1000"):
        jaxsim.load(URDF + " " * 1000)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "noise.urdf").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match=r"noise\.urdf is not"):
        jaxsim.load(tmp_path / "noise.urdf")


def test_long_chains_load():
    """A thousand links in a row, each on the one before."""
    moments = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    links = "".join(f'<link name="l{i}"><inertial><mass value="1"/>{moments}</inertial></link>' for i in range(1000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(999)
    )
    model = jaxsim.load(f"<robot>{links}{joints}</robot>", floating=True)
    assert float(model.mass[1]) == pytest.approx(1000)


def test_mjcf_without_mujoco_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install \"jaxsim-vi\[mjcf\]\""):
        jaxsim.load("<mujoco/>")


def test_describe_draws_the_tree():
    out = io.StringIO()
    jaxsim.describe(jaxsim.load(URDF), file=out)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("2 bodies, nq = 1, nv = 1, total mass 2 kg")
    rows = [line for line in lines if "─ " in line]
    assert rows[0].split() == ["└─", "arm", "revolute(-y)", "elbow", "0", "0", "1.5", "[-0.2,", "1.8]"]
    assert "prismatic(x) grip = 0.5 elbow + 0.1" in rows[1]
    assert rows[1].index("finger") > rows[0].index("arm")
    assert "frames: base (on world)" in out.getvalue()


def test_describe_knows_every_joint(capsys):
    jaxsim.describe(jaxsim.robots.quadruped())
    assert "free" in capsys.readouterr().out


def test_info_prints_the_tree(path, capsys):
    assert cli.main(["info", str(path), "--floating"]) == 0
    assert "root_joint" in capsys.readouterr().out
    assert cli.main(["info", "nowhere.urdf"]) == 1
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.slow
def test_info_runs_from_the_shell(path):
    root = Path(jaxsim.__file__).parents[1]
    command = [sys.executable, "-m", "jaxsim", "info", str(path)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert "revolute(-y) elbow" in result.stdout
