import { bytes, count, counted } from "../../../lib/bytes.ts";
import { SEVERITY_PLACES, type SeverityCounts } from "../../../lib/severities.ts";
import type { Move } from "./timeline-layout.ts";

/** What the columns of the timeline are as high as, with the words for the choice. */
export const MEASURES = [
  ["findings", "Findings"],
  ["size", "Size"],
  ["packages", "Packages"],
] as const;
export type Measure = (typeof MEASURES)[number][0];

/** What a column is made of, from the baseline up. */
export interface ColumnParts {
  parts: readonly (readonly [tone: keyof SeverityCounts | "plain", value: number])[];
  total: number;
  /** The whole, as it stands above the column. */
  text: string;
  /** Whether there are more than were read. */
  isMore?: boolean;
}

/** What is known of the moves that are seen. */
export interface ColumnsOf {
  /** Undefined while it is read, and where it is not known. */
  of(move: Move | undefined): ColumnParts | undefined;
  /** Whether so much is seen that nothing was asked for. */
  isTooMuch: boolean;
}

/** What the address says; anything else is findings. */
export function measureOf(text: string | undefined): Measure {
  return MEASURES.find(([each]) => each === text)?.[0] ?? "findings";
}

/**
 * Findings, critical ones on the baseline so that they can be compared across columns. `isMore`: there are more than
 * these.
 */
export function findingParts(counts: SeverityCounts, isMore = false): ColumnParts {
  const places = [...SEVERITY_PLACES.map(([place]) => place), "other" as const];
  const parts = places.map((place) => [place, counts[place]] as const);
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  return { parts, total, text: isMore ? `${count(total)}+` : count(total), isMore };
}

/** The findings that a column is made of. */
export function severitiesIn({ parts }: ColumnParts): SeverityCounts {
  return { critical: 0, high: 0, medium: 0, low: 0, other: 0, ...Object.fromEntries(parts) };
}

/** One number, such as a size in bytes or how many packages there are. */
export function plainParts(measure: Exclude<Measure, "findings">, value: number): ColumnParts {
  return { parts: [["plain", value]], total: value, text: measure === "size" ? bytes(value) : count(value) };
}

/** What a column stands for, in words: `3 packages`, `1.50 MiB`, or that it is not known. */
export function columnWords(measure: Measure, column: ColumnParts | undefined): string {
  if (column === undefined) return `${measure} not known`;
  if (measure === "size") return column.text;
  const words = counted(column.total, measure === "packages" ? "package" : "finding");
  return column.isMore === true ? `at least ${words}` : words;
}

/**
 * How many packages the largest of the images holds; undefined where it is not known of one of them: it may hold more.
 */
export function packagesIn(images: readonly { state: string; packages: number }[]): number | undefined {
  if (images.length === 0 || images.some(({ state }) => !isHeldKnown(state))) return undefined;
  return Math.max(...images.map(({ packages }) => packages));
}

// Without data of feeds it is still known what an image holds.
const isHeldKnown = (state: string): boolean => state === "KNOWLEDGE_STATE_READ" || state === "KNOWLEDGE_STATE_NO_DATA";
