// sleeper [ROUNDS]: 100 ms of work, 200 ms of sleep, ROUNDS times over (5).
//
// What to expect: a profile of the CPU alone shows one hot function and looks healthy. Time tells the rest: a third of the wall clock
// is CPU time, two thirds are spent off the CPU, asleep and not waiting for a core, and utilisation over the run is a square wave.
// Each round has one voluntary switch; the rest is the scheduler's doing.

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

using clock_type = std::chrono::steady_clock;
using seconds_type = std::chrono::duration<double>;

constexpr auto work = std::chrono::milliseconds(100);
constexpr auto rest = std::chrono::milliseconds(200);

// step is one turn of a xorshift generator (Marsaglia 2003): each depends on the one before, so the loop cannot be shortened.
static inline std::uint64_t step(std::uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ (x << 17);
}

[[gnu::noinline, gnu::noclone]] static std::uint64_t spin(std::uint64_t x) {
    const auto end = clock_type::now() + work;
    while (clock_type::now() < end) {
        for (int i = 0; i < 10000; i++) { // some 20 us, so that reading the clock does not show
            x = step(x);
        }
    }
    return x;
}

static double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

static bool parse_rounds(const char *text, long &rounds) {
    if (*text < '0' || *text > '9') {
        return false; // strtol would take a sign and leading blanks
    }
    char *end;
    errno = 0;
    rounds = std::strtol(text, &end, 10);
    return *end == '\0' && errno == 0 && rounds > 0 && rounds <= 1000000;
}

int main(int argc, char **argv) {
    long rounds = 5;
    if (argc > 2 || (argc == 2 && !parse_rounds(argv[1], rounds))) {
        std::fprintf(stderr, "usage: sleeper [ROUNDS] (1 to 1000000)\n");
        return 2;
    }
    const auto start = clock_type::now();
    seconds_type asleep{0};
    std::uint64_t x = 1;
    for (long round = 0; round < rounds; round++) {
        x = spin(x);
        const auto down = clock_type::now();
        std::this_thread::sleep_for(rest);
        asleep += clock_type::now() - down;
    }
    const double wall = seconds_type(clock_type::now() - start).count();
    const double cpu = cpu_seconds();
    std::printf("rounds %ld\nwall_s %.3f\ncpu_s %.3f\ncpu_percent %.1f\nasleep_percent %.1f\nchecksum %016llx\n", rounds, wall, cpu,
                100 * cpu / wall, 100 * asleep.count() / wall, static_cast<unsigned long long>(x));
    return 0;
}
