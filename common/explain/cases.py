"""A small case of each lab: what `make explain` runs without ARGS, and what is compared with ncu."""

CASES = {
    "01_hello_world": [[]],
    "02_device_query": [[]],
    "03_vector_add": [["--elements", "100000"]],
    "04_matrix_add": [["--height", "300", "--width", "200"]],
    "05_rgb_to_gray": [["--height", "256", "--width", "250"]],
    "06_image_flip": [["--height", "256", "--width", "250", "--direction", "horizontal"],
                      ["--height", "256", "--width", "250", "--direction", "both"]],
    "07_image_blur": [["--height", "128", "--width", "120", "--radius", "3"]],
    "08_convolution": [["--height", "128", "--width", "120"]],
    "09_warp_divergence": [["--elements", "8192", "--rounds", "16",
                            "--variant", "short_branch,thread_parity,warp_parity,exchange"],
                           ["--elements", "8192", "--rounds", "16", "--variant", "by_thread,by_warp",
                            "--paths", "8"]],
    "10_synchronization": [["--elements", "100000"],
                           ["--problem", "histogram", "--elements", "100000"]],
    "11_occupancy": [["--values", "4096", "--steps", "16", "--walkers", "256", "--rows", "4096"]],
    "12_dynamic_parallelism": [["--height", "128", "--width", "128", "--limit", "100"]],
    "13_matrix_product": [["--size", "96", "--type", type, "--variant", variant]
                          for type in ("float", "double")
                          for variant in ("naive", "coalesced", "tiled", "register_tile", "vectorised",
                                          "warp_tile")],
    "14_gauss_jordan": [["--n", "96", "--variant", variant]
                        for variant in ("report", "on_device", "gauss_jordan", "tiled", "blocked")],
    "15_lagrange_interpolation": [["--degree", "31", "--points", "1000"]],
    "16_dfa_minimization": [["random", "300", "2", "--variant", variant]
                            for variant in ("horizontal_a", "horizontal_b", "horizontal_c", "vertical_a",
                                            "vertical_b", "vertical_c", "bottom_up", "fold", "signature",
                                            "retire", "worklist", "adaptive")],
}

# Without ARGS all variants run, on as little.
SMALL = {lab: cases[0] for lab, cases in CASES.items()} | {
    "09_warp_divergence": ["--elements", "8192", "--rounds", "16"],
    "13_matrix_product": ["--size", "96", "--type", "float"],
    "14_gauss_jordan": ["--n", "48"],
    "15_lagrange_interpolation": ["--degree", "31", "--points", "100"],
    "16_dfa_minimization": ["random", "100", "2"],
}
