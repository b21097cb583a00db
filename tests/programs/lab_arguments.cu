// Prints what every kind of option holds.
#include "../../common/lab.h"

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "shows what its options hold");
    const int64_t elements = arguments.integer("elements", 1000, 0, int64_t(1) << 32, "how many");
    const int64_t offset = arguments.integer("offset", 0, -100, 100, "may be negative");
    const int64_t any = arguments.integer("any", 0, INT64_MIN, INT64_MAX, "any 64-bit number");
    const double scale = arguments.real("scale", 0.5, 0, 10, "a factor");
    const bool verbose = arguments.flag("verbose", "say more");
    const std::string title = arguments.text("title", "none", "any words");
    const std::string policy =
        arguments.choice("policy", {"clamp", "zero"}, "clamp", "at a border");
    const dim3 block = arguments.block("block", dim3(32, 8), "threads a block");
    const dim3 grid = arguments.grid("grid", dim3(0), "blocks");
    const auto variants = arguments.variants({"naive", "tiled", "vectorised"}, {"shuffled"});
    const std::string input = arguments.input("input", "a file to read");
    const std::string output = arguments.output("output", "a file to write");
    arguments.output("log", "another file to write");
    arguments.excludes("input", {"offset"}, "empty input");
    std::string words;
    for (int i = 0; i < 30; ++i) words += "words ";
    arguments.flag("long", words + "end");
    arguments.finish();
    std::printf("elements %lld\noffset %lld\nany %lld\n", (long long)elements, (long long)offset,
                (long long)any);
    std::printf("scale %.17g\nverbose %d\n", scale, verbose);
    std::printf("title %s\npolicy %s\n", title.c_str(), policy.c_str());
    std::printf("block %s\ngrid %s\n", lab::shape_text(block).c_str(),
                lab::shape_text(grid).c_str());
    std::printf("variants %s\n", lab::joined(variants, " ").c_str());
    std::printf("input %s\noutput %s\n", input.c_str(), output.c_str());
    std::printf("given %d\n", arguments.given("elements"));
    return 0;
}
