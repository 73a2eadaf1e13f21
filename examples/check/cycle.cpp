// Tests of membound's cycle: from any node, the chase comes back after exactly as many steps as there are nodes, through every one.

#define main membound_main
#include "../membound.cpp"
#undef main

#include <vector>

int main() {
    int failed = 0;
    for (const std::size_t count : {2, 3, 4, 5, 16, 17, 1000, 65536, 1000003}) {
        std::vector<Node> nodes(count);
        const std::uint64_t expected = link_cycle(nodes.data(), count);

        std::vector<bool> seen(count);
        std::size_t steps = 0;
        const Node *node = nodes.data();
        for (; steps < count; steps++) {
            const auto at = static_cast<std::size_t>(node - nodes.data());
            if (seen[at]) {
                break;
            }
            seen[at] = true;
            node = node->next;
        }
        if (steps != count || node != nodes.data()) {
            std::printf("FAIL: %zu nodes: the cycle closes after %zu steps\n", count, steps);
            failed++;
        }

        std::uint64_t sum = 0;
        if (chase(nodes.data(), count, sum) != nodes.data() || sum != expected) {
            std::printf("FAIL: %zu nodes: a lap adds up to %016llx, all nodes to %016llx\n", count, static_cast<unsigned long long>(sum),
                        static_cast<unsigned long long>(expected));
            failed++;
        }
    }
    return failed == 0 ? 0 : 1;
}
