import { type Dashboard, lines, mean, now, percentile, rate } from "./panels.ts";

// The label's name is public.
const HANDLER = "door";

export const overview: Dashboard = {
  uid: "moorage-overview",
  title: "Moorage",
  about: "Whether the installation is well, what it does, and what it needs of its machines.",
  rows: [
    {
      title: "Well?",
      panels: [
        now("Servers", "short", "count(moorage_build_info{$S})"),
        now("Storage failing", "short", "sum(moorage_storage_failing{$S}) or vector(0)"),
        now("Storage full", "short", "max(moorage_storage_full{$S})"),
        now("Free space, least", "bytes", "min(moorage_storage_free_bytes{$S})"),
        now("Pulls waiting", "short", "sum(moorage_pulls_waiting{$S})"),
        now("Oldest feed", "s", "max(moorage_vulnerability_feed_age_seconds{$S})"),
      ],
    },
    {
      title: "Requests",
      panels: [
        lines("Requests by part of the server", "reqps", rate("moorage_http_requests_total", HANDLER)),
        lines(
          "Errors by status",
          "reqps",
          rate("moorage_http_requests_total", "status", `status=~"5..|429|aborted", `),
        ),
        lines("99th percentile", "s", percentile(0.99, "moorage_http_request_duration_seconds", HANDLER)),
        lines("Under way", "short", [`sum by (${HANDLER}) (moorage_http_requests_in_flight{$S})`, `{{${HANDLER}}}`]),
        lines("Refused by rate limits", "reqps", rate("moorage_rate_limited_total", "kind")),
        lines("API calls by code", "reqps", rate("moorage_rpc_requests_total", "code", `code!="OK", `)),
      ],
    },
    {
      title: "API",
      panels: [
        lines("Most called methods", "reqps", [
          "topk(10, sum by (method) (rate(moorage_rpc_requests_total{$S}[$__rate_interval])))",
          "{{method}}",
        ]),
        lines(
          "Slowest methods, mean",
          "s",
          mean("moorage_rpc_request_seconds_total", "moorage_rpc_requests_total", "method"),
        ),
        lines("99th percentile by service", "s", percentile(0.99, "moorage_rpc_request_duration_seconds", "service")),
      ],
    },
    {
      title: "Machines",
      panels: [
        lines("Processors in use", "short", [
          "sum by (instance) (rate(process_cpu_seconds_total{$S}[$__rate_interval]))",
          "{{instance}}",
        ]),
        lines("Memory", "bytes", ["sum by (instance) (process_resident_memory_bytes{$S})", "{{instance}}"]),
        lines("Event loop late, 99th percentile", "s", [
          "max by (instance) (nodejs_eventloop_lag_p99_seconds{$S})",
          "{{instance}}",
        ]),
        lines("Open files", "short", ["sum by (instance) (process_open_fds{$S})", "{{instance}}"]),
        lines("JavaScript heap", "bytes", ["sum by (instance) (nodejs_heap_size_used_bytes{$S})", "{{instance}}"]),
        lines("Running since", "dateTimeFromNow", [
          "min by (instance) (process_start_time_seconds{$S}) * 1000",
          "{{instance}}",
        ]),
      ],
    },
  ],
};
