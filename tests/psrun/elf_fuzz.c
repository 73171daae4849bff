/* elf_fuzz FILE WORK-FILE: the ELF reader on thousands of damaged copies of FILE. Whatever stands in a file, the reader
 * says so or reads something; it neither faults nor loops. (The same copies each time.) */
#include "elf_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPIES = 3000, DAMAGES_MAX = 24 };

static unsigned long state = 12345;

static unsigned long next_random(void)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return state >> 33;
}

/* Mostly where the tables are: the headers, and the dynamic section with what it points to, which stand early. */
static void damage(unsigned char *bytes, size_t size)
{
    static const unsigned char tempting[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (unsigned long n = 1 + next_random() % DAMAGES_MAX; n > 0; n--) {
        size_t range = next_random() % 3 == 0 ? size : size < 4096 ? size : next_random() % 2 ? 1024 : 4096;
        size_t at = 16 + next_random() % (range - 16);
        bytes[at] = next_random() % 2 ? tempting[next_random() % sizeof tempting] : (unsigned char)next_random();
    }
}

static unsigned read_everything(const char *path)
{
    struct elf e;
    unsigned seen = 0;
    if (elf_open(&e, path) != ELF_OK)
        return 0;
    for (size_t i = 0; i < e.num_sym; i++) {
        const struct elf_version *v = elf_sym_version(&e, i);
        seen += (unsigned)strlen(elf_sym_name(&e, i)) + (v ? (unsigned)strlen(v->name) : 0) + elf_sym_wanted(&e, i);
    }
    for (unsigned i = 0; i < e.num_needed; i++)
        seen += (unsigned)strlen(e.needed[i]);
    seen += elf_defines(&e, "GOMP_parallel", "GOMP_4.0") + elf_wants_any(&e, (const char *const[]){"dlopen", NULL}) +
            elf_has_version(&e, "GOMP_4.0") + elf_contains(&e, "main") + (elf_note(&e, "psthreads") != NULL) +
            (unsigned)elf_find(&e, "openblas") + (e.soname ? (unsigned)strlen(e.soname) : 0) +
            (e.interp ? (unsigned)strlen(e.interp) : 0);
    elf_close(&e);
    return seen + 1;
}

int main(int argc, char **argv)
{
    FILE *f = argc == 3 ? fopen(argv[1], "re") : NULL;
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fprintf(stderr, "elf_fuzz FILE WORK-FILE\n");
        return 2;
    }
    size_t size = (size_t)ftell(f);
    unsigned char *good = malloc(size), *bad = malloc(size);
    rewind(f);
    if (!good || !bad || size < 4096 || fread(good, 1, size, f) != size)
        return 2;
    fclose(f);
    unsigned readable = 0;
    for (int i = 0; i < COPIES; i++) {
        memcpy(bad, good, size);
        damage(bad, size);
        size_t length = next_random() % 8 == 0 ? next_random() % size : size;
        int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, bad, length) != (ssize_t)length || close(fd) != 0)
            return 2;
        readable += read_everything(argv[2]) > 0;
    }
    unlink(argv[2]);
    free(good), free(bad);
    printf("%u of %d damaged copies could be read\n", readable, COPIES);
    return readable > 0 && readable < COPIES ? 0 : 1;
}
