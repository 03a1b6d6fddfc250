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
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclnn/opdev/op_errno.h"
#include "shim.h"

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define PYTHON_VERSION STRINGIFY(PY_MAJOR_VERSION) "." STRINGIFY(PY_MINOR_VERSION)
#define LIBPYTHON "libpython" PYTHON_VERSION ".so.1.0"

static acl_emu_side side;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static int broken;
static int started_python;

/* The few functions of Python that are needed, found at run time. */
static struct {
    int (*IsInitialized)(void);
    const char *(*GetVersion)(void);
    int (*AtExit)(void (*)(void));
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
        {&py.IsInitialized, "Py_IsInitialized"},       {&py.GetVersion, "Py_GetVersion"},
        {&py.AtExit, "Py_AtExit"},                     {&py.Ensure, "PyGILState_Ensure"},
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

/* Prints a path; 0 where it does not fit. */
__attribute__((format(printf, 3, 4))) static int fits(char *path, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, size, format, arguments);
    va_end(arguments);
    return length >= 0 && (size_t)length < size;
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
    if (named && named[0])
        return fits(python, PATH_MAX, "%s", named);
    Dl_info info;
    char library[PATH_MAX], path[PATH_MAX];
    if (!dladdr((void *)&starting, &info) || !realpath(info.dli_fname, library))
        return 0;
    char *folder = dirname(library); /* .../acl_emu/lib64 */
    if (fits(path, sizeof path, "%s/python.txt", folder) && first_line(path, python, PATH_MAX))
        return 1;
    /* <prefix>/lib/pythonX.Y/site-packages/acl_emu/lib64 */
    return fits(python, PATH_MAX, "%s/../../../../../bin/python" PYTHON_VERSION, folder) && access(python, X_OK) == 0;
}

/* A virtual environment names the folder of its base interpreter in pyvenv.cfg. */
static int base_of(const char *python, char *home)
{
    char path[PATH_MAX], line[PATH_MAX + 64], copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", python);
    FILE *file = fits(path, sizeof path, "%s/../pyvenv.cfg", dirname(copy)) ? fopen(path, "r") : NULL;
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
    static const char question[] =
        "import sysconfig as s, os; print(os.path.join(s.get_config_var('LIBDIR'), s.get_config_var('INSTSONAME')))";
    int ends[2], status;
    if (pipe(ends))
        return 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(python, python, "-I", "-c", question, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; child > 0 && length < PATH_MAX - 1 && (got = read(ends[0], answer + length, PATH_MAX - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    answer[length] = 0;
    answer[strcspn(answer, "\r\n")] = 0;
    return answer[0] != 0;
}

static int load_libpython(const char *python)
{
    char path[PATH_MAX], home[PATH_MAX], real[PATH_MAX];
    if (base_of(python, home) && fits(path, sizeof path, "%s/../lib/" LIBPYTHON, home) && exists(path) &&
        dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        return 1;
    if (realpath(python, real) && fits(path, sizeof path, "%s/../lib/" LIBPYTHON, dirname(real)) && exists(path) &&
        dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        return 1;
    if (!ask_python(python, path) || !strstr(path, "libpython"))
        return 0; /* no Python */
    return (strstr(path, ".so") && dlopen(path, RTLD_NOW | RTLD_GLOBAL)) || dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
}

static void run_at_end(const char *code)
{
    if (started_python && __atomic_load_n(&side.entry, __ATOMIC_ACQUIRE)) {
        PyGILState_STATE state = py.Ensure();
        py.RunString(code, NULL);
        py.Release(state);
    }
}

/* When the program ends, work that has begun may end, and no more is begun. */
static void stop(void)
{
    run_at_end("from acl_emu.core import ending\nending.stop()\n");
}

/* Last of all, when the program's own objects are gone: who watched says what was found. */
__attribute__((destructor)) static void finish(void)
{
    run_at_end("from acl_emu.core import ending\nending.finish()\n");
}

/* The child of a plain fork has no threads but one: Python's lock may be held by a thread that is gone. */
static void forked(void)
{
    if (started_python) {
        started_python = 0;
        broken = 1;
        __atomic_store_n(&side.entry, NULL, __ATOMIC_RELEASE);
    }
}

/* PyConfig is laid out anew in every version. */
static int is_our_version(void)
{
    const char *version = py.GetVersion();
    return strncmp(version, PYTHON_VERSION ".", strlen(PYTHON_VERSION ".")) == 0;
}

static int start_python(int in_process)
{
    char python[PATH_MAX];
    if (!find_python(python)) {
        fprintf(stderr, "acl-emu: cannot tell which Python has the acl_emu package; set ACL_EMU_PYTHON to its executable\n");
        return 0;
    }
    if (access(python, X_OK)) {
        fprintf(stderr, "acl-emu: there is no Python at %s; set ACL_EMU_PYTHON to the executable that has the acl_emu package\n", python);
        return 0;
    }
    if (!in_process && (!load_libpython(python) || !find_symbols())) {
        fprintf(stderr, "acl-emu: %s is no Python, or has no shared library " LIBPYTHON "; install it (Debian: libpython" PYTHON_VERSION
                        ") or use a Python built with --enable-shared\n", python);
        return 0;
    }
    if (!is_our_version()) {
        fprintf(stderr, "acl-emu: this library was built for Python " PYTHON_VERSION ", %s is %.16s\n", python, py.GetVersion());
        return 0;
    }
    PyConfig config;
    py.ConfigInit(&config);
    config.install_signal_handlers = 0;
    PyStatus status = py.ConfigSet(&config, &config.program_name, python);
    if (!py.StatusException(status))
        status = py.ConfigSet(&config, &config.executable, python);
    if (!py.StatusException(status)) {
        /* Python heeds this one even when told to heed none */
        static const char variable[] = "PYTHONEXECUTABLE";
        const char *value = getenv(variable);
        char *kept = value ? strdup(value) : NULL;
        unsetenv(variable);
        status = py.Initialize(&config);
        if (kept)
            setenv(variable, kept, 1);
        free(kept);
    }
    py.ConfigClear(&config);
    if (py.StatusException(status)) {
        fprintf(stderr, "acl-emu: Python (%s) does not start: %s\n", python, status.err_msg ? status.err_msg : "unknown reason");
        return 0;
    }
    started_python = 1;
    return 1;
}

/* A process that runs Python may call once more when Python is gone: where it could not leave what C needs to answer, that is an error. */
static void detach(void)
{
    if (side.ended && __atomic_load_n(side.ended, __ATOMIC_ACQUIRE))
        return;
    broken = 1;
    __atomic_store_n(&side.entry, NULL, __ATOMIC_RELEASE);
}

static int attach(void)
{
    char code[512];
    snprintf(code, sizeof code,
             "try:\n"
             "    from acl_emu.cface.bridge import attach\n"
             "    attach(%llu, %llu, %u)\n"
             "except BaseException as error:\n"
             "    import sys\n"
             "    sys.stderr.write(f'acl-emu: the Python side does not load: {type(error).__name__}: {error}\\n')\n",
             (unsigned long long)(uintptr_t)&side, (unsigned long long)(uintptr_t)acl_emu_names, acl_emu_count);
    if (started_python) {
        struct sigaction interrupt; /* importing Python's signal module takes SIGINT over; it stays the program's */
        int kept = sigaction(SIGINT, NULL, &interrupt) == 0;
        py.RunString("import signal\n", NULL);
        py.RunString(code, NULL);
        if (kept)
            sigaction(SIGINT, &interrupt, NULL);
        py.SaveThread(); /* the thread that started Python holds its lock until here */
    } else {
        PyGILState_STATE state = py.Ensure();
        py.RunString(code, NULL);
        py.Release(state);
    }
    return side.entry != NULL;
}

static void start(void)
{
    pthread_mutex_lock(&starting);
    if (!side.entry && !broken) {
        int in_process = find_symbols();
        int running = in_process && py.IsInitialized();
        if ((!running && !start_python(in_process)) || !attach())
            broken = 1;
        else if (started_python) {
            atexit(stop);
            pthread_atfork(NULL, NULL, forked);
        }
        else
            py.AtExit(detach);
    }
    pthread_mutex_unlock(&starting);
}

/* Where Python is entered, once it has been started; NULL where it cannot be. */
static acl_emu_entry entry(void)
{
    if (__builtin_expect(!__atomic_load_n(&side.entry, __ATOMIC_ACQUIRE), 0))
        start();
    return __atomic_load_n(&side.entry, __ATOMIC_ACQUIRE);
}

int acl_emu_enter(uint32_t function, acl_emu_arg *arguments, acl_emu_arg *result, const void *caller)
{
    acl_emu_entry call = entry();
    if (!call)
        return 1;
    acl_emu_quick quick = side.quick ? side.quick[function] : NULL;
    return quick && quick(function, arguments, result) ? 0 : call(function, arguments, result, caller);
}

int acl_emu_refuse(const void *function)
{
    acl_emu_arg result;
    Dl_info info;
    if (!entry() || !dladdr(function, &info) || !info.dli_sname || side.refusal(info.dli_sname, &result, __builtin_return_address(0)))
        return ACLNN_ERR_INNER;
    return (int)result.i;
}
