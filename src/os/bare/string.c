/* memcpy, memmove and memset by words: the C library's go byte by byte, and a byte of main memory costs as much as a
 * word. If the two addresses are not aligned alike, or memmove has to begin at the end, bytes are copied. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((__may_alias__)) word;

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memset(void *to, int value, size_t bytes)
{
    unsigned char *p = to;
    uint32_t wide = (unsigned char)value * 0x01010101u;
    for (; bytes > 0 && ((uintptr_t)p & 3) != 0; bytes--)
        *p++ = (unsigned char)value;
    for (; bytes >= 16; bytes -= 16, p += 16) {
        word *w = (word *)(void *)p;
        w[0] = wide;
        w[1] = wide;
        w[2] = wide;
        w[3] = wide;
    }
    for (; bytes >= 4; bytes -= 4, p += 4)
        *(word *)(void *)p = wide;
    for (; bytes > 0; bytes--)
        *p++ = (unsigned char)value;
    return to;
}

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memcpy(void *restrict to, const void *restrict from,
                                                                           size_t bytes)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    if ((((uintptr_t)p ^ (uintptr_t)q) & 3) == 0) {
        for (; bytes > 0 && ((uintptr_t)p & 3) != 0; bytes--)
            *p++ = *q++;
        for (; bytes >= 16; bytes -= 16, p += 16, q += 16) {
            word *w = (word *)(void *)p;
            const word *v = (const word *)(const void *)q;
            word a = v[0], b = v[1], c = v[2], d = v[3];
            w[0] = a;
            w[1] = b;
            w[2] = c;
            w[3] = d;
        }
        for (; bytes >= 4; bytes -= 4, p += 4, q += 4)
            *(word *)(void *)p = *(const word *)(const void *)q;
    }
    for (; bytes > 0; bytes--)
        *p++ = *q++;
    return to;
}

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    if ((uintptr_t)p - (uintptr_t)q >= bytes)
        return memcpy(to, from, bytes);
    while (bytes-- > 0)
        p[bytes] = q[bytes];
    return to;
}
