// Threads of a block as coroutines: each has a stack, and one runs until it leaves.
//
// The switch is written for x86-64; elsewhere, or with SYMC_SIM_UCONTEXT, it is the C library's,
// which is ten times slower. A thread that never waits gives its stack to the next one.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "driver.h"

#if !defined(__x86_64__) && !defined(SYMC_SIM_UCONTEXT)
#define SYMC_SIM_UCONTEXT
#endif
#ifdef SYMC_SIM_UCONTEXT
#include <ucontext.h>
typedef ucontext_t point;
#else
typedef void *point;  // a stack pointer; registers that must be kept lie on the stack
#endif

struct fiber {
    struct fiber *next_free;
    char *stack;
    point inside;
    bool busy;  // inside is in the middle of `run`
};

enum { GROUP = 32 };  // stacks are taken from the system in groups
static struct fiber *groups[1024 / GROUP + 1];
static unsigned group_count;
static struct fiber *free_fibers;
static struct fiber *entered;
static point outside;

#ifdef SYMC_SIM_UCONTEXT
static void prepare(struct fiber *fiber, void (*run)(void)) {
    getcontext(&fiber->inside);
    fiber->inside.uc_stack.ss_sp = fiber->stack;
    fiber->inside.uc_stack.ss_size = STACK_BYTES;
    fiber->inside.uc_link = NULL;
    makecontext(&fiber->inside, run, 0);
}

static void switch_to(point *from, point *to) { swapcontext(from, to); }
#else
// Saves the registers that a called function must keep, changes the stack, and restores it from
// there.
void symc_sim_switch(point *from, point to) __attribute__((visibility("hidden")));
__asm__(".text\n.type symc_sim_switch, @function\nsymc_sim_switch:\n"
        "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n"
        ".size symc_sim_switch, . - symc_sim_switch\n");

// The first switch returns into `run`, whose stack must look as after a call: 8 below 16.
static void prepare(struct fiber *fiber, void (*run)(void)) {
    void **top = (void **)(void *)(fiber->stack + STACK_BYTES - 16);
    *--top = NULL;
    *--top = (void *)run;
    for (int kept = 0; kept < 6; kept++) *--top = NULL;
    fiber->inside = top;
}

static void switch_to(point *from, point *to) { symc_sim_switch(from, *to); }
#endif

static void make_group(void) {
    struct fiber *made = calloc(GROUP, sizeof *made);
    char *stacks = reserve_memory((size_t)GROUP * STACK_BYTES);
    if (!made || !stacks || group_count == sizeof groups / sizeof *groups) {
        fputs("symc simulator: no memory for the stacks of a block\n", stderr);
        abort();
    }
    for (int i = 0; i < GROUP; i++) {
        made[i].stack = stacks + (size_t)i * STACK_BYTES;
        made[i].next_free = free_fibers;
        free_fibers = &made[i];
    }
    groups[group_count++] = made;
}

struct fiber *take_fiber(void (*run)(void)) {
    if (!free_fibers) make_group();
    struct fiber *fiber = free_fibers;
    free_fibers = fiber->next_free;
    if (!fiber->busy) prepare(fiber, run);
    fiber->busy = true;
    return fiber;
}

void give_fiber_back(struct fiber *fiber) {
    fiber->next_free = free_fibers;
    free_fibers = fiber;
}

void abandon_fibers(void) {
    free_fibers = NULL;
    for (unsigned group = 0; group < group_count; group++) {
        for (int i = 0; i < GROUP; i++) {
            groups[group][i].busy = false;
            give_fiber_back(&groups[group][i]);
        }
    }
}

void enter_fiber(struct fiber *fiber) {
    entered = fiber;
    switch_to(&outside, &fiber->inside);
}

void leave_fiber(void) { switch_to(&entered->inside, &outside); }

const char *fiber_stack(void) { return entered->stack; }
