// threads [SECONDS]: uneven work over named threads for SECONDS of wall clock (1.5).
//
// What to expect:
//   - main sleeps in join; the work is done by "sorter", "matrix" and a pool of four threads that share the name "worker", of which
//     the first computes all the time and the fourth a seventh of it and sleeps in between: the busiest thread does a multiple of
//     the mean, which is what an imbalance report must find;
//   - "late-queens" and "late-primes" are born at 40 % and 70 % of the run: no sample of theirs lies before that;
//   - six different hot paths, three of them recursive, so that a flame graph has towers of different heights and a hotspot table
//     tells self from inclusive: quick_sort, multiply_block, the parser's levels and place_queen call themselves;
//   - with fewer cores than busy threads, time spent runnable without running.
//
// Every job is repeated on the same input and must give the same answer each time; the checksum combines the answers and is the same
// in every run, however often each job ran.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

// Each function is to stand in the profile under its own name: neither inlined nor cloned for a constant argument.
#define IN_PROFILE [[gnu::noinline, gnu::noclone]]

using Clock = std::chrono::steady_clock;

class Random {
  public:
    explicit Random(std::uint32_t seed) : state(seed) {}
    std::uint32_t next() {
        state = state * 1664525 + 1013904223; // Numerical Recipes' generator
        return state >> 8;
    }

  private:
    std::uint32_t state;
};

namespace sorting {

IN_PROFILE void insertion_sort(std::uint32_t *first, std::uint32_t *last) {
    for (std::uint32_t *i = first + 1; i < last; i++) {
        const std::uint32_t value = *i;
        std::uint32_t *hole = i;
        for (; hole > first && hole[-1] > value; hole--) {
            *hole = hole[-1];
        }
        *hole = value;
    }
}

IN_PROFILE std::uint32_t *partition(std::uint32_t *first, std::uint32_t *last) { // Hoare's
    const std::uint32_t pivot = first[(last - first - 1) / 2];
    for (std::uint32_t *low = first - 1, *high = last;;) {
        do {
            low++;
        } while (*low < pivot);
        do {
            high--;
        } while (*high > pivot);
        if (low >= high) {
            return high + 1;
        }
        std::swap(*low, *high);
    }
}

IN_PROFILE void quick_sort(std::uint32_t *first, std::uint32_t *last) {
    if (last - first <= 24) {
        insertion_sort(first, last);
        return;
    }
    std::uint32_t *middle = partition(first, last);
    quick_sort(first, middle);
    quick_sort(middle, last);
}

IN_PROFILE std::uint64_t sort_records() {
    Random random(7);
    std::vector<std::uint32_t> records(1 << 16);
    for (auto &r : records) {
        r = random.next();
    }
    quick_sort(records.data(), records.data() + records.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < records.size(); i++) {
        sum += records[i] * (i + 1);
    }
    return sum;
}

} // namespace sorting

namespace matrices {

constexpr std::size_t order = 128, tile = 32;
using Matrix = std::vector<float>;

IN_PROFILE void multiply_tile(const float *a, const float *b, float *c) {
    for (std::size_t i = 0; i < tile; i++) {
        for (std::size_t k = 0; k < tile; k++) {
            const float f = a[i * order + k];
            for (std::size_t j = 0; j < tile; j++) {
                c[i * order + j] += f * b[k * order + j];
            }
        }
    }
}

// multiply_block splits each side in two until a tile is left: eight products of half the size.
IN_PROFILE void multiply_block(const float *a, const float *b, float *c, std::size_t size) {
    if (size == tile) {
        multiply_tile(a, b, c);
        return;
    }
    const std::size_t half = size / 2;
    for (std::size_t i = 0; i < size; i += half) {
        for (std::size_t j = 0; j < size; j += half) {
            for (std::size_t k = 0; k < size; k += half) {
                multiply_block(a + i * order + k, b + k * order + j, c + i * order + j, half);
            }
        }
    }
}

IN_PROFILE std::uint64_t multiply_matrices() {
    Matrix a(order * order), b(order * order), c(order * order);
    Random random(11);
    for (std::size_t i = 0; i < a.size(); i++) { // small whole numbers: every sum is exact
        a[i] = static_cast<float>(random.next() % 16);
        b[i] = static_cast<float>(random.next() % 16);
    }
    multiply_block(a.data(), b.data(), c.data(), order);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < c.size(); i++) {
        sum += static_cast<std::uint64_t>(c[i]) * (i % 97 + 1);
    }
    return sum;
}

} // namespace matrices

// A recursive-descent evaluator: each pair of parentheses is four calls deep.
namespace expressions {

IN_PROFILE void write_expression(Random &random, int depth, std::string &text) {
    if (depth == 0) {
        text += std::to_string(random.next() % 1000);
        return;
    }
    text += '(';
    write_expression(random, depth - 1, text);
    text += "+*-"[random.next() % 3];
    write_expression(random, random.next() % 4 == 0 ? 0 : depth - 1, text);
    text += ')';
}

std::uint64_t parse_sum(const char *&at);

IN_PROFILE std::uint64_t parse_number(const char *&at) {
    std::uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return value;
}

IN_PROFILE std::uint64_t parse_primary(const char *&at) {
    if (*at != '(') {
        return parse_number(at);
    }
    at++;
    const std::uint64_t value = parse_sum(at);
    at++; // the closing one
    return value;
}

IN_PROFILE std::uint64_t parse_product(const char *&at) {
    std::uint64_t value = parse_primary(at);
    while (*at == '*') {
        at++;
        value *= parse_primary(at);
    }
    return value;
}

IN_PROFILE std::uint64_t parse_sum(const char *&at) {
    std::uint64_t value = parse_product(at);
    while (*at == '+' || *at == '-') {
        const bool plus = *at++ == '+';
        const std::uint64_t right = parse_product(at);
        value = plus ? value + right : value - right;
    }
    return value;
}

IN_PROFILE std::uint64_t evaluate_expressions() {
    Random random(13);
    std::uint64_t sum = 0;
    for (int i = 0; i < 20; i++) {
        std::string text;
        write_expression(random, 10, text);
        for (int again = 0; again < 3; again++) {
            const char *at = text.c_str();
            sum = sum * 31 + parse_sum(at);
        }
    }
    return sum;
}

} // namespace expressions

namespace queens {

// place_queen counts the ways to fill the rows from the given one on; a set bit is a column or diagonal under attack.
IN_PROFILE std::uint64_t place_queen(unsigned row, std::uint32_t columns, std::uint32_t left, std::uint32_t right) {
    constexpr unsigned board = 9;
    if (row == board) {
        return 1;
    }
    std::uint64_t ways = 0;
    for (std::uint32_t free = ~(columns | left | right) & ((1u << board) - 1); free != 0; free &= free - 1) {
        const std::uint32_t queen = free & -free;
        ways += place_queen(row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return ways;
}

IN_PROFILE std::uint64_t count_placements() { return place_queen(0, 0, 0, 0); }

} // namespace queens

namespace primes {

IN_PROFILE void cross_out(std::vector<char> &composite, std::size_t prime) {
    for (std::size_t n = prime * prime; n < composite.size(); n += prime) {
        composite[n] = 1;
    }
}

IN_PROFILE std::uint64_t count_primes() {
    std::vector<char> composite(1 << 17);
    std::uint64_t count = 0;
    for (std::size_t n = 2; n < composite.size(); n++) {
        if (!composite[n]) {
            count++;
            cross_out(composite, n);
        }
    }
    return count;
}

} // namespace primes

struct Job {
    const char *thread; // at most 15 characters, the kernel's limit
    std::uint64_t (*work)();
    double born; // share of the run
    double busy; // share of its life; it sleeps in the rest
};

constexpr Job jobs[] = {
    {"sorter", sorting::sort_records, 0, 1},
    {"matrix", matrices::multiply_matrices, 0, 0.5},
    {"worker", expressions::evaluate_expressions, 0, 1},
    {"worker", expressions::evaluate_expressions, 0, 0.6},
    {"worker", expressions::evaluate_expressions, 0, 0.3},
    {"worker", expressions::evaluate_expressions, 0, 0.15},
    {"late-queens", queens::count_placements, 0.4, 0.8},
    {"late-primes", primes::count_primes, 0.7, 1},
};

std::atomic<bool> steady{true};

// repeat_job works until the end of the run, at least once, and leaves the job's answer.
IN_PROFILE void repeat_job(const Job &job, Clock::time_point end, std::uint64_t &answer) {
    pthread_setname_np(pthread_self(), job.thread);
    answer = job.work();
    for (auto start = Clock::now(); start < end; start = Clock::now()) {
        Clock::duration worked;
        do {
            if (job.work() != answer) {
                steady = false;
            }
            worked = Clock::now() - start;
        } while (worked < std::chrono::milliseconds(20)); // so that it is the work that counts, not the switches
        if (job.busy < 1) {
            const auto pause = std::chrono::duration_cast<Clock::duration>(worked * (1 / job.busy - 1));
            std::this_thread::sleep_until(std::min(end, Clock::now() + pause));
        }
    }
}

int main(int argc, char **argv) {
    double seconds = 1.5;
    if (argc == 2) {
        char *end;
        seconds = std::strtod(argv[1], &end);
        if (end == argv[1] || *end != '\0') {
            seconds = -1;
        }
    }
    if (argc > 2 || !(seconds > 0 && seconds <= 86400)) {
        std::fprintf(stderr, "usage: threads [SECONDS] (more than 0, at most 86400)\n");
        return 2;
    }

    const auto start = Clock::now();
    const auto after = [&](double share) { return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds * share)); };
    std::vector<std::uint64_t> answers(std::size(jobs));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::size(jobs); i++) { // in order of birth
        std::this_thread::sleep_until(after(jobs[i].born));
        threads.emplace_back(repeat_job, std::cref(jobs[i]), after(1), std::ref(answers[i]));
    }
    for (auto &t : threads) {
        t.join();
    }
    if (!steady) {
        std::fprintf(stderr, "threads: a job gave two different answers\n");
        return 1;
    }
    std::uint64_t checksum = 0;
    for (const std::uint64_t a : answers) {
        checksum = checksum * 0x100000001b3 + a;
    }
    std::printf("threads %zu\nwall_s %.3f\nchecksum %016llx\n", threads.size(), std::chrono::duration<double>(Clock::now() - start).count(),
                static_cast<unsigned long long>(checksum));
    return 0;
}
