"""Attempts to read and act outside the sandbox; each cell prints what it obtained.

A cell must obtain nothing: it prints `FOUND ...` for each success, which the test looks for.
"""

from tests.course.grading.hostile.small import Hostile, behind, own_cells, rows_of


def given(place: dict) -> str:
    """The beginning of each cell: what exists outside, such as PATHS to read."""
    names = ("paths", "writes", "large", "port", "unix", "abstract")
    return "import os, socket, sys\n" + "".join(f"{n.upper()} = {place[n]!r}\n" for n in names)


def attempts(*lines: str) -> str:
    """Code that tries each expression and prints what it obtained."""
    return "".join(
        f"try:\n    print('FOUND', {line!r}, repr({line})[:200])\nexcept BaseException as _error:\n"
        f"    print('refused', {line!r}, type(_error).__name__)\n"
        for line in lines
    )


NETWORK = attempts(
    "socket.create_connection(('1.1.1.1', 53), timeout=1)",
    "socket.create_connection(('127.0.0.1', PORT), timeout=1)",
    "socket.getaddrinfo('example.org', 80)",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 53))",
    "socket.socket(socket.AF_INET6).connect(('::1', PORT))",
    "socket.socket(socket.AF_UNIX).connect(UNIX)",
    "socket.socket(socket.AF_UNIX).connect(chr(0) + ABSTRACT)",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "socket.socket(socket.AF_VSOCK)",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "os.openpty() and os.openpty()",
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
    "[name for _, name in socket.if_nameindex() if name != 'lo']  or 1 / 0",
    "__import__('urllib.request').request.urlopen('http://127.0.0.1:%d' % PORT, timeout=1)",
)
SECRETS = attempts(
    "os.environ['BERTLAB_HOSTILE_SECRET']",
    "os.environ['BERTLAB_VARIANT']",
    "[one for one in open('/proc/1/environ', 'rb').read().split(bytes(1)) if b'HOSTILE' in one][0]",
    "[pid for pid in os.listdir('/proc') if pid.isdigit() and pid != '1'][0]",
    "open('/proc/self/mem', 'rb').read(1)",
    "open('/proc/1/root/etc/passwd').read()",
    "open('/proc/self/maps').read()",
    "open('/proc/kcore', 'rb').read(1)",
    "open('/etc/shadow').read()",
    "open('/root/.bashrc').read()",
    # The course's own folder may be below one of them.
    "[name for name in os.listdir('/home') if name not in os.environ.get('PYTHONPATH', '')][0]",
    "[n for n in os.environ if any(word in n for word in ('TOKEN', 'KEY', 'SECRET', 'PASS'))][0]",
)
READS_FILES = """
def _read(path):
    return os.listdir(path)[:5] if os.path.isdir(path) else open(path, "rb").read()[:2_000]
for _path in PATHS:
    try: print("FOUND", _path, _read(_path))
    except OSError as _error: print("refused", type(_error).__name__)
"""
CELLS = f"""
# walks through all files
_skipped = ("/usr", "/proc", "/lib", "/lib64", "/bin", "/sbin", "/dev", *LARGE)
_words = ("solutions/", "exercises/", "submitted", "gradebook", "tests/")
for _folder, _folders, _files in os.walk("/"):
    _folders[:] = [n for n in _folders if not os.path.join(_folder, n).startswith(_skipped)]
    for _path in (os.path.join(_folder, name) for name in _files):
        if any(word in _path for word in _words):
            print("FOUND", _path)
        try:
            with open(_path, "rb") as _file:
                if b"CANARY-" + b"7f3a" in _file.read(10 ** 6):
                    print("FOUND the canary in", _path)
        except OSError: pass
# writes outside
def _write(path):
    with open(path, "a") as file:
        file.write("hostile")
_changes = (_write, os.remove, os.rmdir, lambda p: os.chmod(p, 0o777), lambda p: os.mkdir(p + ".d"))
for _path in WRITES:
    for _change in _changes:
        try:
            _change(_path)
            print("FOUND changeable", _path)
        except OSError as _error: print("refused", type(_error).__name__)
# searches the memory for hidden tests
import gc
_words = ("BEGIN HIDDEN" + " TESTS", "_s" + "dpa(", "_wat" + "ched(row_softmax")
def _search(part):
    if type(part) not in (str, bytes) or len(part) <= 100:
        return False
    text = part if isinstance(part, str) else part.decode("latin-1")
    return any(word in text for word in _words) and "_words = " not in str(part)  # this cell
_found = 0
for _thing in gc.get_objects():
    if type(_thing) in (dict, list, tuple):
        _found += sum(map(_search, [*(_thing.values() if type(_thing) is dict else _thing)]))
_frame = sys._getframe()
while _frame is not None:
    _found += sum(map(_search, [*_frame.f_locals.values()]))
    _frame = _frame.f_back
print("FOUND", _found) if _found else print("nothing")
# searches file descriptors
import stat
_sockets = 0
for _handle in range(3, 1024):
    try: _about = os.fstat(_handle)
    except OSError: continue
    try:
        if stat.S_ISDIR(_about.st_mode): print("FOUND", os.listdir(_handle), _about)
        if stat.S_ISREG(_about.st_mode): print("FOUND", os.pread(_handle, 6000, 0)[-300:], _about)
    except OSError as _error: print("refused", _error)
    _sockets += stat.S_ISSOCK(_about.st_mode)
    if stat.S_ISFIFO(_about.st_mode): print("FOUND a pipe", _handle)
print("FOUND sockets", _sockets) if _sockets > 1 else print("one socket: the tests' own")
# reads secrets
{SECRETS}
# calls out
{NETWORK}
# listens
_server = socket.socket()
_server.bind(("0.0.0.0", PORT))
_server.listen()
_server.settimeout(1)
try:
    _server.accept()
    print("FOUND a visitor")
except OSError: print("nobody came")
# mounts, namespaces, limits, ptrace
import ctypes
_libc = ctypes.CDLL(None, use_errno=True)
def _try(name, *arguments):
    ctypes.set_errno(0)
    answer = getattr(_libc, name)(*arguments)
    print("FOUND" if answer != -1 else "refused", name, answer)
for _flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x10020000):
    _try("unshare", _flag)
_try("mount", b"none", b"/tmp/work", b"tmpfs", 0, None)
_try("umount2", b"/proc", 2)
_try("chroot", b"/tmp")
_try("setuid", 0)
_try("setgid", 0)
_try("ptrace", 16, 1, None, None)
_try("sethostname", b"mine", 4)
_try("setns", 0, 0)
_try("acct", None)
_try("reboot", 0)
_try("swapoff", b"/swap")
_try("iopl", 3)
_try("settimeofday", (ctypes.c_long * 2)(1, 1), None)
for _name, _limit in (("AS", 9), ("NPROC", 6), ("FSIZE", 1), ("CPU", 0), ("NOFILE", 7)):
    _try("setrlimit", _limit, (ctypes.c_ulong * 2)(2 ** 64 - 1, 2 ** 64 - 1))
# keys of the kernel
import ctypes, platform
_libc = ctypes.CDLL(None, use_errno=True)
_add, _control = dict(x86_64=(248, 250), aarch64=(217, 219))[platform.machine()]
for _ring in (-3, -4, -5):
    if _libc.syscall(_add, b"user", b"hostile", b"left behind", 11, _ring) > 0:
        print("stored a key in", _ring)
for _ring in (-3, -4, -5):
    _ring_id = _libc.syscall(_control, 0, _ring, 0)
    _list = (ctypes.c_int32 * 64)()
    _size = _libc.syscall(_control, 11, _ring, _list, 256)
    for _key in _list[: max(_size, 0) // 4]:
        _about, _text = ctypes.create_string_buffer(300), ctypes.create_string_buffer(300)
        _libc.syscall(_control, 6, _key, _about, 300)
        _n = _libc.syscall(_control, 11, _key, _text, 300)
        if b"hostile" not in _about.value and _n > 0 and b"keyring" not in _about.value[:7]:
            print("FOUND a key", _about.value)
# setuid programs and devices
for _path in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp", "/bin/su"):
    if os.path.exists(_path):
        _about = os.stat(_path)
        if _about.st_mode & 0o4000 and not os.statvfs(_path).f_flag & os.ST_NOSUID:
            print("FOUND setuid", _path)
print("uid", "FOUND root" if os.geteuid() == 0 else "of nobody else")
try:
    os.chmod("/tmp/work", 0o4777)
    os.mknod("/tmp/work/device", 0o20666, os.makedev(1, 1))
    print("FOUND a device")
except OSError as _error: print("refused", type(_error).__name__)
# finds what another student left
print(os.getcwd())
for _root in (os.getcwd(), "/tmp", "/dev/shm"):
    for _folder, _, _files in os.walk(_root):
        for _file in _files if os.access(_folder, os.W_OK) else ():
            print("FOUND", os.path.join(_folder, _file))
"""
READS = "reads solutions, tests, submissions, gradebook"


def rows(place: dict) -> list[Hostile]:
    """place: what exists outside: "paths" to read, "writes" to change, "port", "unix", ..."""
    return [
        Hostile(READS, behind(given(place) + READS_FILES), ()),
        *rows_of(CELLS, lambda code: own_cells(given(place) + code), ()),
    ]
