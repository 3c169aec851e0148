import { timeAt } from "../records/fields.ts";
import { numberedLines } from "./lines.ts";
import type { Part } from "./parts.ts";
import { problemOf, type Read, recordOf, SourceError, UnreadableRecord } from "../records/record.ts";

/** The probability that a vulnerability is exploited in the next 30 days, and its rank among all; both 0 to 1. */
export interface EpssBody {
  epss: number;
  percentile: number;
}

const MAX_LINE_BYTES = 4_096;

/**
 * Reads the scores of EPSS: a comment with the date, a line with the names of the columns, then
 * `CVE-2024-3094,0.84,0.99` and so on. A record has the id of the vulnerability, and an EpssBody. Source:
 * https://www.first.org/epss/data_stats.
 */
export async function* epssRecords(part: Part): AsyncGenerator<Read> {
  let modified: number | undefined;
  let hasHeader = false;
  for await (const { number, text } of numberedLines(part.bytes(), MAX_LINE_BYTES)) {
    const position = `line ${number}`;
    if (!hasHeader) {
      if (text?.startsWith("#")) modified = scoreDate(text);
      else if (text === "cve,epss,percentile") hasHeader = true;
      else throw new SourceError(`${part.name}: ${position} must be cve,epss,percentile`);
      continue;
    }
    const [id = "", epss, percentile, ...rest] = text?.split(",") ?? [];
    try {
      if (text === undefined) throw new UnreadableRecord(`is longer than ${MAX_LINE_BYTES} bytes`);
      if (rest.length > 0) throw new UnreadableRecord("has more than three columns");
      const body: EpssBody = { epss: shareAt(epss, "epss"), percentile: shareAt(percentile, "percentile") };
      yield recordOf({ id, modified: modified ?? 0, body: JSON.stringify(body) }, "cve");
    } catch (error) {
      yield problemOf(error, position, id);
    }
  }
  if (!hasHeader) throw new SourceError(`${part.name}: has no line cve,epss,percentile`);
}

function scoreDate(comment: string): number | undefined {
  const [, date] = /score_date:([^,\s]+)/.exec(comment) ?? [];
  try {
    // `+0000` is how it is published.
    return date === undefined ? undefined : timeAt(date.replace(/\+0000$/, "Z"), "score_date");
  } catch {
    return undefined;
  }
}

function shareAt(text: string | undefined, field: string): number {
  const share = text === undefined || !/^\d(?:\.\d+)?(?:e-\d+)?$/i.test(text) ? NaN : Number(text);
  if (!(share >= 0 && share <= 1)) throw new UnreadableRecord(`${field}: must be a number from 0 to 1`);
  return share;
}
