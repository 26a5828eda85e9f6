"""Every system call of Linux on x86_64, each with why a student's process may make it, or not."""

REASONS = {
    "-": "refused by the filter",
    ".": "not there any more, or harmless: the kernel itself answers",
    "f": "files: what is mounted says which, the folder's size and RLIMIT_FSIZE how much",
    "m": "memory of its own: RLIMIT_AS, and the look at all processes",
    "p": "processes and signals of its own namespace: RLIMIT_NPROC",
    "t": "time and waiting: ended by the limits",
    "a": "allowed for some arguments only: syscalls.PARTLY",
    "n": "what is done with a socket: its network has nobody else",
    "i": "asks what is no secret",
    "c": "needs a right that was given up, or gives up more",
    "g": "needs what a refused call makes",
    "q": "message queues: RLIMIT_MSGQUEUE is 0",
    "l": "makes its own limits and rights tighter",
}
FROM_0 = """
read:f write:f open:f close:f stat:f fstat:f lstat:f poll:t lseek:f mmap:a mprotect:m munmap:m
brk:m rt_sigaction:a rt_sigprocmask:p rt_sigreturn:p ioctl:f pread64:f pwrite64:f readv:f
writev:f access:f pipe:f select:t sched_yield:p mremap:m msync:m mincore:m madvise:m shmget:-
shmat:g shmctl:g dup:f dup2:f pause:p nanosleep:t getitimer:t alarm:t setitimer:t getpid:p
sendfile:- socket:a connect:n accept:n sendto:n recvfrom:n sendmsg:n recvmsg:n shutdown:n bind:n
listen:n getsockname:n getpeername:n socketpair:a setsockopt:a getsockopt:n clone:p fork:p
vfork:p execve:p exit:p wait4:p kill:p uname:i semget:- semop:g semctl:g shmdt:g msgget:-
msgsnd:g msgrcv:g msgctl:g fcntl:a flock:f fsync:f fdatasync:f truncate:f ftruncate:f getdents:f
getcwd:f chdir:f fchdir:f rename:f mkdir:f rmdir:f creat:f link:f unlink:f symlink:f readlink:f
chmod:f fchmod:f chown:f fchown:f lchown:f umask:l gettimeofday:t getrlimit:i getrusage:i
sysinfo:i times:t ptrace:- getuid:i syslog:- getgid:i setuid:c setgid:c geteuid:i getegid:i
setpgid:p getppid:p getpgrp:p setsid:p setreuid:c setregid:c getgroups:i setgroups:c setresuid:c
getresuid:i setresgid:c getresgid:i getpgid:p setfsuid:c setfsgid:c getsid:p capget:i capset:c
rt_sigpending:p rt_sigtimedwait:p rt_sigqueueinfo:p rt_sigsuspend:p sigaltstack:p utime:f
mknod:f uselib:. personality:p ustat:. statfs:f fstatfs:f sysfs:. getpriority:p setpriority:p
sched_setparam:p sched_getparam:p sched_setscheduler:p sched_getscheduler:p
sched_get_priority_max:p sched_get_priority_min:p sched_rr_get_interval:p mlock:m munlock:m
mlockall:m munlockall:m vhangup:c modify_ldt:- pivot_root:- _sysctl:. prctl:a arch_prctl:p
adjtimex:c setrlimit:l chroot:c sync:f acct:c settimeofday:c mount:- umount2:- swapon:c
swapoff:c reboot:c sethostname:c setdomainname:c iopl:c ioperm:c create_module:. init_module:c
delete_module:c get_kernel_syms:. query_module:. quotactl:c nfsservctl:. getpmsg:. putpmsg:.
afs_syscall:. tuxcall:. security:. gettid:p readahead:f setxattr:a lsetxattr:a fsetxattr:a
getxattr:f lgetxattr:f fgetxattr:f listxattr:f llistxattr:f flistxattr:f removexattr:f
lremovexattr:f fremovexattr:f tkill:p time:t futex:p sched_setaffinity:- sched_getaffinity:p
set_thread_area:. io_setup:- io_destroy:g io_getevents:g io_submit:g io_cancel:g
get_thread_area:. lookup_dcookie:. epoll_create:t epoll_ctl_old:. epoll_wait_old:.
remap_file_pages:m getdents64:f set_tid_address:p restart_syscall:. semtimedop:g fadvise64:f
timer_create:t timer_settime:t timer_gettime:t timer_getoverrun:t timer_delete:t clock_settime:c
clock_gettime:t clock_getres:t clock_nanosleep:t exit_group:p epoll_wait:t epoll_ctl:t tgkill:p
utimes:f vserver:. mbind:m set_mempolicy:m get_mempolicy:m mq_open:q mq_unlink:q mq_timedsend:q
mq_timedreceive:q mq_notify:q mq_getsetattr:q kexec_load:c waitid:p add_key:- request_key:-
keyctl:- ioprio_set:p ioprio_get:p inotify_init:- inotify_add_watch:g inotify_rm_watch:g
migrate_pages:m openat:f mkdirat:f mknodat:f fchownat:f futimesat:f newfstatat:f unlinkat:f
renameat:f linkat:f symlinkat:f readlinkat:f fchmodat:f faccessat:f pselect6:t ppoll:t unshare:-
set_robust_list:p get_robust_list:p splice:- tee:- sync_file_range:f vmsplice:- move_pages:m
utimensat:f epoll_pwait:t signalfd:p timerfd_create:t eventfd:t fallocate:f timerfd_settime:t
timerfd_gettime:t accept4:n signalfd4:p eventfd2:t epoll_create1:t dup3:f pipe2:f
inotify_init1:- preadv:f pwritev:f rt_tgsigqueueinfo:p perf_event_open:- recvmmsg:n
fanotify_init:- fanotify_mark:g prlimit64:l name_to_handle_at:f open_by_handle_at:c
clock_adjtime:c syncfs:f sendmmsg:n setns:- getcpu:p process_vm_readv:- process_vm_writev:-
kcmp:p finit_module:c sched_setattr:p sched_getattr:p renameat2:f seccomp:l getrandom:i
memfd_create:- kexec_file_load:c bpf:- execveat:p userfaultfd:- membarrier:p mlock2:m
copy_file_range:f preadv2:f pwritev2:f pkey_mprotect:m pkey_alloc:m pkey_free:m statx:f
io_pgetevents:g rseq:p
"""
FROM_424 = """
pidfd_send_signal:p io_uring_setup:- io_uring_enter:g io_uring_register:g open_tree:-
move_mount:- fsopen:- fsconfig:- fsmount:- fspick:- pidfd_open:p clone3:p close_range:f
openat2:f pidfd_getfd:- faccessat2:f process_madvise:m epoll_pwait2:t mount_setattr:-
quotactl_fd:c landlock_create_ruleset:- landlock_add_rule:- landlock_restrict_self:-
memfd_secret:- process_mrelease:m futex_waitv:p set_mempolicy_home_node:m cachestat:f
fchmodat2:f map_shadow_stack:m futex_wake:p futex_wait:p futex_requeue:p statmount:- listmount:-
lsm_get_self_attr:i lsm_set_self_attr:l lsm_list_modules:i mseal:m
"""
TABLE = {**dict(enumerate(FROM_0.split())), **dict(enumerate(FROM_424.split(), start=424))}
