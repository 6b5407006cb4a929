# ruff: noqa: E501  one attack, one line
"""Attacks on the CPython sandbox: each stays within its limits, and the next honest candidate is unharmed."""

import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxes import assert_gone, cpython_engine, sandboxed_processes

from labeling.verifiers.sandbox import Limits, Status

LIMITS = Limits(seconds=1, memory_bytes=256 * 2**20, processes=16, output_bytes=2**18, file_bytes=4 * 2**20)
ROOMY = replace(LIMITS, seconds=5)
SECONDS_AT_MOST = 2 * LIMITS.seconds + 2.5
FAILED = {Status.RAISED, Status.TIME, Status.MEMORY, Status.OUTPUT, Status.ENDED, Status.NOT_PLAIN}

TO_ALL = "import os\nfor fd in range(3, 64):\n    try:\n        {}\n    except OSError:\n        pass\n"
"""Something done to every descriptor but the first three."""

ATTACKS = {
    # processes and threads
    "fork bomb": "import os\nwhile True:\n    os.fork()",
    "fork bomb that ignores errors": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    ),
    "thread bomb": "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()",
    "grandchildren that hold the pipes": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(60)\n"
        "    os._exit(0)\nos._exit(0)"
    ),
    "ignored signals": (
        "import signal\nfor number in range(1, 64):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass"
    ),
    "kill everybody": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "kill the parent": "import os, signal\nfor pid in range(1, 400):\n    os.kill(pid, signal.SIGKILL)",
    # memory
    "one large text": "x = 'a' * 10**10",
    "a growing list": "x = []\nwhile True:\n    x.append(bytearray(10**6))",
    "memory of many processes": (
        "import os, time\nfor _ in range(10):\n    if os.fork() == 0:\n        x = b'x' * 10**8\n"
        "        time.sleep(60)\ntime.sleep(60)"
    ),
    "a file in memory": "import os\nfd = os.memfd_create('x')\nwhile True:\n    os.write(fd, b'x' * 2**20)",
    "shared memory": "import mmap\nx = [mmap.mmap(-1, 10**8) for _ in range(100)]\nfor m in x:\n    m.write(b'x' * 10**8)",
    "a tower of powers": "x = 9 ** 9 ** 9",
    "a huge int as text": "import sys\nsys.set_int_max_str_digits(0)\nstr(10 ** 10**7)",
    "a hole in the parser": "eval('(' * 10**6)",
    "a zip bomb": (
        "import zlib\nc = zlib.compressobj(9)\ndata = b''.join(c.compress(bytes(10**6)) for _ in range(2000)) + c.flush()\n"
        "zlib.decompress(data)"
    ),
    # time
    "an endless loop": "while True:\n    pass",
    "a long sleep": "import time\ntime.sleep(600)",
    "a regular expression": "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
    "a sum in C": "sum(range(10**12))",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(n):\n    return f(n + 1)\nf(0)",
    # output
    "a flood of lines": "while True:\n    print('x' * 1000)",
    "a flood without lines": "import sys\nwhile True:\n    sys.stdout.write('x' * 1000)",
    "a flood of errors": "import sys\nwhile True:\n    sys.stderr.write('x' * 1000)",
    "a flood of bytes": "import os\nwhile True:\n    os.write(1, b'\\x00\\xff' * 10_000)",
    "a flood of answers": TO_ALL.format("while True:\n            os.write(fd, b'x' * 10_000)"),
    # the disk
    "a large file": "with open('/tmp/x', 'wb') as file:\n    while True:\n        file.write(b'x' * 2**20)",
    "many files": (
        "n = 0\nwhile True:\n    n += 1\n    with open(f'/tmp/{n}', 'wb') as file:\n        file.write(b'x' * 2**20)"
    ),
    "a sparse file": "with open('/tmp/x', 'wb') as file:\n    file.truncate(10**12)",
    "a file of the interpreter": "import os\nopen(os.__file__, 'a')",
    "a file of the sandbox": "open('/sandbox/inmate.py', 'a')",
    "a file of the root": "open('/x', 'w')",
    "a link out of it": "import os\nos.symlink('/etc/passwd', '/tmp/link')\nopen('/tmp/link').read()",
    "a hard link": "import os\nos.link('/sandbox/inmate.py', '/tmp/link')",
    "passwords": "open('/etc/passwd').read()",
    "the list of processes": "open('/proc/self/status').read()",
    "the environment of the parent": "open('/proc/1/environ', 'rb').read()",
    "a file beyond its folder": "open('../../../../../../etc/hostname').read()",
    "packages of others": "import numpy",
    # privileges
    "root": "import os\nos.setuid(0)",
    "another group": "import os\nos.setgroups([0])",
    "a new root": "import os\nos.chroot('/tmp')",
    "larger limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))",
    "tracing": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(0, 0, 0, 0) != 0:\n    raise PermissionError(ctypes.get_errno())"
    ),
    "a namespace": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.unshare(0x10000000) != 0:\n    raise PermissionError(ctypes.get_errno())"
    ),
    "a mount": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) != 0:\n    raise PermissionError(ctypes.get_errno())"
    ),
    "a device": "import os, stat\nos.mknod('/tmp/mem', 0o666 | stat.S_IFCHR, os.makedev(1, 1))",
    "a program with more rights": "import os\nos.execv('/usr/bin/su', ['su'])",
    # the network
    "a socket": "import socket\nsocket.socket().connect(('127.0.0.1', 80))",
    "a socket of version 6": "import socket\nsocket.socket(socket.AF_INET6)",
    "a raw socket": "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "a socket to the machine outside": "import socket\nsocket.socket(40, socket.SOCK_STREAM)",
    "a socket to the kernel": "import socket\nsocket.socket(16, socket.SOCK_RAW)",
    "a socket for cryptography": "import socket\nsocket.socket(38, 5)",
    "names": "import socket\nsocket.getaddrinfo('example.org', 80)",
    "a socket file": "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
    # the protocol
    "leave at once": "import os\nos._exit(0)",
    "leave politely": "raise SystemExit(0)",
    "leave in a hook": "import atexit, os, sys\natexit.register(os._exit, 0)\nsys.exit()",
    "close every descriptor": "import os\nos.closerange(0, 100)",
    "a broken answer": TO_ALL.format("os.write(fd, b'{\"status\": \\n')") + "os._exit(0)",
    "a deep answer": TO_ALL.format("os.write(fd, b'[' * 100_000 + b'\\n')") + "os._exit(0)",
    "an answer of digits": TO_ALL.format("os.write(fd, b'9' * 100_000 + b'\\n')") + "os._exit(0)",
    "a fatal signal": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "a null pointer": "import ctypes\nctypes.string_at(0)",
    "a broken module of ours": "import sys\nsys.modules['__main__'].__dict__.clear()\nraise ValueError",
    "text that is no text": "raise ValueError('\\ud800')",
    "an error without words": "class E(Exception):\n    def __str__(self):\n        raise E\nraise E",
    "a null byte": "x = 1\x00",
    "half a pair": "x = '\ud800'\nraise ValueError(x)",
}


@pytest.fixture(scope="module")
def engine():
    engine = cpython_engine(warm=0)
    time.sleep(1)  # what other engines of this process start, they have started then
    yield engine
    engine.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_contained_and_leaves_nothing_behind(engine, name):
    before = sandboxed_processes()
    n_open = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    started = time.monotonic()
    with engine.session(LIMITS) as session:
        reply = session.execute(ATTACKS[name])
        after = session.evaluate("6 * 7")
    assert reply.status in FAILED, reply
    assert time.monotonic() - started < SECONDS_AT_MOST
    # Where it lives on, it answers; where it was ended, it stays so.
    assert after.status in (Status.VALUE, Status.RAISED) or after.status == reply.status
    assert len(reply.stdout) + len(reply.stderr) <= LIMITS.output_bytes
    assert_gone(before)
    assert len(os.listdir("/proc/self/fd")) == n_open  # noqa: PTH208
    with engine.session(ROOMY) as session:
        assert session.execute("def f(x):\n    return x + 1").status is Status.VALUE
        assert session.evaluate("f(41)").value == 42


def test_the_attacks_are_many():
    assert len(ATTACKS) >= 40 + 3


def test_nothing_is_written_where_the_parent_stands(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text("tests and answers")
    with engine.session(LIMITS) as session:
        session.execute(f"import os\nopen({str(tmp_path / 'mark')!r}, 'w')")
        assert session.evaluate(f"os.path.exists({str(tmp_path / 'secret.txt')!r})").value is False
        session.execute("open('mark', 'w').write('x')")
        assert session.evaluate("os.listdir('.')").value == ["mark"]
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]
    with engine.session(LIMITS) as session:
        session.execute("import os")
        assert session.evaluate("os.listdir('/tmp')").value == []


def test_the_world_inside_is_empty(engine):
    code = (
        "import os, resource\nseen = [[p, sorted(f)] for p, _, f in os.walk('/') if f and 'python3' not in p]"
    )
    with engine.session(ROOMY) as session:
        assert session.execute(code).status is Status.VALUE
        files = dict(session.evaluate("seen").value)
        assert session.evaluate("dict(os.environ)").value == {}
        packages = "[p for p, _, f in os.walk('/') if f and ('site-packages' in p or 'dist-packages' in p)]"
        assert session.evaluate(packages).value == []
        assert session.evaluate("os.getuid() != 0 and os.geteuid() != 0").value is True
        assert session.evaluate("os.getpid() < 10").value is True
        assert session.evaluate("resource.getrlimit(resource.RLIMIT_AS)").value[1] == LIMITS.memory_bytes
    assert files["/dev"] == ["null", "urandom"]
    assert files["/sandbox"] == ["encode.py", "inmate.py"]
    assert not any(Path(path).parts[1] in ("etc", "home", "proc", "sys", "var", "work") for path in files)


def test_expectations_never_enter_the_sandbox(engine):
    """All that can be found from within: the calls asked so far, never what they are compared with."""
    code = (
        "import gc, sys\n"
        "def f(x):\n"
        "    held = [o for o in gc.get_objects() if isinstance(o, (dict, list, tuple))]\n"
        "    frame, names = sys._getframe(), []\n"
        "    while frame is not None:\n"
        "        names.append(repr(frame.f_locals)[:10_000])\n"
        "        frame = frame.f_back\n"
        "    return '4242' in ' '.join(names)\n"
    )
    with engine.session(LIMITS) as session:
        session.execute(code)
        # The call holds 17; what is expected, 4242, is compared outside.
        assert session.evaluate("f(17)").value is False


def test_a_socket_of_the_machine_without_a_file_is_out_of_reach(engine):
    name = f"prm-toolkit-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        with socket.socket(socket.AF_UNIX) as friend:
            friend.connect("\0" + name)
        with engine.session(LIMITS) as session:
            reply = session.execute(f"import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{name}')")
    assert (reply.status, reply.kind) == (Status.RAISED, "ConnectionRefusedError")


def test_the_memory_of_all_processes_together_is_limited(engine):
    code = (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        x = b'x' * (60 * 2**20)\n"
        "        time.sleep(60)\ntime.sleep(60)"
    )
    before = sandboxed_processes()
    with engine.session(LIMITS) as session:
        assert session.execute(code).status is Status.MEMORY
    assert_gone(before)
