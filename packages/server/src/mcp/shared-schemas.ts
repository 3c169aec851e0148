import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { isoTime, milliseconds } from "@moorage/kernel/lib/timestamps";

/** Arguments and answers that several tools have. */
export const IMAGE = z.string().min(3).max(1024);
export const TIME = z
  .string()
  .max(64)
  .describe("An ISO 8601 time, in UTC without a zone; a date means the end of its day.");
export const PAGE_SIZE = z.int().min(1).max(200).default(50).describe("At most so many results.");
export const PAGE_TOKEN = z
  .string()
  .max(4096)
  .default("")
  .describe("The next_page_token of the page before, with the same other arguments.");
export const NEXT_PAGE_TOKEN = z.string().describe("Gives the next page, as page_token; empty on the last one.");

/** The time as ISO 8601; empty for none. */
export function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : isoTime(milliseconds(time));
}

/** The first lines of a list, and how many more there are. */
export function linesOf(lines: readonly string[], nextPageToken = "", max = 50): string {
  const more = lines.length - max;
  return [
    ...lines.slice(0, max),
    ...(more > 0 ? [`… and ${more} more in the structured answer`] : []),
    ...(nextPageToken === "" ? [] : ["More follow: call again with page_token = next_page_token."]),
  ].join("\n");
}
