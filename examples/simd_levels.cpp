// simd_levels PASSES: the same weighted dot product, sum of w*x*y, at four vector widths.
//
// One source, compiled once per tier: simd_levels_scalar, _sse (4 floats), _avx (8) and _avx512 (16). The three arrays together are
// 24 KiB and stay in L1, and eight independent sums hide the latency of the additions, so nothing waits for memory or for a result.
//
// What to expect:
//   - instructions per cycle above 2 up to AVX, hardly a cache or TLB miss, backend never starved;
//   - instructions halve with each doubling of the width, floating-point operations do not: the work is the same;
//   - cycles fall with the width as long as the execution units are that wide. Where 512-bit operations go through in two halves
//     (Zen 4), AVX-512 takes as many cycles as AVX for half the instructions, so that its IPC is half as high: IPC compares
//     instructions, not work.
//
// No tier may use fused multiply-add, nor the scalar one the vectorizer (see the Makefile): the tiers would then differ in more than
// their width. Inputs are small multiples of powers of two, so that every sum is exact in a float and all tiers print the same checksum.

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(TIER_AVX512)
constexpr char tier[] = "avx512";
static bool runs_here() { return __builtin_cpu_supports("avx512f"); }
using Vector = __m512;
static inline Vector load(const float *p) { return _mm512_load_ps(p); }
static inline Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
static inline Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
#elif defined(TIER_AVX)
constexpr char tier[] = "avx";
static bool runs_here() { return __builtin_cpu_supports("avx"); }
using Vector = __m256;
static inline Vector load(const float *p) { return _mm256_load_ps(p); }
static inline Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
static inline Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
#elif defined(TIER_SSE)
constexpr char tier[] = "sse";
static bool runs_here() { return true; } // part of x86-64
using Vector = __m128;
static inline Vector load(const float *p) { return _mm_load_ps(p); }
static inline Vector add(Vector a, Vector b) { return _mm_add_ps(a, b); }
static inline Vector multiply(Vector a, Vector b) { return _mm_mul_ps(a, b); }
#elif defined(TIER_SCALAR)
constexpr char tier[] = "scalar";
static bool runs_here() { return true; }
using Vector = float;
static inline Vector load(const float *p) { return *p; }
static inline Vector add(Vector a, Vector b) { return a + b; }
static inline Vector multiply(Vector a, Vector b) { return a * b; }
#else
#error "compile with -DTIER_SCALAR, -DTIER_SSE, -DTIER_AVX or -DTIER_AVX512"
#endif

constexpr std::size_t length = 2048;
constexpr std::size_t lanes = sizeof(Vector) / sizeof(float);
constexpr std::size_t sums = 8;
static_assert(length % (lanes * sums) == 0, "no remainder loop");

struct alignas(64) Arrays {
    float w[length], x[length], y[length];
};
Arrays arrays;

// Products are multiples of 1/2048 below 1: 11 bits. 2048 of them need 22 bits, and a float has 24.
static void fill() {
    std::uint32_t state = 1;
    const auto draw = [&](std::uint32_t bits) {
        state = state * 1664525 + 1013904223; // Numerical Recipes' generator; its upper bits are good enough
        return static_cast<float>(state >> (32 - bits)) / static_cast<float>(1 << bits);
    };
    for (std::size_t i = 0; i < length; i++) {
        arrays.w[i] = draw(3);
        arrays.x[i] = draw(4);
        arrays.y[i] = draw(4);
    }
}

static float sum_of_lanes(Vector v) {
    alignas(64) float lane[lanes];
    __builtin_memcpy(lane, &v, sizeof v);
    float sum = 0;
    for (const float l : lane) {
        sum += l;
    }
    return sum;
}

[[gnu::noinline, gnu::noclone]] static float weighted_dot(const Arrays &a) {
    Vector sum[sums] = {};
    for (std::size_t i = 0; i < length; i += lanes * sums) {
#pragma GCC unroll 8
        for (std::size_t s = 0; s < sums; s++) {
            const std::size_t at = i + s * lanes;
            sum[s] = add(sum[s], multiply(multiply(load(a.w + at), load(a.x + at)), load(a.y + at)));
        }
    }
    for (std::size_t step = sums / 2; step > 0; step /= 2) {
        for (std::size_t s = 0; s < step; s++) {
            sum[s] = add(sum[s], sum[s + step]);
        }
    }
    return sum_of_lanes(sum[0]);
}

[[gnu::noinline, gnu::noclone]] static double run_passes(std::uint64_t passes) {
    double total = 0;
    for (std::uint64_t pass = 0; pass < passes; pass++) {
        // For all the compiler knows the arrays have changed, so one pass cannot stand for all of them.
        asm volatile("" : : "r"(&arrays) : "memory");
        total += static_cast<double>(weighted_dot(arrays));
    }
    return total;
}

static bool parse_passes(const char *text, std::uint64_t &passes) {
    if (*text < '0' || *text > '9') {
        return false; // strtoull would take a sign and leading blanks
    }
    char *end;
    errno = 0;
    passes = std::strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && passes > 0;
}

int main(int argc, char **argv) {
    if (!runs_here()) {
        std::fprintf(stderr, "simd_levels_%s: this CPU lacks %s\n", tier, tier);
        return 1;
    }
    std::uint64_t passes;
    if (argc != 2 || !parse_passes(argv[1], passes)) {
        std::fprintf(stderr, "usage: simd_levels_%s PASSES (1 or more; 2000000 take about a second)\n", tier);
        return 2;
    }
    fill();
    const auto start = std::chrono::steady_clock::now();
    const double total = run_passes(passes);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("tier %s\npasses %llu\nns_per_pass %.1f\nchecksum %.6f\n", tier, static_cast<unsigned long long>(passes),
                seconds * 1e9 / static_cast<double>(passes), total / static_cast<double>(passes));
    return 0;
}
