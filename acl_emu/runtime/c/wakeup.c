/* Wakeups: how a stream's background thread learns of tasks, without Python's lock.
 *
 * A thread that waits for a stream runs its tasks itself, and a program that queues many small ones needs Python for that; a background
 * thread that asked for Python's lock at every task would only be in the way. So it first waits a little here: as long as the
 * tasks are taken by others it is not needed, and while a program goes on queueing it lets some of them gather, if they need Python.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bridge.h"

#define GRACE 200000    /* nanoseconds in which others may take a task */
#define LONGEST 5000000 /* not longer than this, even while more tasks come */
#define SETTLE 10000000 /* after so long without a task, the next one has to wake the thread */

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* Sleeps until the wakeup signals; 0 where the time passed without. */
static int sleep_on(acl_emu_wakeup *wakeup, uint32_t seen, int64_t nanoseconds)
{
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return syscall(SYS_futex, &wakeup->signalled, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0) == 0 || errno != ETIMEDOUT;
}

static void wake(acl_emu_wakeup *wakeup)
{
    __atomic_fetch_add(&wakeup->signalled, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &wakeup->signalled, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void acl_emu_wakeup_signal(acl_emu_wakeup *wakeup, int urgent)
{
    if (urgent)
        __atomic_store_n(&wakeup->urgent, 1, __ATOMIC_SEQ_CST);
    if (urgent || __atomic_load_n(&wakeup->asleep, __ATOMIC_SEQ_CST))
        wake(wakeup);
}

void acl_emu_wakeup_close(acl_emu_wakeup *wakeup)
{
    __atomic_store_n(&wakeup->closed, 1, __ATOMIC_SEQ_CST);
    wake(wakeup);
}

int acl_emu_wakeup_wait(acl_emu_wakeup *wakeup, int64_t idle)
{
    int64_t last = __atomic_load_n(&wakeup->submitted, __ATOMIC_SEQ_CST), changed = now(), due = 0, since = 0;
    for (;;) {
        uint32_t seen = __atomic_load_n(&wakeup->signalled, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&wakeup->closed, __ATOMIC_SEQ_CST))
            return -1;
        if (__atomic_exchange_n(&wakeup->urgent, 0, __ATOMIC_SEQ_CST))
            return 1;
        int64_t submitted = __atomic_load_n(&wakeup->submitted, __ATOMIC_SEQ_CST);
        int64_t taken = __atomic_load_n(&wakeup->taken, __ATOMIC_SEQ_CST), time = now();
        if (submitted != last) {
            last = submitted;
            changed = time;
        }
        if (submitted > taken) {
            if (taken >= due) { /* the task that was waited for is gone, this is another */
                due = submitted;
                since = time;
            } else if (time - since >= GRACE) {
                int gathers = __atomic_load_n(&wakeup->gathers, __ATOMIC_RELAXED);
                if (!gathers || time - changed >= GRACE || time - since >= LONGEST)
                    return 1;
            }
            sleep_on(wakeup, seen, GRACE);
        } else if (time - changed < SETTLE)
            sleep_on(wakeup, seen, GRACE);
        else {
            __atomic_store_n(&wakeup->asleep, 1, __ATOMIC_SEQ_CST);
            int missed = __atomic_load_n(&wakeup->submitted, __ATOMIC_SEQ_CST) != last;
            int signalled = missed || sleep_on(wakeup, seen, idle);
            __atomic_store_n(&wakeup->asleep, 0, __ATOMIC_SEQ_CST);
            if (!signalled)
                return 0;
        }
    }
}
