import { type Dashboard, lines, percentile, rate } from "./panels.ts";

export const registry: Dashboard = {
  uid: "moorage-registry",
  title: "Moorage: registry",
  about: "Pulls and pushes of images, mirrors, and garbage collection.",
  rows: [
    {
      title: "Pulls and pushes",
      panels: [
        lines("Requests by what is asked for", "reqps", rate("moorage_registry_requests_total", "verb")),
        lines("Answers from 400 on", "reqps", rate("moorage_registry_requests_total", "status", `status=~"4..|5..", `)),
        lines("99th percentile", "s", percentile(0.99, "moorage_registry_request_duration_seconds", "verb")),
        lines("Sent", "Bps", rate("moorage_registry_sent_bytes_total", "verb")),
        lines("Received", "Bps", rate("moorage_registry_received_bytes_total", "verb")),
        lines("Under way", "short", ["sum by (verb) (moorage_registry_requests_in_flight{$S})", "{{verb}}"]),
        lines("Pulls that wait for their turn", "short", [
          "sum by (instance) (moorage_pulls_waiting{$S})",
          "{{instance}}",
        ]),
        lines("Pulls and gates", "reqps", [
          "sum by (outcome, reason) (rate(moorage_gated_pulls_total{$S}[$__rate_interval]))",
          "{{outcome}}: {{reason}}",
        ]),
      ],
    },
    {
      title: "Mirrors",
      panels: [
        lines("Turns by how they ended", "ops", rate("moorage_mirror_turns_total", "outcome")),
        lines("Tags that could not be copied", "ops", rate("moorage_mirror_failed_tags_total", "failure")),
        lines("The most overdue mirror", "s", ["max(moorage_mirror_late_seconds{$S})", "late"]),
        lines("Received from sources", "Bps", [
          "sum(rate(moorage_mirror_received_bytes_total{$S}[$__rate_interval]))",
          "blobs",
        ]),
        lines("Copied manifests", "ops", [
          "sum(rate(moorage_mirror_manifests_total{$S}[$__rate_interval]))",
          "manifests",
        ]),
        lines("Pulled through", "ops", rate("moorage_mirror_pulls_total", "outcome")),
      ],
    },
    {
      title: "Garbage collection",
      panels: [
        lines("Last complete run", "s", ["time() - max(moorage_gc_last_success_time_seconds{$S} > 0)", "ago"]),
        lines(
          "Removed in an hour",
          "short",
          ["sum(increase(moorage_gc_tags_total{$S}[1h]))", "tags"],
          ["sum(increase(moorage_gc_manifests_total{$S}[1h]))", "manifests"],
          ["sum(increase(moorage_gc_blobs_total{$S}[1h]))", "blobs"],
        ),
        lines("Freed in an hour", "bytes", ["sum(increase(moorage_gc_bytes_total{$S}[1h]))", "content"]),
      ],
    },
  ],
};
