import { type Check, notChecked, ok, warning } from "./check.ts";
import { get } from "./request.ts";

const NAME = "backlogs";
const FIX = "see the server's log and docs/operations.md#metrics";
const MAX_LAG_S = 3_600;
const MANY = 1_000;
const MAX_METRICS_BYTES = 16 << 20;

/** What waits, by its metric. `longest`: in seconds; otherwise how many. */
const WAITING = [
  { metric: "moorage_event_backlog_age_seconds", longest: true, what: "events for a receiver" },
  { metric: "moorage_mirror_late_seconds", longest: true, what: "mirrored repos for their turn" },
  { metric: "moorage_vulnerability_backlog", longest: false, what: "images to be read" },
  { metric: "moorage_vulnerability_attached_backlog", longest: false, what: "attached documents to be read" },
  { metric: "moorage_vulnerability_matching_backlog", longest: false, what: "packages and records to be compared" },
] as const;

/** What waits too long, or too much of it, by the metrics, which most servers show to their own machine alone. */
export async function examineBacklogs(url: string): Promise<Check[]> {
  const answer = await get(`${url}/metrics`, { trusts: true, maxBytes: MAX_METRICS_BYTES });
  if (answer.status !== 200)
    return [
      notChecked(
        NAME,
        `${url}/metrics is not for this machine (${answer.status})`,
        "run moorage doctor on the server's machine, or add the address to MOORAGE_METRICS_NETWORKS",
      ),
    ];
  const checks = WAITING.map(({ metric, longest, what }) => {
    const most = highestOf(answer.text, metric);
    if (most === undefined) return notChecked(NAME, `${what}: the server has no metric ${metric}`);
    if (longest)
      return most > MAX_LAG_S
        ? warning(NAME, `${what} wait, the longest for ${Math.round(most / 60)} minutes`, FIX)
        : undefined;
    return most > MANY ? warning(NAME, `${most} ${what} wait`, FIX) : undefined;
  }).filter((check) => check !== undefined);
  return checks.length > 0
    ? checks
    : [ok(NAME, `no event or mirror waits for more than an hour, and no more than ${MANY} images or packages do`)];
}

/** The highest sample of a metric, 0 where it has none now; undefined where there is no such metric. */
function highestOf(text: string, metric: string): number | undefined {
  const lines = text.split("\n");
  if (!lines.some((line) => line.startsWith(`# TYPE ${metric} `))) return undefined;
  const samples = lines
    .filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  return samples.some(Number.isNaN) ? undefined : Math.max(0, ...samples);
}
