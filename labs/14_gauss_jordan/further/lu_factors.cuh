// LU by blocks, from the host's side: which kernels, in which order, in which stream, with which shapes.
//
// Know before: given/blocked_steps.cuh, which does the same with one stream; streams and events (lab 15), graphs (lab 17). New here:
// a kernel may be brought to the card while the one before it still runs, and waits there for its end
// (programmatic dependent launch, as of compute capability 9.0).
//
//        panels   | span 0 | finish 1 | span 1 ......| finish 2 | span 2 ...       the urgent stream
//        rest              | finish 2, 3, 4, ...     |          | finish 3, 4, ... look-ahead
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "last_panels.cuh"
#include "levels.cuh"
#include "substitution.cuh"

template <class T>
class LuFactors {
 public:
    // Room for what the kernels tell each other.
    // *singular: -1, or where factor() has found the first column without a pivot
    LuFactors(int n, PanelBy panel_by, UpdateBy update_by, int* singular)
        : device_(Device::current()),
          panel_by_(panel_by),
          update_by_(update_by),
          levels_(usual_levels(n, update_by)),
          singular_(singular),
          pivots_(n),
          steps_(2 * device_.multiprocessors),
          offers_(2 * device_.multiprocessors) {
        prepare_kernels();
    }

    Levels& levels() { return levels_; }

    // Factors A into L and U in its place, and does to the right-hand sides what is done to its rows, so
    // that U x = b is left. `keep_lower`: the rows of L are exchanged as well, as those who solve with
    // it later need.
    void factor(const System<T>& system, bool keep_lower = false) {
        factor_urgently(system, keep_lower);
        make_wait(nullptr, streams_.urgent());
    }

    // A x = b for all right-hand sides: factors, and solves U x = b. x: (n, right-hand sides), row-major
    void solve(const System<T>& system, T* x) {
        factor_urgently(system, false);
        if (system.sides() >= many_sides) {
            solve_many(system, x);
        } else {
            launch_substitute<false>(
                system, {system.values + system.first_side, system.stride, system.sides()}, x,
                streams_.urgent());
        }
        make_wait(nullptr, streams_.urgent());
    }

    // L x = b (`lower`) or U x = b in one launch.
    template <bool lower>
    void launch_substitute(const System<T>& system, RightSides<T> b, T* x, cudaStream_t stream) {
        const int blocks = int(lab::divide_up(system.n, step_rows) * b.count);
        if (!flags_ || flags_->bytes() < int64_t(sizeof(int)) * (blocks + 1)) {
            flags_ = std::make_unique<DeviceArray<int>>(blocks + 1);
            CHECK(cudaMemsetAsync(flags_->get(), 0, flags_->bytes(), stream));
            follows_kernel_ = false;
            progress_ = {flags_->get(), flags_->get() + 1, 0, 0};
        }
        progress_.launch++;
        launch(substitute<T, lower>, blocks, 256, 0, stream, system, b, x, progress_);
        progress_.blocks_before += blocks;
    }

    const int* pivots() const { return pivots_.get(); }

    // The shape of the first panel, for the table.
    PanelShape panel_shape(int height) const {
        const bool cluster = by_cluster(height), grid = panel_by_ == PanelBy::team && !cluster;
        const int most_blocks = cluster                ? largest_cluster_
                                : grid && !lab::on_cpu ? device_.multiprocessors
                                                       : 1;
        constexpr PanelShape kinds[] = {{32, 0, 128}, {32, 0, 256}, {32, 0, 512},
                                        {16, 0, 512}, {8, 0, 512},  {4, 0, 512}};
        const bool alone = height <= most_alone;
        for (PanelShape shape : kinds) {
            const int64_t of_block = rows_of_block(shape.columns, shape.threads);
            if (of_block * (alone ? 1 : most_blocks) < height) continue;
            const int wanted = int(lab::divide_up(height, of_block));
            shape.blocks = 1;
            while (shape.blocks < wanted) shape.blocks = grid ? wanted : 2 * shape.blocks;
            const int of_warp = rows_of_block(shape.columns, 32);
            shape.threads = 32 * int(lab::divide_up(height, int64_t{of_warp} * shape.blocks));
            return shape;
        }
        lab::fail("a panel of %d rows is higher than this card's blocks can hold", height);
    }

 private:
    static constexpr int many_sides = 32;
    static constexpr int most_in_graph = 4096;  // unknowns; with more, a graph is slower

    // Up to 65536 rows on an H100; more of them are left to a grid, which has more blocks.
    bool by_cluster(int height) const {
        return panel_by_ == PanelBy::team && largest_cluster_ > 1 &&
               height <= int64_t{largest_cluster_} * rows_of_block(4, panel_most_threads);
    }

    // CPU mode takes narrow ones, so that a small matrix meets all that there is.
    static Levels usual_levels(int n, UpdateBy update_by) {
        if (lab::on_cpu) return {32, 128, true};
        if (n > 4096) return {128, n <= 8192 ? 256 : 512, true};
        const int columns = n <= 2048 || update_by == UpdateBy::tensor_cores ? 32 : 64;
        return {columns, columns, n > 1024};
    }

    // Leaves its work in the urgent stream. One of these objects has one system and one `keep_lower`, so that its launches are
    // always the same. Where there are two streams, of short kernels, they are launched as a graph.
    void factor_urgently(const System<T>& system, bool keep_lower) {
        const cudaStream_t stream = streams_.urgent();
        if (panel_by_ == PanelBy::team && !by_cluster(system.n)) {
            CHECK(cudaMemsetAsync(steps_.get(), 0, steps_.bytes()));
        }
        make_wait(stream, nullptr);
        if (dependent_launches_ && levels_.look_ahead && system.n <= most_in_graph) {
            graph_.launch(stream, [&] { factor_in_streams(system, keep_lower); });
            follows_kernel_ = false;
        } else {
            factor_in_streams(system, keep_lower);
        }
    }

    // With look-ahead there are two streams: `panels`, the urgent one, finishes
    // the columns of the next span before all others, and factors them while `rest` still finishes the
    // others:
    //
    //   panels   | span 0 | finish 1 | span 1 ......| finish 2 | span 2 ...
    //   rest              | finish 2, 3, 4, ...     |          | finish 3, 4, ...
    void factor_in_streams(const System<T>& system, bool keep_lower) {
        const int n = system.n, span = levels_.span;
        const cudaStream_t panels = streams_.urgent(),
                           rest = levels_.look_ahead ? streams_.other() : panels;
        make_wait(rest, panels);
        for (int first = 0; first < n; first += span) {
            if (!keep_lower && ends_with(n - first)) {
                make_wait(panels, rest);
                return factor_last_panels(system, first, panels);
            }
            const int count = std::min(span, n - first), end = first + count;
            const int begin = end < n ? end : system.first_side;
            int next = begin;  // the columns up to here go first
            if (levels_.look_ahead && end < n)
                next = end + span < n ? end + span : system.first_side;
            factor_span(system, first, count, panels);
            make_wait(panels, rest);  // which may still be at the next columns
            make_wait(rest, panels);
            finish(system, first, count, {first, first}, {begin, next}, panels);
            finish(system, first, count, {keep_lower ? 0 : first, first}, {next, system.width},
                   rest);
        }
        make_wait(panels, rest);
    }

    // The rows for which a block of swap_and_solve has room.
    int solved_rows() const {
        int rows = most_solved;
        while (rows > 32 && solve_bytes(rows) + 2048 > device_.shared_bytes) rows /= 2;
        return rows;
    }

    static int solve_bytes(int rows) { return SolveTile<T, true>::elements(rows) * int(sizeof(T)); }

    // Whether so many rows and columns are what finish_and_factor() takes; in CPU mode fewer, so that
    // small matrices meet both ways.
    bool ends_with(int rows) const {
        return panel_by_ == PanelBy::team && update_by_ == UpdateBy::tensor_cores &&
               rows <= (lab::on_cpu ? 128 : most_alone);
    }

    // One launch a panel, and one for the right-hand sides.
    void factor_last_panels(const System<T>& system, int first, cudaStream_t stream) {
        const int n = system.n;
        launch_panel(system, first, std::min(32, n - first), panel_shape(n - first), stream);
        for (int at = first; at < n; at += 32) {
            const int count = std::min(32, n - at), end = at + count;
            const Columns right = {end < n ? end : system.first_side, system.width};
            const int tiles = int(lab::divide_up(right.end - right.begin, 32));
            launch(finish_and_factor<T>, tiles, solve_threads, solve_bytes(32), stream, system, at,
                   count, right, std::min(32, n - end), pivots_.get(), singular_);
        }
    }

    void factor_span(const System<T>& system, int first, int count, cudaStream_t stream) {
        const int end = first + count;
        for (int at = first; at < end; at += levels_.block) {
            const int columns = std::min(levels_.block, end - at);
            factor_block(system, at, columns, stream);
            finish(system, at, columns, {first, at}, {at + columns, end}, stream);
        }
    }

    void factor_block(const System<T>& system, int first, int count, cudaStream_t stream) {
        const int end = first + count;
        for (int at = first; at < end;) {
            const PanelShape shape = panel_shape(system.n - at);
            const int columns = std::min(shape.columns, end - at);
            launch_panel(system, at, columns, shape, stream);
            finish(system, at, columns, {first, at}, {at + columns, end}, stream);
            at += columns;
        }
    }

    // Exchanges, U's rows, and the update of what lies below, for columns beside those that have just
    // been factored. A piece of U's rows must be complete before it is used for the next one.
    void finish(const System<T>& system, int first, int count, Columns left, Columns right,
                cudaStream_t stream) {
        const int end = first + count, most = solved_rows();
        for (int at = first; at < end; at += most) {
            swap_and_solve_rows(system, at, std::min(most, end - at), left, right, at == first,
                                stream);
        }
        for (int at = first + most; at < end; at += most) {
            const int rows = std::min(most, end - at);
            launch_update(product(system, at, rows, first, at - first, right), stream);
            launch_solve<true>(system, at, rows, right, stream);
        }
        launch_update(product(system, end, system.n - end, first, count, right), stream);
    }

    // Takes from `rows` rows, in these columns, what the `count` unknowns from `first` on contribute.
    static Update<T> product(const System<T>& system, int row, int rows, int first, int count,
                             Columns columns) {
        return {system.row(row) + first,
                system.row(first) + columns.begin,
                system.row(row) + columns.begin,
                rows,
                columns.end - columns.begin,
                count,
                system.stride};
    }

    void swap_and_solve_rows(const System<T>& system, int first, int count, Columns left,
                             Columns right, bool solve, cudaStream_t stream) {
        const int tiles = int(lab::divide_up(left.end - left.begin, 32) +
                              lab::divide_up(right.end - right.begin, 32));
        if (tiles == 0) return;
        const int rows = round_up(count, 32);
        launch(swap_and_solve<T>, tiles, solve_threads, solve_bytes(rows), stream, system, pivots(),
               first, count, rows, left, right, solve);
    }

    template <bool lower>
    void launch_solve(const System<T>& system, int first, int count, Columns columns,
                      cudaStream_t stream) {
        const int tiles = int(lab::divide_up(columns.end - columns.begin, 32));
        if (tiles == 0) return;
        const int rows = round_up(count, 32);
        launch(solve_columns<T, lower>, tiles, solve_threads, solve_bytes(rows), stream, system,
               first, count, rows, columns);
    }

    // Right-hand sides by blocks of rows, from the last to the first: each is solved for, and then
    // taken off what lies above, by the same product as in the factorisation.
    void solve_many(const System<T>& system, T* x) {
        const int rows = solved_rows();
        const cudaStream_t stream = streams_.urgent();
        const Columns sides = {system.first_side, system.width};
        for (int first = (system.n - 1) / rows * rows; first >= 0; first -= rows) {
            const int count = std::min(rows, system.n - first);
            launch_solve<false>(system, first, count, sides, stream);
            launch_update(product(system, 0, first, first, count, sides), stream);
        }
        CHECK(cudaMemcpy2DAsync(x, system.sides() * sizeof(T), system.values + system.first_side,
                                system.stride * sizeof(T), system.sides() * sizeof(T), system.n,
                                cudaMemcpyDeviceToDevice, stream));
    }

    // Panels

    void launch_panel(const System<T>& system, int first, int count, PanelShape shape,
                      cudaStream_t stream) {
        switch (shape.columns) {
            case 32:
                return launch_panel_of<32>(system, first, count, shape, stream);
            case 16:
                return launch_panel_of<16>(system, first, count, shape, stream);
            case 8:
                return launch_panel_of<8>(system, first, count, shape, stream);
            default:
                return launch_panel_of<4>(system, first, count, shape, stream);
        }
    }

    template <int columns>
    void launch_panel_of(const System<T>& system, int first, int count, PanelShape shape,
                         cudaStream_t stream) {
        if (panel_by_ == PanelBy::one_block || (shape.blocks == 1 && !lab::on_cpu)) {
            launch(factor_panel<T, columns, Alone<T>>, 1, shape.threads, 0, stream, system, first,
                   count, pivots_.get(), singular_, typename Alone<T>::Place{shape.threads / 32});
        } else if (by_cluster(system.n - first)) {
            launch_cluster<columns>(system, first, count, shape, stream);
        } else {
            const typename Grid<T>::Place place = {offers_.get(), steps_.get(), first};
            launch_grid<columns>(system, first, count, shape, place, stream);
        }
    }

    // All blocks of a team must run at the same time. That is what a cooperative launch promises. CPU
    // mode has none; its teams are of one block.
    template <int columns>
    void launch_grid(const System<T>& system, int first, int count, PanelShape shape,
                     typename Grid<T>::Place place, cudaStream_t stream) {
#ifdef CUDA_ON_CPU
        factor_panel<T, columns, Grid<T>><<<shape.blocks, shape.threads, 0, stream>>>(
            system, first, count, pivots_.get(), singular_, place);
        CHECK_LAUNCH();
#else
        System<T> argument = system;
        int* pivots = pivots_.get();
        int* singular = singular_;
        void* arguments[] = {&argument, &first, &count, &pivots, &singular, &place};
        CHECK(cudaLaunchCooperativeKernel((const void*)factor_panel<T, columns, Grid<T>>,
                                          shape.blocks, shape.threads, arguments, 0, stream));
        follows_kernel_ = false;
#endif
    }

    template <int columns>
    void launch_cluster([[maybe_unused]] const System<T>& system, [[maybe_unused]] int first,
                        [[maybe_unused]] int count, [[maybe_unused]] PanelShape shape,
                        [[maybe_unused]] cudaStream_t stream) {
#ifndef CUDA_ON_CPU
        cudaLaunchAttribute cluster = {};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = shape.blocks;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        const auto launch_as = [&](auto kernel, auto place) {
            launch_with({cluster}, kernel, shape.blocks, shape.threads, 0, stream, system, first,
                        count, pivots_.get(), singular_, place);
        };
        using Few = Cluster<T, false>;
        using Many = Cluster<T, true>;
        if constexpr (columns == 32) {
            if (shape.blocks * (shape.threads / 32) <= most_offers) {
                return launch_as(factor_panel<T, 32, Few>, typename Few::Place{});
            }
        }
        launch_as(factor_panel<T, columns, Many>, typename Many::Place{});
#endif
    }

    // Updates

    using Tile = UsualTile<T>;
    using LargeTile = TensorTile<T, 128, 128, 64, 32, 3>;  // of floats

    // How long tiles of this side take, in some unit: the multiprocessor that gets most of them decides.
    // Small tiles bring more bytes for the same products; that counts as a tenth of the time.
    int64_t cost(const Update<T>& update, int side, int tenths) const {
        const int64_t tiles = lab::divide_up(update.m, side) * lab::divide_up(update.n, side);
        return lab::divide_up(tiles, device_.multiprocessors) * side * side * tenths;
    }

    void launch_update(const Update<T>& update, cudaStream_t stream) {
        if (update.m == 0 || update.n == 0 || update.k == 0) return;
        const auto grid = [&](int side) {
            return dim3(lab::divide_up(update.n, side), lab::divide_up(update.m, side));
        };
        const bool large = cost(update, 128, 10) <= cost(update, 64, 11);
        if (update_by_ == UpdateBy::tensor_cores) {
            if constexpr (sizeof(T) == 4) {
                if (large) {
                    return launch(update_by_tensor_cores<LargeTile>, grid(128), LargeTile::threads,
                                  LargeTile::shared_bytes, stream, update);
                }
            }
            launch(update_by_tensor_cores<Tile>, grid(64), Tile::threads, Tile::shared_bytes,
                   stream, update);
        } else if (large) {
            launch(update_by_registers<T, 8>, grid(128), 256, 0, stream, update);
        } else {
            launch(update_by_registers<T, 4>, grid(64), 256, 0, stream, update);
        }
    }

    // Launches

    // What comes into `later` from now on begins when all that is in `earlier` by now has ended.
    void make_wait(cudaStream_t later, cudaStream_t earlier) {
        if (later != earlier) follows_kernel_ = false;
        streams_.make_wait(later, earlier);
    }

    template <class... Parameters>
    void launch(void (*kernel)(Parameters...), dim3 grid, int threads, int bytes,
                cudaStream_t stream, Parameters... arguments) {
#ifdef CUDA_ON_CPU
        kernel<<<grid, threads, bytes, stream>>>(arguments...);
        CHECK_LAUNCH();
#else
        launch_with({}, kernel, grid, threads, bytes, stream, arguments...);
#endif
    }

#ifndef CUDA_ON_CPU
    // A kernel of the urgent stream that comes right after another one need not wait until that one has
    // gone: see wait_for_last_kernel().
    template <class... Parameters>
    void launch_with(std::vector<cudaLaunchAttribute> attributes, void (*kernel)(Parameters...),
                     dim3 grid, int threads, int bytes, cudaStream_t stream,
                     Parameters... arguments) {
        if (dependent_launches_ && stream == streams_.urgent() && follows_kernel_) {
            cudaLaunchAttribute attribute = {};
            attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attribute.val.programmaticStreamSerializationAllowed = 1;
            attributes.push_back(attribute);
        }
        if (stream == streams_.urgent()) follows_kernel_ = true;
        cudaLaunchConfig_t config = {};
        config.gridDim = grid;
        config.blockDim = dim3(threads);
        config.dynamicSmemBytes = bytes;
        config.stream = stream;
        config.attrs = attributes.data();
        config.numAttrs = unsigned(attributes.size());
        CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
    }
#endif

    // More than 48 KiB of shared memory, and clusters of more than 8 blocks, must be asked for.
    void prepare_kernels() {
        const int bytes = solve_bytes(solved_rows());
        allow_shared(swap_and_solve<T>, bytes);
        void (*const lower)(System<T>, int, int, int, Columns) = solve_columns<T, true>;
        void (*const upper)(System<T>, int, int, int, Columns) = solve_columns<T, false>;
        allow_shared(lower, bytes);
        allow_shared(upper, bytes);
        void (*const kernel)(Update<T>) = update_by_tensor_cores<Tile>;
        if (update_by_ == UpdateBy::tensor_cores) allow_shared(kernel, Tile::shared_bytes);
#ifndef CUDA_ON_CPU
        if (device_.capability >= 90) prepare_dependent_launches();
        if (panel_by_ == PanelBy::team && dependent_launches_) prepare_clusters();
#endif
    }

    template <class Kernel>
    static void allow_shared(Kernel kernel, int bytes) {
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    }

#ifndef CUDA_ON_CPU
    // A program that was compiled for an older card has neither these nor clusters.
    void prepare_dependent_launches() {
        cudaFuncAttributes attributes;
        CHECK(cudaFuncGetAttributes(&attributes, factor_panel<T, 32, Alone<T>>));
        dependent_launches_ = attributes.ptxVersion >= 90;
    }

    // Clusters of 16 are beyond what every card of compute capability 9 promises: ask this one.
    void prepare_clusters() {
        if (CUDART_VERSION < OLDEST_FOR_CLUSTERS) return;
        largest_cluster_ = largest_cluster;
        allow_largest_cluster(factor_panel<T, 32, Cluster<T, false>>);
        allow_largest_cluster(factor_panel<T, 32, Cluster<T, true>>);
        allow_largest_cluster(factor_panel<T, 16, Cluster<T, true>>);
        allow_largest_cluster(factor_panel<T, 8, Cluster<T, true>>);
        allow_largest_cluster(factor_panel<T, 4, Cluster<T, true>>);
    }

    template <class Kernel>
    void allow_largest_cluster(Kernel kernel) {
        if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
            cudaSuccess) {
            cudaGetLastError();
            largest_cluster_ = 8;
            return;
        }
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = largest_cluster;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(largest_cluster);
        config.blockDim = dim3(panel_most_threads);
        config.attrs = &attribute;
        config.numAttrs = 1;
        int clusters = 0;
        const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
        if (status != cudaSuccess) cudaGetLastError();
        if (status != cudaSuccess || clusters == 0) largest_cluster_ = 8;
    }
#endif

    const Device device_;
    const PanelBy panel_by_;
    const UpdateBy update_by_;
    Levels levels_;
    int largest_cluster_ = 1;
    bool dependent_launches_ = false, follows_kernel_ = false;
    const Streams streams_;
    Graph graph_;
    int* const singular_;
    DeviceArray<int> pivots_, steps_;
    DeviceArray<typename Grid<T>::OfferWithRow> offers_;
    std::unique_ptr<DeviceArray<int>> flags_;
    Progress progress_;
};
