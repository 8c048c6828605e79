"""What limits memory is seen wherever the system says it, and a fit beyond it is refused."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from dogc import _limits

MIB = 1 << 20
UNLIMITED = "9223372036854771712"


def lay_out(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")


def process(size=100, data=50, most="unlimited", most_data="unlimited"):
    """What the kernel says of a process; sizes in MiB."""
    return {
        "proc/self/status": f"VmSize:\t{1024 * size} kB\nVmData:\t{1024 * data} kB\n",
        "proc/self/limits": "Limit                     Soft Limit  Hard Limit  Units\n"
        f"Max data size             {most_data}   unlimited   bytes\n"
        f"Max address space         {most}   unlimited   bytes\n",
        "proc/meminfo": f"MemTotal: {1 << 30} kB\nMemAvailable: {1024 * 5000} kB\n",
    }


def group(folder, **numbers):
    return {f"{folder}/memory.{name}": str(text) for name, text in numbers.items()}


def test_the_machines_memory(tmp_path):
    lay_out(tmp_path, process())
    assert _limits.room(tmp_path) == (5000 * MIB, "the machine's memory")


@pytest.mark.parametrize(
    ("given", "free", "limit"),
    [
        ({"most": 400 * MIB}, 300, "RLIMIT_AS (ulimit -v)"),
        ({"most_data": 400 * MIB}, 350, "RLIMIT_DATA (ulimit -d)"),
        ({"most": 400 * MIB, "most_data": 300 * MIB}, 250, "RLIMIT_DATA (ulimit -d)"),
        ({"most": 50 * MIB}, 0, "RLIMIT_AS (ulimit -v)"),
    ],
)
def test_limits_of_the_process_count_addresses(tmp_path, given, free, limit):
    lay_out(tmp_path, process(**given))
    assert _limits.room(tmp_path) == (free * MIB, limit)


@pytest.mark.parametrize(
    ("given", "refused"),
    [({"most": 3200 * MIB}, False), ({}, False), ({"most": 2000 * MIB}, "RLIMIT_AS (ulimit -v)"),
     ({"most_data": 2000 * MIB}, "RLIMIT_DATA (ulimit -d)")],
)  # fmt: skip
def test_a_command_begins_where_its_packages_have_room(tmp_path, given, refused):
    lay_out(tmp_path, process(**given))
    if not refused:
        _limits.check_addresses(tmp_path)
        return
    with pytest.raises(MemoryError) as caught:
        _limits.check_addresses(tmp_path)
    assert str(caught.value) == (
        "dogc needs 3.1 GB of address space for the packages that it uses; raise the limit "
        f"{refused}."
    )


def test_a_command_leaves_addresses_to_threads_that_are_to_come(tmp_path, monkeypatch):
    lay_out(tmp_path, process(most=3200 * MIB))
    free = _limits.room(tmp_path).free
    monkeypatch.setattr(_limits, "_aside", [])
    _limits.keep_aside()
    assert _limits.room(tmp_path).free == free - _limits.TO_COME


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is enforced on Linux")
@pytest.mark.parametrize("command", ["cluster", "paper"])
def test_under_a_narrow_limit_on_addresses_there_is_a_sentence(command):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (300_000_000,) * 2)\n"
        "from dogc.app.cli import main; main()"
    )
    source = str(pathlib.Path(_limits.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", code, command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("dogc: dogc needs 3.1 GB of address space")
    assert len(ran.stderr.splitlines()) == 1


def container(path, *groups):
    files = {**process(), "proc/self/cgroup": path}
    for more in groups:
        files |= more
    return files


ROOM = "the container's limit"
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"
CACHE = "anon 7\nactive_file 1\ninactive_file 2\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            container("0::/\n", group(V2, max=4000, current=3000, stat=CACHE)),
            (1003, ROOM),
            id="the root, whose file cache can go",
        ),
        pytest.param(
            container("0::/a/b\n", group(f"{V2}/a/b", max=4000, current=3000)),
            (1000, ROOM),
            id="its own group",
        ),
        pytest.param(
            container(
                "0::/a/b\n",
                group(f"{V2}/a/b", max="max", current=3000),
                group(f"{V2}/a", max=9000, current=8500),
            ),
            (500, ROOM),
            id="a parent",
        ),
        pytest.param(
            container("0::/a\n", group(f"{V2}/a", max=4000, high=3500, current=3000)),
            (500, ROOM),
            id="the limit from which it is slowed",
        ),
        pytest.param(
            container("0::/../x\n", group(V2, max=4000, current=3000)),
            (1000, ROOM),
            id="a path that cannot be seen",
        ),
        pytest.param(
            container("0::/a\n", group("sys/fs/cgroup/unified/a", max=4000, current=3000)),
            (1000, ROOM),
            id="version 2 beside version 1",
        ),
        pytest.param(
            container(
                "5:cpu:/a\n4:hugetlb,memory:/a\n0::/\n",
                group(
                    f"{V1}/a",
                    limit_in_bytes=4000,
                    usage_in_bytes=3000,
                    stat="inactive_file 900\ntotal_inactive_file 20\ntotal_active_file 3\n",
                ),
            ),
            (1023, ROOM),
            id="version 1",
        ),
        pytest.param(
            container(
                "4:memory:/a/b\n",
                group(f"{V1}/a/b", limit_in_bytes=UNLIMITED, usage_in_bytes=10),
                group(f"{V1}/a", limit_in_bytes=4000, usage_in_bytes=3500, use_hierarchy=1),
            ),
            (500, ROOM),
            id="version 1, a parent",
        ),
        pytest.param(
            container(
                "4:memory:/a/b\n",
                group(f"{V1}/a/b", limit_in_bytes=UNLIMITED, usage_in_bytes=10),
                group(f"{V1}/a", limit_in_bytes=4000, usage_in_bytes=3500, use_hierarchy=0),
            ),
            (5000 * MIB, "the machine's memory"),
            id="version 1, a parent that does not count",
        ),
        pytest.param(
            container("4:memory:/docker/x\n", group(V1, limit_in_bytes=4000, usage_in_bytes=3000)),
            (1000, ROOM),
            id="version 1, seen from within a container",
        ),
        pytest.param(
            container("0::/a\n", group(f"{V2}/a", max="max", high="max", current=1)),
            (5000 * MIB, "the machine's memory"),
            id="no limit",
        ),
        pytest.param(
            container("rubbish\n0::\n", group(V2, max="what", current="", stat="x\n")),
            (5000 * MIB, "the machine's memory"),
            id="nonsense",
        ),
    ],
)
def test_limits_of_containers(tmp_path, files, expected):
    lay_out(tmp_path, files)
    assert _limits.room(tmp_path) == expected


def test_without_files_the_installed_memory_counts(tmp_path, monkeypatch):
    known = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", known.__getitem__, raising=False)
    assert _limits.room(tmp_path) == (4_096_000, "the machine's memory")
    monkeypatch.setattr(os, "sysconf", lambda name: -1, raising=False)
    assert _limits.room(tmp_path).free == np.inf
    monkeypatch.delattr(os, "sysconf")
    assert _limits.room(tmp_path).free == np.inf


def test_this_machine_says_something():
    assert 1e6 < _limits.room().free <= np.inf


def test_the_sentence(monkeypatch):
    monkeypatch.setattr(_limits, "room", lambda: _limits.Room(8e8, "the machine's memory"))
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
resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + 250_000_000, -1))
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
    source = str(pathlib.Path(_limits.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", REFUSED], capture_output=True, text=True, env=env, check=False
    )
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
