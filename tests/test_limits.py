"""Limits of memory are seen wherever the system says it, and a fit beyond it is refused."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from dogc import _limits

MIB = 1 << 20


def lay_out(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")


def process(size=100, most="unlimited"):
    """The kernel's files about a process; sizes in MiB."""
    return {
        "proc/self/status": f"VmSize:\t{1024 * size} kB\n",
        "proc/self/limits": "Limit                     Soft Limit  Hard Limit  Units\n"
        f"Max address space         {most}   unlimited   bytes\n",
        "proc/meminfo": f"MemTotal: {1 << 30} kB\nMemAvailable: {1024 * 5000} kB\n",
    }


def run(code, *arguments):
    source = str(pathlib.Path(_limits.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)


def test_the_machines_memory(tmp_path):
    lay_out(tmp_path, process())
    assert _limits.room(tmp_path) == (5000 * MIB, "the machine's memory")


def test_limits_of_the_process_count_addresses_and_those_to_come(tmp_path):
    for most, free in ((400 * MIB + 700_000_000, 300 * MIB), (50 * MIB, 0)):
        lay_out(tmp_path, process(most=most))
        assert _limits.room(tmp_path) == (free, "RLIMIT_AS (ulimit -v)")


def test_a_command_begins_where_its_packages_have_room(tmp_path):
    lay_out(tmp_path, process(most=3200 * MIB))
    _limits.check_addresses(tmp_path)
    lay_out(tmp_path, process(most=2000 * MIB))
    with pytest.raises(MemoryError, match=r"needs 3.1 GB of address space .* limit RLIMIT_"):
        _limits.check_addresses(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
def test_under_a_narrow_limit_on_addresses_there_is_a_sentence():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (300_000_000,) * 2)\n"
        "from dogc.app.cli import main; main()"
    )
    ran = run(code, "cluster")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("dogc: dogc needs 3.1 GB of address space")
    assert len(ran.stderr.splitlines()) == 1


V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"
CACHE = "anon 7\nactive_file 1\ninactive_file 2\n"
CACHE_1 = "inactive_file 900\ntotal_inactive_file 20\ntotal_active_file 3\n"
UNLIMITED = {"limit_in_bytes": 9223372036854771712, "usage_in_bytes": 10}
OF_PARENT = {"limit_in_bytes": 4000, "usage_in_bytes": 3500}
# The process's line, the groups, and what is free; None where the machine's memory counts.
CONTAINERS = {
    "the root": ("0::/", {V2: {"max": 4000, "current": 3000, "stat": CACHE}}, 1003),
    "its own group": ("0::/a/b", {f"{V2}/a/b": {"max": 4000, "current": 3000}}, 1000),
    "a parent": ("0::/a/b", {f"{V2}/a/b": {"max": "max", "current": 3000},
                             f"{V2}/a": {"max": 9000, "current": 8500}}, 500),
    "a path that cannot be seen": ("0::/../x", {V2: {"max": 4000, "current": 3000}}, 1000),
    "version 1": ("5:cpu:/a\n4:hugetlb,memory:/a\n0::/",
                  {f"{V1}/a": {"limit_in_bytes": 4000, "usage_in_bytes": 3000, "stat": CACHE_1}},
                  1023),
    "version 1, a parent": ("4:memory:/a/b", {f"{V1}/a/b": UNLIMITED, f"{V1}/a": OF_PARENT}, 500),
    "version 1, seen from within a container": ("4:memory:/docker/x", {V1: OF_PARENT}, 500),
    "no limit": ("0::/a", {f"{V2}/a": {"max": "max", "current": 1}}, None),
    "nonsense": ("rubbish\n0::", {V2: {"max": "what", "current": "", "stat": "x\n"}}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINERS)
def test_limits_of_containers(tmp_path, name):
    line, groups, free = CONTAINERS[name]
    lay_out(tmp_path, {**process(), "proc/self/cgroup": f"{line}\n"})
    for folder, numbers in groups.items():
        lay_out(tmp_path, {f"{folder}/memory.{key}": str(text) for key, text in numbers.items()})
    machine = (5000 * MIB, "the machine's memory")
    assert _limits.room(tmp_path) == (machine if free is None else (free, "the container's limit"))


def test_without_files_the_installed_memory_counts(tmp_path, monkeypatch):
    known = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", known.__getitem__, raising=False)
    assert _limits.room(tmp_path) == (4_096_000, "the machine's memory")
    monkeypatch.delattr(os, "sysconf_names")
    assert _limits.room(tmp_path)[0] == np.inf


def test_the_sentence(monkeypatch):
    monkeypatch.setattr(_limits, "room", lambda: (8e8, "the machine's memory"))
    _limits.check_room(lambda n: 8.0 * n * n, 10_000, "")
    with pytest.raises(MemoryError) as caught:
        _limits.check_room(lambda n: 8.0 * n * n, 20_000, ", or use DOGC")
    assert str(caught.value) == (
        "X has 20,000 rows, which need about 3.2 GB where 0.8 GB are free (the limit is the "
        "machine's memory); fit on about 10,000 of them, or use DOGC."
    )
    with pytest.raises(MemoryError, match=r"; make room, or drop columns\.$"):
        _limits.check_room(lambda n: 1e9, 20_000, "")


REFUSED = """
import pathlib, resource, sys, warnings
import numpy as np
import dogc, dogc.paper
warnings.simplefilter("ignore")

def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name + ":")))

rng = np.random.default_rng(0)
X = rng.standard_normal((40_000, 20)) + 20.0 * np.eye(3, 20)[rng.integers(0, 3, 40_000)]
on_rows = dogc.DOGC(3, n_representatives=None, n_neighbors=40, max_iter=3)
on_rows.fit(X[:500])
resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + 950_000_000, -1))
large = [(on_rows, X), (dogc.RatioCut(3, affinity="full"), X[:5_000]),
         (dogc.CLGR(3, n_neighbors=60), X), (dogc.paper.PrintedDOGC(3), X[:5_000])]
for model, rows in large:
    before = status("VmPeak")
    try:
        model.fit(rows)
    except MemoryError as error:
        print(error)
    assert status("VmPeak") - before < 40_000_000, type(model)
on_rows.fit(X[:3_000])
dogc.DOGC(3).fit(X)
print("fitted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
def test_a_limit_on_addresses_refuses_what_is_too_large_and_nothing_else():
    ran = run(REFUSED)
    assert ran.returncode == 0, ran.stderr
    *refused, last = ran.stdout.splitlines()
    assert last == "fitted"
    assert len(refused) == 4
    for sentence in refused:
        assert "GB are free (the limit is RLIMIT_AS (ulimit -v)); fit on about" in sentence
    assert "X has 40,000 rows, which need about 0." in refused[0]
    assert "of them and predict the rest, or leave n_representatives at 'auto'." in refused[0]
    assert "or use affinity='neighbors'." in refused[1]
    assert "or use a method on representatives, such as DOGC." in refused[2]
    assert "or use dogc.DOGC." in refused[3]
