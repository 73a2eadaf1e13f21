// membound BYTES SECONDS: a pointer chase that waits for memory and does nothing else.
//
// The mapping is an array of nodes, one per cache line, linked into one cycle in random order. Each step loads the address of the
// next step, so that no two misses overlap and no prefetcher can guess where the next one goes.
//
// What to expect once BYTES is several times the last-level cache (268435456 is a good size):
//   - instructions per cycle far below 0.5: nearly every cycle waits for one load;
//   - one L1 miss, one L2 miss and one L3 miss a step, and a data TLB miss for most of them;
//   - time per load that is the latency of DRAM, not its bandwidth;
//   - a page fault for every page, all of them in the first moments: link_cycle touches each page first.
// With BYTES below the size of L1 the same loop shows an L1 hit's latency instead and no misses at all.
//
// At least one whole lap is walked even if that takes longer than SECONDS; the checksum is that of the first lap.

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr std::size_t line_bytes = 64;

struct alignas(line_bytes) Node {
    Node *next;
    std::uint64_t mark; // random, so that a lap that skips or repeats a node has another sum
};
static_assert(sizeof(Node) == line_bytes, "a node is one cache line");

// SplitMix64 (Steele, Lea, Flood 2014): small, fast, the same sequence everywhere.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    // below returns a number in [0, bound); the bias of at most bound/2^64 does not matter here.
    std::size_t below(std::size_t bound) {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::size_t>((static_cast<wide>(next()) * bound) >> 64);
    }

  private:
    std::uint64_t state;
};

// link_cycle links all nodes into one cycle and returns the sum of their marks.
//
// Sattolo's algorithm: a shuffle that never leaves an element where it stands yields a permutation that is one single cycle. An
// ordinary shuffle would break into cycles of which the chase sees only one, often one that fits into the cache.
[[gnu::noinline, gnu::noclone]] static std::uint64_t link_cycle(Node *nodes, std::size_t count) {
    Random random(1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; i++) {
        nodes[i].next = &nodes[i];
        nodes[i].mark = random.next();
        sum += nodes[i].mark;
    }
    for (std::size_t i = count - 1; i > 0; i--) {
        Node &other = nodes[random.below(i)];
        Node *next = nodes[i].next;
        nodes[i].next = other.next;
        other.next = next;
    }
    return sum;
}

// chase makes the given number of steps and adds the marks on the way.
[[gnu::noinline, gnu::noclone]] static Node *chase(Node *node, std::size_t steps, std::uint64_t &sum) {
    std::uint64_t marks = sum;
    for (std::size_t i = 0; i < steps; i++) {
        marks += node->mark;
        node = node->next;
    }
    sum = marks;
    return node;
}

static bool parse_bytes(const char *text, std::size_t &bytes) {
    if (*text < '0' || *text > '9') {
        return false; // strtoull would take a sign and leading blanks
    }
    char *end;
    errno = 0;
    bytes = std::strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && bytes >= 2 * line_bytes && bytes <= SIZE_MAX / 2;
}

static bool parse_seconds(const char *text, double &seconds) {
    char *end;
    seconds = std::strtod(text, &end);
    return end != text && *end == '\0' && std::isfinite(seconds) && seconds >= 0 && seconds <= 86400;
}

int main(int argc, char **argv) {
    std::size_t bytes;
    double seconds;
    if (argc != 3 || !parse_bytes(argv[1], bytes) || !parse_seconds(argv[2], seconds)) {
        std::fprintf(stderr, "usage: membound BYTES SECONDS (at least %zu bytes, 0 to 86400 seconds)\n", 2 * line_bytes);
        return 2;
    }

    const std::size_t count = bytes / line_bytes;
    void *mapping = mmap(nullptr, count * line_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        std::fprintf(stderr, "membound: cannot map %zu bytes: %s\n", count * line_bytes, std::strerror(errno));
        return 1;
    }
    // Huge pages would hide the TLB misses and most of the page faults. A kernel without them refuses, which is just as good.
    madvise(mapping, count * line_bytes, MADV_NOHUGEPAGE);

    Node *nodes = static_cast<Node *>(mapping);
    const std::uint64_t expected = link_cycle(nodes, count);

    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };

    std::uint64_t lap = 0;
    Node *node = chase(nodes, count, lap);
    if (node != nodes || lap != expected) {
        std::fprintf(stderr, "membound: a lap of %zu steps did not visit every node\n", count);
        return 1;
    }
    std::size_t loads = count;
    std::uint64_t rest = 0;
    while (elapsed() < seconds) {
        constexpr std::size_t batch = 1 << 14; // about a millisecond of misses between two looks at the clock
        node = chase(node, batch, rest);
        loads += batch;
    }
    const double chased = elapsed();

    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("nodes %zu\nloads %zu\nns_per_load %.2f\npage_faults %ld\nchecksum %016llx\n", count, loads, chased * 1e9 / static_cast<double>(loads),
                usage.ru_minflt + usage.ru_majflt, static_cast<unsigned long long>(lap));
    // Nobody reads the rest of the sum; the compiler may not know that.
    asm volatile("" : : "r"(rest), "r"(node));
    return 0;
}
