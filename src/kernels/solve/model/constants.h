/*
   constants.h: the constants of all predictions: name, value, unit, origin.

   The constants are those of an H200 at 1.98 GHz, and are used on every device. results/scalars_h100.jsonl has what
   they select on an H100, whose memory has 0.75 of the bandwidth.

   Origins:
     fit      fitted to the logarithm of measured times (bench/fit.py)
     choice   near the best fit, and best for the selection among algorithms, of the order (bench/fit_order.py) or of
              settings of chunk (bench/fit_settings.py)
     hand     set by hand, for the reason given at the group

   Units: s: seconds; ns; a level: for each level set; a row, an entry: for each row or entry of the triangle; rows,
   steps, ...: numbers; 1: a factor or a power.
*/
#ifndef TRSV_CONSTANTS_H
#define TRSV_CONSTANTS_H

/* clang-format off */
#define TRSV_CONSTANTS(C) \
  /* thread: error 18% where it is used, and best for the selection. scattered: 27 matrices of up to 17 million */ \
  /* rows: results/large.jsonl. */ \
  C(thread_launch,          3.3e-6,   "s",         choice) \
  C(thread_hop,             0.44e-6,  "s a level", choice) \
  C(thread_scattered,       0.33e-12, "s a level and row whose values are all over memory", fit) \
  C(thread_entry_float,     0.7e-11,  "s an entry", choice) \
  C(thread_entry_double,    1.07e-11, "s an entry", choice) \
  C(thread_complex_float,   1.1,      "1, time without launch, over that in double precision", choice) \
  C(thread_complex_double,  1.28,     "1, likewise", choice) \
  /* thread with recomputation: error 11% over 152 matrices. scattered: results/large.jsonl. levels: with fewer, L */ \
  /* and U in one launch take less time. wide: with more entries in a level set, rows that are loaded twice take */ \
  /* most of the time. The choice between the forms costs 0.1% over real triangles. */ \
  C(recompute_launch,       3.7e-6,   "s",         fit) \
  C(recompute_hop,          0.36e-6,  "s for two levels", choice) \
  C(recompute_crowd,        0.06e-6,  "s for two levels, times log10 of rows, sqrt of dependencies", choice) \
  C(recompute_scattered,    0.5e-12,  "s for two levels and a row whose values are all over memory", fit) \
  C(recompute_entry_float,  0.5e-11,  "s an entry", choice) \
  C(recompute_entry_double, 0.6e-11,  "s an entry", choice) \
  C(recompute_levels,       7,        "level sets, at least", hand) \
  C(recompute_wide,         24000,    "entries of a level set on average, at most", choice) \
  /* sell: the choice over 190 triangles costs 0.2%; up to 30 level sets the mean prediction is 17% too slow: */ \
  /* results/solve.jsonl, results/sell.jsonl. */ \
  C(sell_launch,            4.0e-6,   "s",         choice) \
  C(sell_hop,               0.8e-6,   "s a level", choice) \
  C(sell_same,              2e-11,    "s an entry of rows on which most others depend", choice) \
  C(sell_scattered,         0.65e-12, "s an entry and dependency of its row, all over memory", choice) \
  C(sell_dependencies,      10,       "dependencies that count at most", hand) \
  C(sell_entry_float,       3.6e-12,  "s an entry", choice) \
  C(sell_entry_double,      5.2e-12,  "s an entry", choice) \
  /* chunk: error 20% (25% in multicolor ordering). The choice costs 0.7% over 170 real triangles, 0.9% over 78 in */ \
  /* multicolor ordering: results/solve.jsonl, results/multicolor.jsonl. */ \
  C(chunk_start,            7.2e-6,   "s",         fit) \
  C(chunk_step,             0.0508e-6, "s a level", fit) \
  C(chunk_sum,              0.0078e-6, "s a level and dependency of its rows beyond two, up to three", choice) \
  C(chunk_hop,              0.22e-6,  "s a level that fills the pipeline of chunks, up to 20", choice) \
  C(chunk_far,              2200,     "rows that a dependency is away, from which it counts in full", choice) \
  C(chunk_entry_float,      0.2e-11,  "s an entry", choice) \
  C(chunk_entry_double,     0.3e-11,  "s an entry", choice) \
  C(chunk_complex_float,    1.2,     "1, time without start, over that in double precision", fit) \
  C(chunk_complex_double,   1.5,     "1, likewise", fit) \
  C(chunk_import,           3.4e-9,   "s a value that a chunk takes from others", choice) \
  C(chunk_crossing,         0.8e-6,   "s a level set of another color", choice) \
  C(chunk_chained,          0.01,     "share of rows in chains, up to which rows are colored", hand) \
  C(chunk_color_rows,       32,       "rows of a level set of blocks, at least: those of a step", hand) \
  C(chunk_color_far,        0.5,      "1, rows that a dependency is away over those that a level set spans", hand) \
  C(chunk_level_span,       5,        "1, rows that a level set of blocks spans over the rows in it, at most", choice) \
  C(chunk_busy_step,        0.07e-6,  "s a step of few chunks that have all the work", choice) \
  C(chunk_busy_power,       2.5,      "1, the power in which chain and steps add up", choice) \
  C(chunk_busy_share,       0.6,      "1, steps over records by width", choice) \
  C(chunk_count,            120,      "chunks at work", hand) \
  /* chunk with inverted blocks: error 36%; choice as above. */ \
  C(inverse_launch,         2e-6,     "s of the multiplication", fit) \
  C(inverse_step,           0.046e-6, "s a level", choice) \
  C(inverse_sum,            0.043e-6, "s a level and dependency of its rows beyond one, up to five", choice) \
  C(inverse_shorter,        16.3,     "1, gain of inverted blocks, less 1, in level sets of one row", choice) \
  C(inverse_power,          -0.52,    "1, power of the rows of a level set in this gain", choice) \
  C(inverse_level_rows,     300,      "rows of a level set: wider ones leave no lanes idle", hand) \
  C(inverse_chained,        0.2,      "share of rows in chains, from which the chain is that much shorter", choice) \
  C(inverse_grid,           1.3,      "1, time of grids over that of other patterns", choice) \
  C(inverse_estimate,       0.93,     "1, time over estimate, of products", fit) \
  C(inverse_instead,        1.3,      "1, time of a schedule over that predicted with blocks, at least", hand) \
  C(inverse_faster,         0.85,     "1, time predicted from counts over that without blocks: used below", choice) \
  C(inverse_long_row,       8,        "entries of a row on average, above which that limit is 1", choice) \
  C(inverse_row_max,        14,       "entries of the longest row of a product at least", hand) \
  /* Settings of chunk: solves with several settings, with and without inverted blocks (files: */ \
  /* bench/fit_settings.py). step: of a chain. mean: over the steps of many solves, waits included. */ \
  C(settings_start,         8000,     "ns",        fit) \
  C(settings_step_2,        54,       "ns a step of records of 2", fit) \
  C(settings_step_3,        67,       "ns a step of records of 3", fit) \
  C(settings_step_5,        88,       "ns a step of records of 5", fit) \
  C(settings_step_13,       130,      "ns a step of records of 13", fit) \
  C(settings_mean_2,        62,       "ns a step, waits included", fit) \
  C(settings_mean_3,        68,       "ns a step, waits included", fit) \
  C(settings_mean_5,        100,      "ns a step, waits included", fit) \
  C(settings_mean_13,       150,      "ns a step, waits included", fit) \
  C(settings_import,        1.2,      "ns a value taken from another chunk", fit) \
  C(settings_steps_l2,      8,        "steps of a crossing through L2", fit) \
  C(settings_steps_cluster, 4,        "steps of a crossing inside a cluster", fit) \
  C(settings_crossing,      0.6,      "1, crossings on the longest chain over chunks", fit) \
  C(settings_crossing_levels, 0.6,    "1, crossings on the longest chain over levels, at most", fit) \
  C(settings_chain,         0.95,     "steps a level", fit) \
  C(settings_spread_record, 0.09,     "1, a dependency of a record beyond three, all over the rows", fit) \
  C(settings_late_record,   0.25,     "1, where more dependencies are late than a record may have", fit) \
  C(settings_late_sum,      0.35,     "1, a partial sum that waits for late dependencies", fit) \
  C(settings_fill,          0.6,      "1, steps over records by width", fit) \
  C(settings_spread_late,   0.4,      "1, chunks over which a level set with late dependencies is spread", fit) \
  C(settings_spread,        0.84,     "1, and other ones", choice) \
  C(settings_power,         1.7,      "1, the power in which chain and work add up", fit) \
  C(settings_deep,          40,       "level sets above which chains are what takes time", hand) \
  C(settings_rows_shallow,  400,      "rows of a chunk of shallow triangles", fit) \
  C(settings_rows,          1000,     "rows of a chunk of deep ones", fit) \
  C(settings_row_length,    8,        "entries of a row, above which chunks are smaller", fit) \
  C(settings_rows_large,    11000,    "rows of a chunk, beyond which more chunks are better", fit) \
  C(settings_more_chunks,   16,       "chunks more than are at work", fit) \
  C(settings_near_level,    9.4,      "rows of a level set for each chunk, if crossings take time", fit) \
  C(settings_near_rows,     8,        "rows of such a chunk, at least, in mean distances of a dependency", hand) \
  C(settings_cluster_levels, 12,      "level sets above which chunks form clusters of 8", hand) \
  C(settings_planes,        24,       "planes of a grid, and chunks at work, from which chunks are planes", hand) \
  C(settings_plane_rows,    800,      "rows of a plane, from which chunks are planes", hand) \
  C(settings_plane_rounds,  1.25,     "planes over chunks at work, at most: some end before others start", hand) \
  C(settings_plane_chunks,  1024,     "parts of planes as chunks, at most", hand) \
  C(settings_plane_imports, 20000,    "values of 8 bytes that fit into shared memory, records of up to 5", hand) \
  C(settings_plane_imports_long, 17000, "the same, longer records", hand) \
  C(settings_not_planes,    1.3,      "1, time over that of chunks of planes, where there are planes", choice) \
  C(settings_grid_sums,     1.3,      "1, time where rows of a grid are cut", choice) \
  /* Values of a factorization on the device: by hand from set-ups with new values (docs/results.md), because there */ \
  /* are no separate times of the factorization. */ \
  C(factor_launch,          20e-6,    "s",         hand) \
  C(factor_pivot,           0.6e-6,   "s a level, where only pivots depend on each other", hand) \
  C(factor_row,             2e-6,     "s a level, else", hand) \
  C(factor_entry,           3e-11,    "s an entry", hand) \
  C(factor_step,            0.45e-6,  "s an entry of the longest row", hand) \
  /* PETSc's factorization on one core of the host: entries, and multiply-adds where long rows depend on long ones. */ \
  /* walk: its symbolic phase in another order. */ \
  C(host_entry,             10e-9,    "s an entry", hand) \
  C(host_operation,         0.6e-9,   "s a multiply-add", hand) \
  C(host_walk,              0.25e-9,  "s a square of a row's length", hand) \
  /* A schedule in a first set-up: half of an analysis in results/solve.jsonl; L and U are planned together. */ \
  C(plan_chain,             1.25e-6,  "s, of a schedule: sqrt(levels * mean row * sqrt(entries))", hand) \
  /* The choice of the ordering. Growth, iterations: bench/fit_order.py. The growth has a margin: its median is */ \
  /* 1.0 if as much fill is left out. The median iteration of CG takes 117 us without the preconditioner, in */ \
  /* results/solutions.jsonl. The times of finding the ordering: results/orders.jsonl. */ \
  C(order_growth,           1.35,     "1, iterations in multicolor over natural, if as much fill is left out", choice) \
  C(order_iterations,       40,       "iterations of a solve", choice) \
  C(order_levels,           32,       "level sets in multicolor ordering, before it is made", hand) \
  C(order_levels_grid,      10,       "level sets, of grids", hand) \
  C(order_rest,             115e-6,   "s an iteration, launches and waits", hand) \
  C(order_byte,             0.3e-12,  "s a byte", hand) \
  C(order_find,             0.35e-3,  "s",         hand) \
  C(order_find_level,       0.6e-6,   "s a level, except for grids", hand) \
  C(order_pattern,          0.4e-3,   "s, the pattern in the multicolor order", hand)
/* clang-format on */

#endif
