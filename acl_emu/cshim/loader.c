/* Finds Python, starts it if the process has none yet, and connects the exported functions to it.
 *
 * Nothing here links against libpython: inside a Python process its own symbols are used, in a C program the right libpython is
 * loaded at the first call. cffi's embedding mode does neither (it links one libpython and lets it guess its installation).
 */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define PYTHON_VERSION STRINGIFY(PY_MAJOR_VERSION) "." STRINGIFY(PY_MINOR_VERSION)
#define LIBPYTHON "libpython" PYTHON_VERSION ".so.1.0"

static acl_emu_entry entry;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static int broken;
static int started_python;

/* The few functions of Python that are needed, found at run time. */
static struct {
    int (*IsInitialized)(void);
    PyGILState_STATE (*Ensure)(void);
    void (*Release)(PyGILState_STATE);
    int (*RunString)(const char *, PyCompilerFlags *);
    void (*ConfigInit)(PyConfig *);
    PyStatus (*ConfigSet)(PyConfig *, wchar_t **, const char *);
    void (*ConfigClear)(PyConfig *);
    PyStatus (*Initialize)(const PyConfig *);
    int (*StatusException)(PyStatus);
    PyThreadState *(*SaveThread)(void);
} py;

static int find_symbols(void)
{
    struct {
        void *slot;
        const char *name;
    } wanted[] = {
        {&py.IsInitialized, "Py_IsInitialized"},       {&py.Ensure, "PyGILState_Ensure"},
        {&py.Release, "PyGILState_Release"},           {&py.RunString, "PyRun_SimpleStringFlags"},
        {&py.ConfigInit, "PyConfig_InitIsolatedConfig"}, {&py.ConfigSet, "PyConfig_SetBytesString"},
        {&py.ConfigClear, "PyConfig_Clear"},           {&py.Initialize, "Py_InitializeFromConfig"},
        {&py.StatusException, "PyStatus_Exception"},   {&py.SaveThread, "PyEval_SaveThread"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (!symbol)
            return 0;
        memcpy(wanted[i].slot, &symbol, sizeof symbol);
    }
    return 1;
}

static int exists(const char *path)
{
    return access(path, R_OK) == 0;
}

/* The first line of a file, without its end; 0 where there is none. */
static int first_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    int found = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (found)
        line[strcspn(line, "\r\n")] = 0;
    return found && line[0];
}

/* The interpreter that has this package: named by the environment, noted beside the library, or of the prefix it is installed in. */
static int find_python(char *python)
{
    const char *named = getenv("ACL_EMU_PYTHON");
    if (named && named[0]) {
        snprintf(python, PATH_MAX, "%s", named);
        return 1;
    }
    Dl_info info;
    char library[PATH_MAX], path[PATH_MAX + 64];
    if (!dladdr((void *)&starting, &info) || !realpath(info.dli_fname, library))
        return 0;
    char *folder = dirname(library); /* .../acl_emu/lib64 */
    snprintf(path, sizeof path, "%s/python.txt", folder);
    if (first_line(path, python, PATH_MAX))
        return 1;
    /* <prefix>/lib/pythonX.Y/site-packages/acl_emu/lib64 */
    snprintf(path, sizeof path, "%s/../../../../../bin/python" PYTHON_VERSION, folder);
    if (exists(path)) {
        snprintf(python, PATH_MAX, "%s", path);
        return 1;
    }
    return 0;
}

/* A virtual environment names the folder of its base interpreter in pyvenv.cfg. */
static int base_of(const char *python, char *home)
{
    char path[PATH_MAX + 64], line[PATH_MAX + 64], copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", python);
    snprintf(path, sizeof path, "%s/../pyvenv.cfg", dirname(copy));
    FILE *file = fopen(path, "r");
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (sscanf(line, "home = %4095[^\r\n]", home) == 1)
            found = 1;
    }
    if (file)
        fclose(file);
    return found;
}

/* Asks the interpreter itself, the slow but certain way. */
static int ask_python(const char *python, char *answer)
{
    char command[PATH_MAX + 256];
    snprintf(command, sizeof command,
             "'%s' -I -c 'import sysconfig as s, os; print(os.path.join(s.get_config_var(\"LIBDIR\"), s.get_config_var(\"INSTSONAME\")))'",
             python);
    FILE *pipe = popen(command, "r");
    int found = pipe && fgets(answer, PATH_MAX, pipe) != NULL;
    if (pipe)
        pclose(pipe);
    if (found)
        answer[strcspn(answer, "\r\n")] = 0;
    return found;
}

static int load_libpython(const char *python)
{
    char path[2 * PATH_MAX], home[PATH_MAX], real[PATH_MAX];
    if (base_of(python, home)) {
        snprintf(path, sizeof path, "%s/../lib/" LIBPYTHON, home);
        if (exists(path) && dlopen(path, RTLD_NOW | RTLD_GLOBAL))
            return 1;
    }
    if (realpath(python, real)) {
        snprintf(path, sizeof path, "%s/../lib/" LIBPYTHON, dirname(real));
        if (exists(path) && dlopen(path, RTLD_NOW | RTLD_GLOBAL))
            return 1;
    }
    if (ask_python(python, path) && strstr(path, ".so") && dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        return 1;
    return dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

/* When the program ends, work that has begun may end, and no more is begun. */
static void stop(void)
{
    PyGILState_STATE state = py.Ensure();
    py.RunString("import acl_emu.stream as _s\n_s.stop_workers()\n", NULL);
    py.Release(state);
}

static int start_python(void)
{
    char python[PATH_MAX];
    if (!find_python(python)) {
        fprintf(stderr, "acl-emu: cannot tell which Python has the acl_emu package; set ACL_EMU_PYTHON to its executable\n");
        return 0;
    }
    if (!load_libpython(python) || !find_symbols()) {
        fprintf(stderr, "acl-emu: %s has no shared library " LIBPYTHON "; install it (Debian: libpython" PYTHON_VERSION
                        ") or use a Python built with --enable-shared\n", python);
        return 0;
    }
    PyConfig config;
    py.ConfigInit(&config);
    config.install_signal_handlers = 0;
    PyStatus status = py.ConfigSet(&config, &config.program_name, python);
    if (!py.StatusException(status))
        status = py.ConfigSet(&config, &config.executable, python);
    if (!py.StatusException(status))
        status = py.Initialize(&config);
    py.ConfigClear(&config);
    if (py.StatusException(status)) {
        fprintf(stderr, "acl-emu: Python (%s) does not start: %s\n", python, status.err_msg ? status.err_msg : "unknown reason");
        return 0;
    }
    started_python = 1;
    return 1;
}

static int attach(void)
{
    char code[512];
    snprintf(code, sizeof code,
             "try:\n"
             "    from acl_emu.cshim.bridge import attach\n"
             "    attach(%llu, %llu, %u)\n"
             "except BaseException as error:\n"
             "    import sys\n"
             "    sys.stderr.write(f'acl-emu: the Python side does not load: {type(error).__name__}: {error}\\n')\n",
             (unsigned long long)(uintptr_t)&entry, (unsigned long long)(uintptr_t)acl_emu_names, acl_emu_count);
    PyGILState_STATE state = started_python ? PyGILState_UNLOCKED : py.Ensure();
    py.RunString(code, NULL);
    if (started_python)
        py.SaveThread(); /* the thread that started Python holds its lock until here */
    else
        py.Release(state);
    return entry != NULL;
}

static void start(void)
{
    pthread_mutex_lock(&starting);
    if (!entry && !broken) {
        int running = find_symbols() && py.IsInitialized();
        if ((!running && !start_python()) || !attach())
            broken = 1;
        else if (started_python)
            atexit(stop);
    }
    pthread_mutex_unlock(&starting);
}

int acl_emu_enter(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result)
{
    if (__builtin_expect(!entry, 0))
        start();
    return entry ? entry(function, arguments, result) : 1;
}
