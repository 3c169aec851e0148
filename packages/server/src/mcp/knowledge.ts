import { KnowledgeState, type UnknownSummary } from "@moorage/api/messages";
import { z } from "zod";

// What tools say of images whose findings are not known, in the words of every other answer.

const STATES = ["READ", "NOT_READ", "NO_DATA", "NOT_STATED"] as const;

/** Whether the findings of an image are known. */
export const STATE = z.enum(STATES);

/** The name of a state. */
export function stateName(state: KnowledgeState): z.infer<typeof STATE> {
  switch (state) {
    case KnowledgeState.READ:
      return "READ";
    case KnowledgeState.NOT_READ:
      return "NOT_READ";
    case KnowledgeState.NO_DATA:
      return "NO_DATA";
    default:
      return "NOT_STATED";
  }
}

/** Packages that no feed covers, as tools answer them. */
export const UNCOVERED = {
  ecosystem: z.string().describe("With its release, as debian 12."),
  preset: z.string().describe("The preset of feeds that an operator would add; empty when none would help."),
};

/** Of how many images of a list about many the findings are not known. */
export const SUMMARY = z
  .object({
    not_read: z.number(),
    no_data: z.number(),
    at_least: z.boolean().describe("There may be more."),
    uncovered: z.array(z.object({ ...UNCOVERED, images: z.number() })),
  })
  .optional()
  .describe(
    "On the first page of a list about a whole repo: of how many of its images the findings are not known; list_unknown_images lists them.",
  );

/** The summary as tools answer it. */
export function summaryOf(summary: UnknownSummary | undefined): z.infer<typeof SUMMARY> {
  if (summary === undefined) return undefined;
  const { notRead, noData, atLeast, uncovered } = summary;
  return {
    not_read: notRead,
    no_data: noData,
    at_least: atLeast,
    uncovered: uncovered.map(({ ecosystem, images, preset }) => ({ ecosystem, preset, images })),
  };
}

/** The same in lines; none when all is known. */
export function summaryLines(summary: z.infer<typeof SUMMARY>): string[] {
  if (summary === undefined) return [];
  const { not_read: notRead, no_data: noData, at_least: atLeast, uncovered } = summary;
  if (notRead + noData === 0 && !atLeast) return [];
  return [
    `Not known of ${atLeast ? "at least " : ""}${counted(notRead + noData, "image")}: ${notRead} NOT_READ, ${noData} NO_DATA. list_unknown_images lists them.`,
    ...uncovered.map((each) => `No feed covers ${each.ecosystem}, in ${counted(each.images, "image")}${helpOf(each)}.`),
  ];
}

/** What an operator would do about it. */
export function helpOf({ preset }: { preset: string }): string {
  return preset === "" ? "" : `; moorage feeds add ${preset} would`;
}

/** A line about packages whose versions no order can compare; none without such packages. */
export function uncomparedLines(count: number, help = ""): string[] {
  if (count === 0) return [];
  return [`${counted(count, "package")} with a version that cannot be compared with those of records${help}.`];
}

/** Such as `1 image` and `2 images`. */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
