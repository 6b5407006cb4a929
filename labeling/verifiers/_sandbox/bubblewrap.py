"""The command that starts a CPython where nothing of this machine is to be seen: bubblewrap's flags.

Inside there are the interpreter, its standard library and its shared libraries, read-only; three devices;
an empty /tmp of a few megabytes; and no network, no /proc, no other process, no environment.

Source: bwrap(1), version 0.8.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from labeling.verifiers._sandbox.seccomp import filter_program

INMATE = Path(__file__).with_name("inmate.py")
ENCODER = Path(__file__).with_name("encode.py")
_PLACE = "/sandbox"
_DEVICES = ("/dev/null", "/dev/urandom")
"""Not /dev/zero: mapped, it is memory that no limit counts."""
_COUNTS_BY_NAMESPACE = (5, 14)
"""First kernel that counts processes in each user namespace, so that a limit concerns the sandbox alone."""


@dataclass(frozen=True)
class Mode:
    """A way to be isolated that works on this machine."""

    is_root: bool
    """Root drops to a user of its own inside; anybody else needs a user namespace."""
    can_fork: bool
    """New processes can be allowed, since their number can be limited."""


def modes() -> list[Mode]:
    """Return the ways to try, the best first."""
    if os.geteuid() == 0:
        # No other: in a user namespace of root's own, the user inside is root outside. It could change the
        # modes of devices, and its processes would not be counted.
        return [Mode(is_root=True, can_fork=True)]
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    counts = found is not None and (int(found[1]), int(found[2])) >= _COUNTS_BY_NAMESPACE
    return [Mode(is_root=False, can_fork=counts)]


def program() -> str | None:
    """Return where `bwrap` is, None where it is not installed."""
    return shutil.which("bwrap")


def command(mode: Mode, *, tmp_bytes: int, seccomp: int | None, arguments: Sequence[str]) -> list[str]:
    """Return the command line; `arguments` go to the inmate.

    Args:
        mode: How to be isolated.
        tmp_bytes: Size of /tmp.
        seccomp: Descriptor of the filter, None for none.
        arguments: Text arguments of `inmate.py`.
    """
    line = [program() or "bwrap", "--die-with-parent", "--new-session", "--clearenv"]
    line += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--hostname", "sandbox", "--cap-drop", "ALL"]
    if mode.is_root:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    for folder in _folders():
        # Else it would make them for its own user alone.
        line += ["--perms", "0755", "--dir", folder]
    for source, target in _files():
        line += ["--ro-bind", source, target]
    for hidden in _hidden():
        line += ["--tmpfs", hidden, "--remount-ro", hidden]
    for device in _DEVICES:
        line += ["--dev-bind", device, device]
    line += ["--perms", "1777", "--size", str(tmp_bytes), "--tmpfs", "/tmp", "--remount-ro", "/"]
    line += ["--setenv", "PYTHONHASHSEED", "0", "--chdir", "/"]
    if seccomp is not None:
        line += ["--seccomp", str(seccomp)]
    # No -I: it would leave the seed of hashes to chance, and sets would come out in another order each time.
    python = [_interpreter(), "-s", "-S", "-P", "-B", "-X", "utf8"]
    return [*line, "--", *python, f"{_PLACE}/inmate.py", *arguments]


def filter_descriptor(*, can_fork: bool) -> int | None:
    """Return a descriptor from which the filter can be read, for the caller to close; None without one."""
    text = filter_program(can_fork=can_fork)
    if text is None:
        return None
    # A pipe holds far more than the few kilobytes of it.
    source, target = os.pipe()
    os.write(target, text)
    os.close(target)
    return source


@lru_cache(maxsize=1)
def _interpreter() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@lru_cache(maxsize=1)
def _files() -> tuple[tuple[str, str], ...]:
    """Host path -> path inside, of every file and folder that the interpreter needs."""
    standard = sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix})
    found = {_interpreter(), standard, *_shared_libraries(Path(standard))}
    platform_standard = sysconfig.get_path("platstdlib", vars={"installed_platbase": sys.base_prefix})
    if Path(platform_standard, "lib-dynload").is_dir():
        found.add(platform_standard)
    pairs = [(path, path) for path in sorted(found, key=len)]
    return (*pairs, (str(INMATE), f"{_PLACE}/inmate.py"), (str(ENCODER), f"{_PLACE}/encode.py"))


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    """Return the folders above every path inside, the outer ones first; none that is bound itself."""
    bound = {target for _, target in _files()}
    above = {str(parent) for target in bound | {*_DEVICES} for parent in Path(target).parents}
    inside = {path for path in above if any(Path(b) in [Path(path), *Path(path).parents] for b in bound)}
    return tuple(sorted(above - inside - {"/"}, key=len))


@lru_cache(maxsize=1)
def _hidden() -> tuple[str, ...]:
    """Return the folders inside those of `_files` that hold packages of others."""
    folders = {Path(path) / "site-packages" for path, _ in _files()} | {
        Path(path) / "dist-packages" for path, _ in _files()
    }
    return tuple(sorted(str(folder) for folder in folders if folder.is_dir()))


def _shared_libraries(standard: Path) -> set[str]:
    """Return what the interpreter and the standard library's own modules are linked with."""
    linked = [_interpreter(), *map(str, sorted((standard / "lib-dynload").glob("*.so")))]
    listed = subprocess.run(["ldd", *linked], capture_output=True, text=True, check=False, timeout=60).stdout
    found = set(re.findall(r"(?:=>\s*|^\s+)(/\S+)\s+\(0x", listed, re.MULTILINE))
    # Loaded by the C library itself when a thread is ended.
    found |= {str(Path(path).with_name("libgcc_s.so.1")) for path in found if "/libc.so" in path}
    return {path for path in found if Path(path).is_file()}
