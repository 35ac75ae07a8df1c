-- The requests of a wrk load, from a template: both sides of a pair get the same ones, by the same
-- script, so that the client costs both the same. Results go to standard output as one JSON line.
local templates = {}
for line in os.getenv("BENCH_TEMPLATES"):gmatch("[^\n]+") do templates[#templates + 1] = line end
local first = tonumber(os.getenv("BENCH_FIRST"))
local wrap = tonumber(os.getenv("BENCH_WRAP"))
local path = os.getenv("BENCH_PATH")
local keyed = os.getenv("BENCH_IDEMPOTENCY") == "1"
local sent = 0
local ids = {}
if os.getenv("BENCH_IDS") ~= "" then
    for id in io.lines(os.getenv("BENCH_IDS")) do ids[#ids + 1] = id end
end

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY")

function request()
    local template = templates[sent % #templates + 1]
    local n = math.floor(sent / #templates)
    if wrap > 0 then n = n % wrap end
    local text = string.format("%d", first + n)
    local where = path
    if #ids > 0 then where = path:gsub("{id}", ids[sent % #ids + 1]) end
    sent = sent + 1
    if keyed then wrk.headers["Idempotency-Key"] = "bench-" .. first .. "-" .. sent end
    return wrk.format(nil, where, nil, (template:gsub("{n}", text)))
end

function done(summary, latency, _)
    local broken = summary.errors.connect + summary.errors.read + summary.errors.write
        + summary.errors.timeout
    io.write(string.format(
        '\nRESULT {"requests": %d, "microseconds": %d, "refused": %d, "broken": %d, '
            .. '"p50": %d, "p99": %d}\n',
        summary.requests, summary.duration, summary.errors.status, broken,
        latency:percentile(50), latency:percentile(99)))
end
