/* Routines for objects of interoperability. Only devices other than the host give such objects. There are no such
 * devices, so each object is omp_interop_none and has no properties. Only the names of properties and the meanings of
 * return codes are available. The Fortran routines return a string as an address and a length, which are their first
 * two arguments. OpenMP 5.2 section 18.12. */
#include <string.h>

#include "user.h"

/* the values of omp_interop_rc_t */
enum {
    NO_VALUE = 1,
    SUCCESS = 0,
    EMPTY = -1,
    OUT_OF_RANGE = -2,
    TYPE_INT = -3,
    TYPE_PTR = -4,
    TYPE_STR = -5,
    OTHER = -6
};

/* The values of omp_interop_property_t go from -1 (fr_id) down to -9 (targetsync). */
#define PROPERTIES 9
static const char *const properties[PROPERTIES] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                                   "platform", "device",  "device_context", "targetsync"};

static bool is_property(int which) { return which < 0 && which >= -PROPERTIES; }

static void set_interop_code(int which, int *code)
{
    if (code != NULL)
        *code = is_property(which) ? EMPTY : OUT_OF_RANGE;
}

static const char *name_of(int which) { return is_property(which) ? properties[-1 - which] : NULL; }
/* Only an object knows the type of a property, and omp_interop_none knows none. */
static const char *type_of(PS_UNUSED int which) { return NULL; }

/* Two of these texts are libgomp's, because tests of its users compare them. */
static const char *meaning_of(int code)
{
    static const char *const texts[] = {"no meaningful value is available",
                                        "success",
                                        "provided interoperability object is equal to omp_interop_none",
                                        "property ID is out of range",
                                        "the property is an integer: omp_get_interop_int gives it",
                                        "the property is a pointer: omp_get_interop_ptr gives it",
                                        "the property is a string: omp_get_interop_str gives it"};
    return code <= NO_VALUE && code > OTHER ? texts[NO_VALUE - code] : NULL;
}

PS_EXPORT int omp_get_num_interop_properties(PS_UNUSED const void *object) { return 0; }

#define VALUE(type, name, nothing)                                          \
    PS_EXPORT type name(PS_UNUSED const void *object, int which, int *code) \
    {                                                                       \
        set_interop_code(which, code);                                      \
        return nothing;                                                     \
    }
VALUE(intptr_t, omp_get_interop_int, 0)
VALUE(void *, omp_get_interop_ptr, NULL)
VALUE(const char *, omp_get_interop_str, NULL)

static void give_interop_property(const char **text, size_t *length, const char *what)
{
    *text = what;
    *length = what != NULL ? strlen(what) : 0;
}

PS_EXPORT void omp_get_interop_str_(const char **text, size_t *length, PS_UNUSED const void *object, int which,
                                    int *code)
{
    set_interop_code(which, code);
    give_interop_property(text, length, NULL);
}

#define TEXT(name, function)                                                                           \
    PS_EXPORT const char *name(PS_UNUSED const void *object, int which) { return function(which); }    \
    PS_EXPORT void name##_(const char **text, size_t *length, PS_UNUSED const void *object, int which) \
    {                                                                                                  \
        give_interop_property(text, length, function(which));                                          \
    }
TEXT(omp_get_interop_name, name_of)
TEXT(omp_get_interop_type_desc, type_of)
TEXT(omp_get_interop_rc_desc, meaning_of)
