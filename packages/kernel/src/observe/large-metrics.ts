import { Counter, Gauge, type Registry } from "prom-client";
import { beginAtZero } from "../core/zeros.ts";

/** Metrics of answers that are made in other processes. */
export interface LargeMetrics {
  /** Counts such an answer. `outcome`: from a bounded set. */
  answered(outcome: string): void;
  /** Counts work that was done in such a process for a job. `task`: from a bounded set. */
  worked(task: string): void;
  /** Sets where to read what the answers that are made or sent hold, in bytes, and how many calls wait. */
  watch(use: () => { bytes: number; waiting: number }): void;
}

/** Registers the metrics of answers that are made in other processes. */
export function largeMetrics(registry: Registry): LargeMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    name: "moorage_large_answers_total",
    help: "Answers too large for the thread of requests, which another process made, by how that ended.",
    labelNames: ["outcome"],
    registers,
  });
  beginAtZero(outcomes, { outcome: ["ok", "error", "busy", "timeout", "memory", "died", "aborted"] });
  const tasks = new Counter({
    name: "moorage_large_tasks_total",
    help: "Work for jobs that was too large for the thread of requests and was done by another process, by what it was.",
    labelNames: ["task"],
    registers,
  });
  let use = (): { bytes: number; waiting: number } => ({ bytes: 0, waiting: 0 });
  registry.registerMetric(
    new Gauge({
      name: "moorage_large_answers_bytes",
      help: "What answers of other processes that are made or sent now hold of the memory for them, in bytes.",
      registers,
      collect() {
        this.set(use().bytes);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "moorage_large_answers_waiting",
      help: "Calls that wait for memory for a large answer.",
      registers,
      collect() {
        this.set(use().waiting);
      },
    }),
  );
  return {
    answered: (outcome) => outcomes.inc({ outcome }),
    worked: (task) => tasks.inc({ task }),
    watch(read) {
      use = read;
    },
  };
}
