import type { Row, Sample, Section, Sizes } from "./rows.ts";
import { say } from "./say.ts";

/** A section with the measurements of each of its rows. */
export interface Measured {
  title: string;
  rows: { row: Row; samples: Sample[] }[];
}

/**
 * The rows whose title, or the title of whose section, contains one of the words, and those they are compared with. All
 * rows without words, which are in lower case.
 */
export function pick({ title, rows }: Section, words: readonly string[]): Row[] {
  const has = (text: string): boolean => words.length === 0 || words.some((word) => text.toLowerCase().includes(word));
  const wanted = new Set(has(title) ? rows : rows.filter((row) => has(row.title)));
  // A row may be compared with one that is itself compared with another.
  for (const row of wanted)
    for (const { title: other } of row.against ?? [])
      for (const found of rows.filter((one) => one.title === other)) wanted.add(found);
  return rows.filter((row) => wanted.has(row));
}

/**
 * Measures rows alternately: a loop over rounds, in it one over rows, so that a change of the machine's speed during
 * the run affects all rows. The first round warms up and does not count. A row that fails is reported and not measured
 * again.
 */
export async function runSection(
  section: Section,
  { rounds, roundMs, warmMs }: Sizes,
  words: readonly string[],
): Promise<Measured> {
  const rows = pick(section, words).map((row) => ({ row, samples: [] as Sample[] }));
  const lost = new Set<Row>();
  for (let round = 0; round <= rounds; round += 1) {
    if (rows.length > 0)
      say(`${section.title}: ${round === 0 ? "warming up" : `round ${round} of ${rounds}`}, ${rows.length} rows`);
    for (const { row, samples } of section.alternates && round % 2 === 1 ? rows.toReversed() : rows) {
      if (lost.has(row)) continue;
      try {
        if (round === 0) await row.prepare?.();
        const sample = await row.measure({ round, durationMs: round === 0 ? warmMs : roundMs });
        if (sample.failure !== undefined) say(`${row.title}: ${sample.failure}`);
        if (round > 0 || sample.failure !== undefined) samples.push(sample);
      } catch (error) {
        lost.add(row);
        const failure = error instanceof Error ? error.message : String(error);
        samples.push({ rate: 0, failure });
        say(`${row.title}: ${failure}`);
      }
    }
  }
  return { title: section.title, rows };
}
