# R's mgcv: an additive model in threads (gam.control, bam's nthreads), with a model matrix big enough for them.
suppressPackageStartupMessages(library(mgcv))
set.seed(3)
n <- 2000
d <- data.frame(a = runif(n), b = runif(n), c = runif(n))
d$y <- sin(6 * d$a) + (d$b - 0.5)^2 + d$a * d$c + rnorm(n) / 3
start <- proc.time()[["elapsed"]]
small <- gam(y ~ s(a, k = 12) + s(b, k = 12) + s(c), data = d[1:500, ], method = "REML",
             control = gam.control(nthreads = 2))
large <- bam(y ~ s(a, k = 20) + s(b, k = 20), data = d, discrete = TRUE, nthreads = 2)
took <- proc.time()[["elapsed"]] - start
cat("result small", format(c(sum(fitted(small)), deviance(small)), digits = 9), "\n")
cat("result large", format(c(sum(fitted(large)), deviance(large)), digits = 9), "\n")
cat("time", took, "\n")
