import { Counter, Gauge, type Registry } from "prom-client";
import type { StorageFault } from "../errors.ts";
import { sharedReading } from "../core/shared-reading.ts";

/** Metrics of what keeps the storage from its work. */
export interface StorageMetrics {
  /** An operation met the fault. */
  failed(fault: StorageFault): void;
  /** Whether the fault lasts. */
  failing(fault: StorageFault, isFailing: boolean): void;
  /** Whether some part of the storage is full. */
  full(isFull: boolean): void;
  /** Sets the source of the data folder's space; it is read at each scrape. */
  watch(read: () => Promise<{ freeBytes: number } | undefined>): void;
  /** The writer thread died. */
  writerDied(): void;
  /** An attempt to keep the disk reserve failed. */
  reserveFailed(): void;
}

export function storageMetrics(registry: Registry): StorageMetrics {
  const registers = [registry];
  const labelNames = ["part", "reason"];
  const faults = new Counter({
    name: "moorage_storage_faults_total",
    help: "Operations that met a fault of the storage, by its part and the reason.",
    labelNames,
    registers,
  });
  const failing = new Gauge({
    name: "moorage_storage_failing",
    help: "1 while a part of the storage fails, by the reason.",
    labelNames,
    registers,
  });
  const deaths = new Counter({
    name: "moorage_writer_thread_deaths_total",
    help: "Times that the thread that writes to SQLite died and was started again.",
    registers,
  });
  const reserve = new Counter({
    name: "moorage_disk_reserve_failures_total",
    help: "Attempts to keep the disk reserve that failed.",
    registers,
  });
  const isFull = new Gauge({
    name: "moorage_storage_full",
    help: "1 while a part of the storage is full, so that writes are refused.",
    registers,
    aggregator: "max",
  });
  const reading = sharedReading<{ freeBytes: number } | undefined>();
  const free = new Gauge({
    name: "moorage_storage_free_bytes",
    help: "Free bytes of the data folder's file system.",
    registers,
    aggregator: "min",
    async collect() {
      const space = await reading.look();
      // The last value of a file system that does not answer would be taken for a new one.
      if (space === undefined) this.remove();
      else this.set(space.freeBytes);
    },
  });
  free.remove();
  return {
    full: (given) => isFull.set(given ? 1 : 0),
    watch: reading.from,
    failed: ({ part, reason }) => faults.inc({ part, reason }),
    failing: ({ part, reason }, isFailing) => failing.set({ part, reason }, isFailing ? 1 : 0),
    writerDied: () => deaths.inc(),
    reserveFailed: () => reserve.inc(),
  };
}
