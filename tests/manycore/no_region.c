/* A program without a region has the C library's memory too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *one = strdup("one"), *more = malloc(100000);
    if (one == NULL || more == NULL) {
        printf("strdup %p, malloc %p\n", (void *)one, (void *)more);
        return 1;
    }
    memset(more, 1, 100000);
    free(more);
    int wrong = strcmp(one, "one") != 0;
    free(one);
    return wrong;
}
