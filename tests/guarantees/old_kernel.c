/* old_kernel LIBRARY PROGRAM ARGS... - the program as on Linux 4.17: calls that are newer are refused (ENOSYS), and
 * membarrier, which a kernel may be built without. LIBRARY (old_kernel_library.c) is preloaded. x86-64. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_NEWER 334 /* rseq, of Linux 4.18; pidfd_open, clone3, close_range and all others follow */

int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEWER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    if (argc < 3)
        return 2;
    setenv("LD_PRELOAD", argv[1], 1);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("old_kernel: skipped: no filter of system calls");
        return 77;
    }
    errno = 0;
    if (syscall(SYS_rseq, NULL, 0, 0, 0) != -1 || errno != ENOSYS) {
        puts("the filter lets rseq pass");
        return 1;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
