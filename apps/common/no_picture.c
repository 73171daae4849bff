/* picture.h where there was no libpng. */
#include "picture.h"

const char *picture_refusal(const char *path)
{
    (void)path;
    return "there was no libpng when this program was built (tools/install-deps apps)";
}

bool picture_write(const char *path, const unsigned char *pixels, unsigned width, unsigned height)
{
    (void)path, (void)pixels, (void)width, (void)height;
    return false;
}
