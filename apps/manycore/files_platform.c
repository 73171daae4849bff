/* files.h where there are no files. */
#include "files.h"

bool files_read_image(const char *path, unsigned channels, struct files_image *image)
{
    (void)channels, (void)image;
    return mc_wrong("%s: there are no files on the platform", path);
}

bool files_save(const char *folder, const struct mc_array *sources, const struct mc_array *results)
{
    (void)sources, (void)results;
    return mc_wrong("--save %s: there are no files on the platform", folder);
}
