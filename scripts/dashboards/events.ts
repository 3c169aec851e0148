import { type Dashboard, lines, percentile, rate } from "./panels.ts";

export const events: Dashboard = {
  uid: "moorage-events",
  title: "Moorage: events",
  about: "Events and their deliveries, the audit log, and what could not be noted.",
  rows: [
    {
      title: "Deliveries",
      panels: [
        lines("Attempts by how they ended", "ops", rate("moorage_event_tries_total", "outcome")),
        lines("Failures by subscription", "ops", [
          "topk(10, sum by (subscription) (rate(moorage_event_failures_total{$S}[$__rate_interval])))",
          "{{subscription}}",
        ]),
        lines("95th percentile", "s", percentile(0.95, "moorage_event_try_duration_seconds", "outcome")),
        lines("Waiting, by subscription", "short", [
          "topk(10, max by (subscription) (moorage_event_backlog{$S}))",
          "{{subscription}}",
        ]),
        lines("The oldest that waits, by subscription", "s", [
          "topk(10, max by (subscription) (moorage_event_backlog_age_seconds{$S}))",
          "{{subscription}}",
        ]),
        lines("Events", "ops", ["deriv(max(moorage_event_newest{$S})[10m:])", "events"]),
      ],
    },
    {
      title: "Not noted",
      panels: [
        lines("Rejections missing in the audit log", "ops", [
          "sum(rate(moorage_audit_dropped_total{$S}[$__rate_interval]))",
          "rejections",
        ]),
        lines("Pulls without an event", "ops", [
          "sum(rate(moorage_events_dropped_total{$S}[$__rate_interval]))",
          "pulls",
        ]),
      ],
    },
  ],
};
