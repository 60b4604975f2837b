/* Names, sizes and times of the files of a folder. `codegen/targets/stamps.py` says the same in
 * Python, which takes twice as long. */
#include "_stamps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef __APPLE__
#define MODIFIED(info) ((info).st_mtimespec)
#else
#define MODIFIED(info) ((info).st_mtim)
#endif

#define MOST 16  /* endings */
#define LINE 320 /* characters: a name has 255 at most, and two numbers follow */

/* Whether a name has one of the endings. */
static int
ends_so(const char *name, const char *const *endings)
{
    size_t length = strlen(name);
    for (; *endings != NULL; endings++) {
        size_t own = strlen(*endings);
        if (length >= own && memcmp(name + length - own, *endings, own) == 0) return 1;
    }
    return 0;
}

/* Add text to a list. */
static int
add(PyObject *list, const char *text)
{
    PyObject *made = PyUnicode_DecodeFSDefault(text);
    int status = made == NULL ? -1 : PyList_Append(list, made);
    Py_XDECREF(made);
    return status;
}

/* Add an entry of the folder to one of the lists, or to none. */
static int
add_entry(int folder, const char *name, const char *const *endings, PyObject *files,
          PyObject *folders)
{
    struct stat info;
    char line[LINE];
    int is_file = ends_so(name, endings);
    if (!is_file && (name[0] == '.' || strchr(name, '.') != NULL)) return 0;
    if (fstatat(folder, name, &info, 0) != 0) return 0; /* gone, or a link to nothing */
    if (!is_file) return S_ISDIR(info.st_mode) ? add(folders, name) : 0;
    int64_t nanoseconds =
        MODIFIED(info).tv_sec * (int64_t)1000000000 + (int64_t)MODIFIED(info).tv_nsec;
    snprintf(line, sizeof line, "%s %" PRId64 " %" PRId64, name, (int64_t)info.st_size,
             nanoseconds);
    return add(files, line);
}

/* Read a folder that is open. */
static int
read_folder(DIR *folder, const char *const *endings, PyObject *files, PyObject *folders)
{
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (add_entry(dirfd(folder), entry->d_name, endings, files, folders) < 0) return -1;
    return 0;
}

PyObject *
symc_stamps(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *path, *endings[MOST + 1] = {NULL};
    PyObject *given;
    if (!PyArg_ParseTuple(args, "sO!:stamps", &path, &PyTuple_Type, &given)) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(given) && i < MOST; i++)
        if ((endings[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(given, i), NULL)) == NULL)
            return NULL;
    DIR *folder = opendir(path);
    if (folder == NULL) return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    PyObject *files = PyList_New(0), *folders = PyList_New(0), *result = NULL;
    if (files != NULL && folders != NULL && read_folder(folder, endings, files, folders) == 0)
        result = PyTuple_Pack(2, files, folders);
    Py_XDECREF(files);
    Py_XDECREF(folders);
    closedir(folder);
    return result;
}
