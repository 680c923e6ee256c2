"""The command line: what it prints, what it writes, and one clear line for what it does not understand."""

import sys

import numpy as np
import pytest

import jaxsim
from jaxsim.cli import main


def test_a_simulation_is_summed_up_and_written(tmp_path, capsys):
    page, numbers = tmp_path / "run.html", tmp_path / "run.npz"
    options = ["--seconds=0.2", "--dt=0.02", "--integrator=euler", "--joint=link1=2.0", "--speed=link1_joint=0.5"]
    code = main(["simulate", "pendulum", *options, "--html", str(page), "--out", str(numbers)])
    written = capsys.readouterr().out
    assert code == 0
    assert "1 bodies, 1 degrees of freedom; euler, dt = 0.02 s" in written
    assert "10 steps, 0.200 s" in written
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    trajectory = jaxsim.Trajectory.load(numbers)
    np.testing.assert_array_equal([trajectory.q[0, 0], trajectory.v[0, 0]], [2.0, 0.5])
    assert trajectory.energy is not None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "the following arguments are required: command"),
        ("fly", "invalid choice: 'fly'"),
        ("simulate", "the following arguments are required: robot"),
        ("simulate none.urdf", "There is no file 'none.urdf'; give a URDF or MJCF file, or one of acrobot"),
        ("simulate pendulum --integrator leapfrog", "invalid choice: 'leapfrog'"),
        ("simulate pendulum --order 3", "it must be even"),
        ("simulate pendulum --integrator rk4 --order 4", "--order belongs to --integrator variational"),
        ("simulate pendulum --dt -1", "--dt is -1.0"),
        ("simulate pendulum --seconds soon", "invalid float value: 'soon'"),
        ("simulate pendulum --joint knee=1", "There is no joint 'knee'; the joints are link1_joint"),
        ("simulate pendulum --joint link1=a", "'link1=a' does not give numbers"),
        ("simulate pendulum --joint link1=1,2", "gives 2 numbers, but the joint has 1"),
        ("simulate pendulum --html no/where.html", "There is no directory no"),
        ("bench --batch 0", "--batch is 0"),
        ("demo --directory nowhere", "There is no directory nowhere"),
    ],
)
def test_bad_arguments_get_one_line(arguments, sentence, capsys):
    try:
        code = main(arguments.split())
    except SystemExit as stop:
        code = stop.code
    written = capsys.readouterr()
    assert code in (1, 2)
    assert written.out == ""
    assert len(written.err.strip().splitlines()) == 1
    assert sentence in written.err


@pytest.mark.parametrize("command", ["demo", "simulate", "info", "bench"])
def test_help_explains(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_info_prints_the_tree(capsys):
    assert main(["info", "acrobot"]) == 0
    assert "lower" in capsys.readouterr().out


@pytest.mark.slow
def test_the_demo_swings_up_without_matplotlib(tmp_path, capsys, monkeypatch):
    """The core dependencies are enough; where there is no matplotlib, one line says how to get it."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert main(["demo", "--directory", str(tmp_path), "--quiet"]) == 0
    written = capsys.readouterr().out
    assert 'No picture: Pictures are drawn by matplotlib: pip install "jaxsim-vi[viz]".' in written
    assert (tmp_path / "acrobot.html").stat().st_size > 500_000
    assert not (tmp_path / "acrobot.png").exists()
