import { type Dashboard, lines, percentile, rate } from "./panels.ts";

const OURS = `verb=~"(npm|pypi|maven)_.*", `;

export const libraries: Dashboard = {
  uid: "moorage-libraries",
  title: "Moorage: libraries",
  about: "npm, PyPI and Maven: their clients, upstreams, and what policies block.",
  rows: [
    {
      title: "Clients",
      panels: [
        lines("Requests", "reqps", rate("moorage_registry_requests_total", "verb", OURS)),
        lines(
          "Answers from 400 on",
          "reqps",
          rate("moorage_registry_requests_total", "status", `${OURS}status=~"4..|5..", `),
        ),
        lines("99th percentile", "s", percentile(0.99, "moorage_registry_request_duration_seconds", "verb", OURS)),
      ],
    },
    {
      title: "Upstreams",
      panels: [
        lines("Asked", "reqps", rate("moorage_library_upstream_requests_total", "ecosystem")),
        lines("By how it ended", "reqps", rate("moorage_library_upstream_requests_total", "outcome")),
        lines("Received", "Bps", rate("moorage_library_upstream_received_bytes_total", "ecosystem")),
      ],
    },
    {
      title: "Policies and large answers",
      panels: [
        lines("Blocked", "reqps", [
          "sum by (reason, mode) (rate(moorage_library_blocks_total{$S}[$__rate_interval]))",
          "{{reason}} ({{mode}})",
        ]),
        lines("Missing in the list of blocks", "ops", [
          "sum(rate(moorage_library_blocks_dropped_total{$S}[$__rate_interval]))",
          "requests",
        ]),
        lines("Answers of other processes", "reqps", rate("moorage_large_answers_total", "outcome")),
        lines("Memory of these answers", "bytes", [
          "sum by (instance) (moorage_large_answers_bytes{$S})",
          "{{instance}}",
        ]),
        lines("Calls that wait for that memory", "short", [
          "sum by (instance) (moorage_large_answers_waiting{$S})",
          "{{instance}}",
        ]),
      ],
    },
  ],
};
