import { type Dashboard, lines, mean, now, percentile, rate } from "./panels.ts";

export const database: Dashboard = {
  uid: "moorage-database",
  title: "Moorage: database and storage",
  about: "Transactions, the blob store, free space, and versions of the schema.",
  rows: [
    {
      title: "Now",
      panels: [
        now("Schema of the database", "short", "max(moorage_schema_version{$S})"),
        now("Oldest process's schema", "short", "min(moorage_schema_version_lowest{$S})"),
        now("Newest process's schema", "short", "max(moorage_schema_version_highest{$S})"),
        now("Times it went back", "short", "sum(moorage_database_went_back_total{$S})"),
        now("Free space, least", "bytes", "min(moorage_storage_free_bytes{$S})"),
        now("Storage full", "short", "max(moorage_storage_full{$S})"),
      ],
    },
    {
      title: "Transactions",
      panels: [
        lines("Most frequent", "ops", [
          "topk(10, sum by (operation) (rate(moorage_database_transactions_total{$S}[$__rate_interval])))",
          "{{operation}}",
        ]),
        lines(
          "Slowest, mean",
          "s",
          mean("moorage_database_transaction_seconds_total", "moorage_database_transactions_total", "operation"),
        ),
        lines(
          "99th percentile by area",
          "s",
          percentile(0.99, "moorage_database_transaction_duration_seconds", "area"),
        ),
        lines("Errors", "ops", rate("moorage_database_transactions_total", "outcome", `outcome!="OK", `)),
        lines("Waiting or running", "short", [
          "sum by (area) (moorage_database_transactions_in_flight{$S})",
          "{{area}}",
        ]),
        lines("Writes that wait or run", "short", [
          "sum by (instance) (moorage_database_write_queue_length{$S})",
          "{{instance}}",
        ]),
        lines("Connections to PostgreSQL", "short", ["sum by (state) (moorage_database_connections{$S})", "{{state}}"]),
        lines("Run again", "ops", rate("moorage_database_retries_total", "reason")),
        lines("Writer thread's deaths", "ops", [
          "sum by (instance) (rate(moorage_writer_thread_deaths_total{$S}[$__rate_interval]))",
          "{{instance}}",
        ]),
      ],
    },
    {
      title: "Blob store",
      panels: [
        lines("Operations", "ops", rate("moorage_blobs_operations_total", "operation")),
        lines("99th percentile", "s", percentile(0.99, "moorage_blobs_operation_duration_seconds", "operation")),
        lines("Errors", "ops", rate("moorage_blobs_operations_total", "outcome", `outcome!="OK", `)),
        lines(
          "Read and written",
          "Bps",
          ["sum(rate(moorage_blobs_read_bytes_total{$S}[$__rate_interval]))", "read"],
          ["sum(rate(moorage_blobs_written_bytes_total{$S}[$__rate_interval]))", "written"],
        ),
        lines("Lost content found", "short", [
          "sum by (fault) (increase(moorage_blobs_content_faults_total{$S}[1h]))",
          "{{fault}}",
        ]),
        lines("Lost content replaced", "short", [
          "sum(increase(moorage_blobs_content_replaced_total{$S}[1h]))",
          "replaced",
        ]),
      ],
    },
    {
      title: "Faults",
      panels: [
        lines("Storage faults", "ops", [
          "sum by (part, reason) (rate(moorage_storage_faults_total{$S}[$__rate_interval]))",
          "{{part}}: {{reason}}",
        ]),
        lines("Failing", "short", ["max by (part, reason) (moorage_storage_failing{$S})", "{{part}}: {{reason}}"]),
        lines("Free space", "bytes", ["min by (instance) (moorage_storage_free_bytes{$S})", "{{instance}}"]),
        lines("Disk reserve not written", "ops", [
          "sum by (instance) (rate(moorage_disk_reserve_failures_total{$S}[$__rate_interval]))",
          "{{instance}}",
        ]),
      ],
    },
  ],
};
