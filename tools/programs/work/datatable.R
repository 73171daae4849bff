# R's data.table: grouping, a keyed join, sorting, and reading and writing text, each in its own parallel regions.
suppressPackageStartupMessages(library(data.table))
setDTthreads(0)
n <- 1e6
set.seed(7)
d <- data.table(g = sample(5000L, n, TRUE), h = sample(letters, n, TRUE), x = runif(n), y = rnorm(n))
start <- proc.time()[["elapsed"]]
by_group <- d[, .(mean = mean(x), total = sum(y), first = x[1L], n = .N), keyby = .(g, h)]
other <- data.table(g = 1:5000, w = (1:5000) %% 17)
joined <- other[by_group, on = "g"][, .(v = sum(mean * w)), by = g]
setorder(d, h, -x)
file <- tempfile(fileext = ".csv")
fwrite(d, file)
back <- fread(file)
rolling <- frollmean(d$x, 50, algo = "exact")
took <- proc.time()[["elapsed"]] - start
cat("result threads_more_than_one", as.integer(getDTthreads() > 1), "\n")
cat("result groups", nrow(by_group), "\n")
cat("result totals", format(sum(by_group$total), digits = 12), "\n")
cat("result joined", format(sum(joined$v), digits = 12), "\n")
cat("result order", format(sum(d$x * seq_len(n) %% 1000), digits = 12), "\n")
cat("result read", nrow(back), format(sum(back$y), digits = 10), "\n")
cat("result rolling", format(sum(rolling, na.rm = TRUE), digits = 12), "\n")
cat("time", took, "\n")
# a forked child after use, as parallel::mclapply makes it
parts <- parallel::mclapply(1:2, function(i) sum(d[, .(s = sum(x)), keyby = g]$s), mc.cores = 2)
cat("result forked", format(sum(unlist(parts)), digits = 12), "\n")
