import { type Dashboard, lines, rate } from "./panels.ts";

const byFeed = (name: string): readonly [string, string] => [
  `max by (feed) (moorage_vulnerability_feed_${name}{$S})`,
  "{{feed}}",
];

export const securityData: Dashboard = {
  uid: "moorage-security-data",
  title: "Moorage: security data",
  about: "Feeds, the reading of images, findings, and scans.",
  rows: [
    {
      title: "Feeds",
      panels: [
        lines("Age", "s", byFeed("age_seconds")),
        lines("Failing", "short", byFeed("failing")),
        lines("Records", "short", byFeed("records")),
        lines("Records that could not be read", "short", byFeed("problems")),
        lines("Duration of the last import", "s", byFeed("import_duration_seconds")),
      ],
    },
    {
      title: "Images and findings",
      panels: [
        lines(
          "Waiting",
          "short",
          ["max(moorage_vulnerability_backlog{$S})", "images"],
          ["max by (kind) (moorage_vulnerability_matching_backlog{$S})", "to compare: {{kind}}"],
          ["max by (kind) (moorage_vulnerability_attached_backlog{$S})", "attached: {{kind}}"],
        ),
        lines("Images read", "ops", rate("moorage_vulnerability_catalogs_total", "outcome")),
        lines("Duration of reading an image", "s", [
          "histogram_quantile(0.95, sum by (le) (rate(moorage_vulnerability_catalog_duration_seconds_bucket{$S}[$__rate_interval])))",
          "95th percentile",
        ]),
        lines("Findings opened and closed", "ops", rate("moorage_vulnerability_findings_total", "change")),
        lines("Duration of comparing", "s", [
          "histogram_quantile(0.95, sum by (le) (rate(moorage_vulnerability_matching_duration_seconds_bucket{$S}[$__rate_interval])))",
          "95th percentile",
        ]),
        lines("Readers that ended early", "ops", rate("moorage_vulnerability_reader_deaths_total", "kind")),
        lines("Attached documents", "ops", rate("moorage_vulnerability_attached_documents_total", "outcome")),
      ],
    },
    {
      title: "Scans",
      panels: [
        lines("Begun", "ops", rate("moorage_vulnerability_scans_started_total", "type")),
        lines("Ended", "ops", rate("moorage_vulnerability_scans_total", "outcome")),
      ],
    },
  ],
};
