/* The dynamic linker: callbacks under its lock, and objects that it has loaded. See calls.h. */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

#include "../standby.h"
#if defined(__GLIBC__)
#include <gnu/lib-names.h>
#endif

/* --- callbacks that keep others from starting kernel threads --- */

/* A callback may be unwound (an exception, cancellation): then there is a runtime for that, and else it is not asked
 * for (once.c). */
__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

NEXT(dl_iterate_phdr, int(int (*)(struct dl_phdr_info *, size_t, void *), void *));
typedef int object_visitor(struct dl_phdr_info *info, size_t bytes, void *arg);
static void leave_callback(const uint32_t *entered) { standby_leave(*entered); }
PS_EXPORT int answer_dl_iterate_phdr(object_visitor *visitor, void *arg)
{
    PS_UNUSED __attribute__((cleanup(leave_callback))) uint32_t entered = standby_enter((uintptr_t)visitor);
    return CALL_NEXT(dl_iterate_phdr)(visitor, arg);
}
VERSIONS(dl_iterate_phdr, "GLIBC_2.2.5");

/* --- objects that begin --- */

/* The first function of each object (_init, of the C library's crti.o) calls __gmon_start__ where there is one, for the
 * sake of gprof. The dynamic linker has relocated the object by then, and all that it loads with it; none of their code
 * has run: constructors come behind. The C library has initialised their thread-local variables in the threads that it
 * knows. A program that is built for gprof has a __gmon_start__ of its own, which is found first; an object without
 * crti.o calls none. Then that is seen to at the next region.
 * Rejected: to answer dlopen (it finds libraries by the address of its caller, and constructors run in the middle of
 * it). To put threads in the C library's lists (setxid and debuggers take every entry for a kernel thread). */
PS_EXPORT void answer___gmon_start__(void) { uth_tls_object_begins(__builtin_return_address(0)); }
VERSIONS(__gmon_start__, "GLIBC_2.2.5");

#if defined(__GLIBC__)

/* --- other namespaces --- */

/* An object in another namespace has a C library of its own there. When the dynamic linker has loaded that, it lets it
 * initialise the calling thread's character tables, before any constructor. The tables need initial values of that C
 * library's thread-local variables. Only threads that the first C library knows have these: kernel threads. So a thread
 * in a block opens such an object on its own kernel thread, in the storage of that. Then its block gets what
 * constructors have left there, and all others get initial values (uth_tls_end_opening).
 * Code in other namespaces calls its own C library: nothing of that is answered, and it cannot call the runtime.
 * A file's name without a folder is looked up as for the runtime: another caller's own RUNPATH does not count. */
typedef void *opener(Lmid_t namespace, const char *file, int mode);
static struct next place_of_dlmopen __attribute__((section("ps_next"), used, aligned(8))) = {"dlmopen", NULL};

struct opening {
    Lmid_t namespace;
    const char *file;
    int mode;
    struct uth_tls *block;
    void *result;
    char error[512]; /* where that is NULL */
};

static void open_outside_block(void *arg)
{
    struct opening *o = arg;
    static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER; /* so does the loader's own lock, in the middle */
    struct uth_tls_known known;
    pthread_mutex_lock(&one_by_one);
    uth_tls_begin_opening(&known, o->namespace == LM_ID_NEWLM);
    o->result = ((opener *)ps_calls_next(&place_of_dlmopen))(o->namespace, o->file, o->mode);
    uth_tls_end_opening(&known, o->result, o->block);
    pthread_mutex_unlock(&one_by_one);
    const char *error = o->result == NULL ? dlerror() : NULL;
    snprintf(o->error, sizeof o->error, "%s", error != NULL ? error : "");
}

/* What is to be called for this; the arguments: namespace, file, mode. */
static void *result_is(void *result) { return result; }
PS_UNUSED __attribute__((used)) static void *ready_to_dlmopen(uintptr_t arguments[3])
{
    struct opening o = {.namespace = (Lmid_t)arguments[0],
                        .file = (const char *)arguments[1], // NOLINT(performance-no-int-to-ptr)
                        .mode = (int)arguments[2]};
    opener *open = (opener *)ps_calls_next(&place_of_dlmopen);
    if (o.namespace == LM_ID_BASE || uth_tls_current() == NULL || !ps_promote())
        return (void *)open;
    o.block = uth_tls_current();
    ps_call_outside_block(open_outside_block, &o);
    if (o.result == NULL) /* a file that is called so is not found: that begins the block's own text */
        dlopen(o.error, RTLD_LAZY);
    arguments[0] = (uintptr_t)o.result;
    return (void *)result_is;
}
__asm__(".pushsection .text\n"
        "\t.globl answer_dlmopen\n"
        "\t.type answer_dlmopen, @function\n"
        "answer_dlmopen:\n"
        "\t.cfi_startproc\n"
        "\tendbr64\n"
        "\tsub $24, %rsp\n"
        "\t.cfi_adjust_cfa_offset 24\n"
        "\tmov %rdi, (%rsp)\n"
        "\tmov %rsi, 8(%rsp)\n"
        "\tmov %rdx, 16(%rsp)\n"
        "\tmov %rsp, %rdi\n"
        "\tcall ready_to_dlmopen\n"
        "\tmov (%rsp), %rdi\n"
        "\tmov 8(%rsp), %rsi\n"
        "\tmov 16(%rsp), %rdx\n"
        "\tadd $24, %rsp\n"
        "\t.cfi_adjust_cfa_offset -24\n"
        "\tjmp *%rax\n"
        "\t.cfi_endproc\n"
        "\t.size answer_dlmopen, . - answer_dlmopen\n\t.popsection");
VERSIONS(dlmopen, "GLIBC_2.34");
__asm__(".globl old_dlmopen\n\t.set old_dlmopen, answer_dlmopen\n\t.symver old_dlmopen, dlmopen@GLIBC_2.3.4");

#endif
