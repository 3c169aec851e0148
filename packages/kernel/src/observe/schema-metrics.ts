import { Gauge, type Registry } from "prom-client";

/** Metrics of the schema versions that are at work in the installation. */
export interface SchemaMetrics {
  /** Sets the version of the database, and the lowest and highest that programs work with. */
  versions(found: { database: number; lowest: number; highest: number }): void;
}

/** Registers the gauges of schema versions. */
export function schemaMetrics(registry: Registry): SchemaMetrics {
  const gauge = (name: string, help: string, aggregator: "min" | "max"): Gauge =>
    new Gauge({ name, help, registers: [registry], aggregator });
  const database = gauge("moorage_schema_version", "The schema version of the database.", "max");
  const lowest = gauge(
    "moorage_schema_version_lowest",
    "The lowest schema version that a process serving the installation works with.",
    "min",
  );
  const highest = gauge(
    "moorage_schema_version_highest",
    "The highest schema version that a process serving the installation works with.",
    "max",
  );
  return {
    versions(found) {
      database.set(found.database);
      lowest.set(found.lowest);
      highest.set(found.highest);
    },
  };
}
