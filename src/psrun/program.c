/* The program: its file, as execvp finds it; what the system runs for it; and what speaks against running it. See
 * plan_parts.h. */
#include "os.h"
#include "plan_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_NESTED 5 /* scripts that run scripts; the kernel allows 5 as well */
#define SCRIPT_READ 256 /* bytes of a file that the kernel reads */

/* Finds the program's file as execvp does. */
char *plan_find_program(struct plan *p, const char *name)
{
    if (strchr(name, '/')) {
        if (access(name, F_OK) != 0) {
            plan_fail(p, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, "%s: %s", name, strerror(errno));
            return NULL;
        }
        return plan_text("%s", name);
    }
    const char *path = getenv("PATH");
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (const char *end; *name; path = end + 1) {
        end = strchrnul(path, ':');
        char *file = end == path ? plan_text("./%s", name) : plan_text("%.*s/%s", (int)(end - path), path, name);
        struct stat st;
        if (os_stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return file;
        free(file);
        if (!*end)
            break;
    }
    plan_fail(p, EXIT_NOT_FOUND, "%s: no such program in PATH", name);
    return NULL;
}

/* Returns the interpreter that a "#!" line names, or NULL if there is none. The line is read as the system reads it:
 * the name ends at a blank or at the line's end, within the bytes that the system reads, and a carriage return is a
 * part of it. to_be_run: the file is the one that is to be run. Then returns "/bin/sh" for an empty file and for a text
 * without such a name, because execvp and shells run these by the shell. */
static char *interpreter_of_script(const char *file, bool to_be_run)
{
    char line[SCRIPT_READ + 1];
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(line, 1, SCRIPT_READ, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    if (n >= 2 && memcmp(line, "#!", 2) == 0) {
        const char *name = line + 2 + strspn(line + 2, " \t");
        size_t length = strcspn(name, " \t\n");
        if (length > 0 && name + length < line + SCRIPT_READ)
            return plan_text("%.*s", (int)length, name);
        if (*name == '\0' && n < SCRIPT_READ)
            return NULL; /* the file ends after "#!": the system refuses it */
    }
    return to_be_run && (n == 0 || (line[0] != '\177' && !memchr(line, '\0', n))) ? plan_text("/bin/sh") : NULL;
}

int plan_look_at_elf(struct plan *p, struct elf *e, bool allow_library)
{
    p->elf = plan_text("%s", p->file);
    for (int depth = 0;; depth++) {
        enum elf_status s = elf_open(e, p->elf);
        if (s == ELF_OK)
            break;
        if (s == ELF_UNREADABLE)
            return plan_fail(p, access(p->elf, F_OK) == 0 || errno != ENOENT ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND,
                             "%s: %s", p->elf,
                             access(p->elf, R_OK) == 0 ? "is not a file that can be run" : strerror(errno));
        if (s == ELF_FOREIGN)
            return plan_fail(p, EXIT_CANNOT_RUN,
                             "%s is a program for ELF machine %u; this psrun can run its own kind only", p->elf,
                             e->machine);
        char *next = s == ELF_NOT ? interpreter_of_script(p->elf, depth == 0) : NULL;
        if (next && depth == SCRIPT_NESTED) {
            free(next);
            return plan_fail(p, EXIT_CANNOT_RUN, "%s: scripts that run one another, more than %d deep", p->file, depth);
        }
        if (!next)
            return plan_fail(p, EXIT_CANNOT_RUN, "%s is %s", p->elf,
                             s == ELF_NOT ? "neither an ELF program nor a script" : "a broken ELF file");
        free(p->elf);
        p->elf = next;
        p->script = true;
    }
    /* a library has a soname or needs other libraries; a program names a loader, or is static */
    p->library = !e->interp && e->type == ET_DYN && (e->soname || e->num_needed > 0);
    if (p->library && !allow_library)
        return plan_fail(p, EXIT_CANNOT_RUN, "%s is a shared library, not a program", p->elf);
    const char *ours = p->library ? NULL : elf_note(e, "psthreads"); /* the note of src/abi/static/about.S */
    if (ours) {
        p->alone = plan_text("%s, is linked into it", ours);
        p->linked_in = true;
        return 0;
    }
    bool inside = elf_contains(e, "GOMP_parallel") || elf_contains(e, "__kmpc_fork_call");
    if (!p->library && !e->interp) {
        if (inside)
            return plan_fail(p, EXIT_CANNOT_RUN,
                             "%s is linked statically and has an OpenMP runtime inside: it cannot be replaced", p->elf);
        p->alone = "it is linked statically";
        return 0;
    }
    if (elf_defines(e, "GOMP_parallel", NULL) || (!p->library && inside))
        return plan_fail(p, EXIT_CANNOT_RUN, "%s has an OpenMP runtime linked into itself: it cannot be replaced",
                         p->elf);
    if (e->interp && strstr(e->interp, "ld-musl")) {
        for (unsigned i = 0; i < e->num_needed; i++)
            if (strncmp(e->needed[i], "libgomp", 7) == 0 || strncmp(e->needed[i], "libomp", 6) == 0)
                return plan_fail(p, EXIT_CANNOT_RUN, "%s is linked to musl; the runtime needs the GNU C library",
                                 p->elf);
        p->alone = "it is linked to musl, not the GNU C library";
    }
    return 0;
}

/* Fails if the program's file is not executable. A library need not be. */
int plan_check_executable(struct plan *p)
{
    return !p->library && access(p->file, X_OK) != 0 ? plan_fail(p, EXIT_CANNOT_RUN, "%s: %s", p->file, strerror(errno))
                                                     : 0;
}

/* Fails if the program, or psrun itself, runs with other rights than its caller (set-user-id and the like): then the
 * loader ignores LD_LIBRARY_PATH, and names with a slash in LD_PRELOAD. */
int plan_check_privileges(struct plan *p)
{
    struct stat st;
    if (getuid() != geteuid() || getgid() != getegid())
        return plan_fail(p, EXIT_CANNOT_RUN,
                         "%s would run with the rights of two users or groups, as psrun does: the loader "
                         "then ignores which library is asked for",
                         p->elf);
    if (os_stat(p->elf, &st) != 0 || p->library)
        return 0;
    bool user = (st.st_mode & S_ISUID) && st.st_uid != getuid();
    bool group = (st.st_mode & S_ISGID) && st.st_gid != getgid();
    bool capable = getuid() != 0 && getxattr(p->elf, "security.capability", NULL, 0) > 0;
    if (user || group || capable)
        return plan_fail(p, EXIT_CANNOT_RUN, "%s runs with %s: the loader then ignores who asks for another library",
                         p->elf,
                         user    ? "another user's rights (set-user-id)"
                         : group ? "another group's rights (set-group-id)"
                                 : "capabilities");
    return 0;
}
