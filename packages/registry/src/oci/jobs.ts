import { HOUR_MS, type Job, type JobContext } from "@moorage/kernel/core/job";
import { describeProcess, processOfOtherSchema } from "@moorage/platform/processes";
import { cleanUploads } from "./blobs/stale-uploads.ts";
import { collectGarbage } from "./gc/collect.ts";
import { gcMetrics } from "./gc/metrics.ts";

export function ociJobs(context: JobContext): Job[] {
  const { config } = context;
  return [
    {
      name: "uploads",
      everyMs: HOUR_MS,
      done: "abandoned uploads cleaned",
      run: (signal) => cleanUploads(context, signal),
    },
    // With an interval of zero only the command collects garbage.
    ...(config.gcIntervalMs === 0 ? [] : [collection(context)]),
  ];
}

function collection({ transactor, reader, blobs, clock, config, log, metrics }: JobContext): Job {
  const { gcIntervalMs: everyMs, gcGraceMs: graceMs, uploadTtlMs } = config;
  return {
    name: "gc",
    everyMs,
    done: "garbage collected",
    async isDue() {
      const other = await processOfOtherSchema(reader, clock.agreedMs());
      if (other !== undefined) log.warn(`nothing is collected while ${describeProcess(other)}, runs beside this one`);
      return other === undefined;
    },
    async run(signal) {
      const nowMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const result = await collectGarbage(
        { transactor, blobs },
        { nowMs, agreedMs: clock.agreedMs(), graceMs, uploadTtlMs, dryRun: false, signal },
      );
      metrics(gcMetrics).ran(result, clock.nowMs());
      return { ...result, durationMs: Math.round(clock.monotonicMs() - startedMs) };
    },
  };
}
