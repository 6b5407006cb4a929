"""A filter of system calls for the sandbox, as the classic BPF program that `bwrap --seccomp` takes.

It refuses what a computation never needs and a break-out might: other namespaces, tracing, mounts, kernel
modules, keys, io_uring, memory that no limit counts, and every socket but AF_UNIX (AF_VSOCK and AF_ALG are
in no namespace). A denied call fails with EPERM, so that honest code gets an exception.

Source: the kernel's Documentation/userspace-api/seccomp_filter.rst and its tables of system calls.
"""

import errno
import platform
import struct

_DENIED_X86_64 = """
ptrace=101 process_vm_readv=310 process_vm_writev=311 kcmp=312 pidfd_getfd=438 process_madvise=440
mount=165 umount2=166 pivot_root=155 chroot=161 unshare=272 setns=308 fsopen=430 fsconfig=431 fsmount=432
fspick=433 open_tree=428 move_mount=429 mount_setattr=442 open_by_handle_at=304 name_to_handle_at=303
add_key=248 request_key=249 keyctl=250 bpf=321 perf_event_open=298 userfaultfd=323 fanotify_init=300
io_uring_setup=425 io_uring_enter=426 io_uring_register=427 kexec_load=246 kexec_file_load=320
init_module=175 finit_module=313 delete_module=176 reboot=169 swapon=167 swapoff=168 quotactl=179 acct=163
settimeofday=164 clock_settime=227 adjtimex=159 clock_adjtime=305 sethostname=170 setdomainname=171
memfd_create=319 memfd_secret=447 shmget=29 shmat=30 shmctl=31 msgget=68 semget=64 mq_open=240
personality=135 syslog=103 vhangup=153 iopl=172 ioperm=173 modify_ldt=154
"""
_DENIED_AARCH64 = """
ptrace=117 process_vm_readv=270 process_vm_writev=271 kcmp=272 pidfd_getfd=438 process_madvise=440
mount=40 umount2=39 pivot_root=41 chroot=51 unshare=97 setns=268 fsopen=430 fsconfig=431 fsmount=432
fspick=433 open_tree=428 move_mount=429 mount_setattr=442 open_by_handle_at=265 name_to_handle_at=264
add_key=217 request_key=218 keyctl=219 bpf=280 perf_event_open=241 userfaultfd=282 fanotify_init=262
io_uring_setup=425 io_uring_enter=426 io_uring_register=427 kexec_load=104 kexec_file_load=294
init_module=105 finit_module=273 delete_module=106 reboot=142 swapon=224 swapoff=225 quotactl=60 acct=89
settimeofday=170 clock_settime=112 adjtimex=171 clock_adjtime=266 sethostname=161 setdomainname=162
memfd_create=279 memfd_secret=447 shmget=194 shmat=196 shmctl=195 msgget=186 semget=190 mq_open=180
personality=92 syslog=116 vhangup=58
"""
_MACHINES = {
    "x86_64": (
        0xC000003E,
        _DENIED_X86_64,
        {"clone": 56, "fork": 57, "vfork": 58, "socket": 41, "socketpair": 53, "mmap": 9},
    ),
    "aarch64": (0xC00000B7, _DENIED_AARCH64, {"clone": 220, "socket": 198, "socketpair": 199, "mmap": 222}),
}
_CLONE3 = 435
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET together."""
_CLONE_THREAD = 0x00010000
_AF_UNIX = 1
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NR, _ARCH, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40


def filter_program(*, can_fork: bool) -> bytes | None:
    """Return the filter for this machine; None where its system calls are not known here.

    Args:
        can_fork: Allow new processes; threads are always allowed.
    """
    if platform.machine() not in _MACHINES:
        return None
    architecture, denied, numbers = _MACHINES[platform.machine()]
    refuse = _ERRNO | errno.EPERM
    code = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NR),
    ]
    if platform.machine() == "x86_64":
        code += [(_ABOVE, 0, 1, _X32), (_RETURN, 0, 0, refuse)]
    listed = [int(entry.partition("=")[2]) for entry in denied.split()]
    if not can_fork:
        listed += [numbers[name] for name in ("fork", "vfork") if name in numbers]
    for number in listed:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    # Its flags lie in memory, where no filter can look; the C library falls back to clone.
    code += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    code += [
        (_EQUAL, 0, 4 if can_fork else 6, numbers["clone"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, refuse),
    ]
    if not can_fork:
        code += [(_ANY_BIT, 1, 0, _CLONE_THREAD), (_RETURN, 0, 0, refuse)]
    code += [(_RETURN, 0, 0, _ALLOW)]
    # Memory shared by processes is in none of their sizes once they let go of it.
    code += [
        (_EQUAL, 0, 6, numbers["mmap"]),
        (_LOAD, 0, 0, _FOURTH_ARGUMENT),
        (_ANY_BIT, 0, 3, _MAP_SHARED),
        (_LOAD, 0, 0, _FOURTH_ARGUMENT),
        (_ANY_BIT, 0, 1, _MAP_ANONYMOUS),
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for name in ("socket", "socketpair"):
        code += [
            (_EQUAL, 0, 3, numbers[name]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_EQUAL, 1, 0, _AF_UNIX),
            (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        ]
        # An AF_UNIX socket falls through to here with its family loaded instead of the call's number.
        code += [(_LOAD, 0, 0, _NR)]
    code += [(_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
