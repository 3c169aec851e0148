import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { enforced } from "../judging/judge.ts";
import type { HoldingPolicy } from "../judging/types.ts";
import type { JudgeSignedPull } from "./pull.ts";

/** How many records of a tag's history before the present one are looked at. */
const MAX_BACK = 20;

const selectBack = statement<{ digest: string }>(
  `select digest from tag_history where repo = ? and tag = ? order by time desc limit ${MAX_BACK + 1}`,
);
const selectContent = statement<{ media_type: string; content: Uint8Array }>(
  "select media_type, content from manifests where repo = ? and digest = ?",
);

/** Whether all policies that block an image let its tag be answered with an earlier one. */
export function holdsTags(held: readonly HoldingPolicy[]): boolean {
  return held.length > 0 && held.every(({ holdsTag }) => holdsTag);
}

/**
 * The last digest that the tag pointed to before this one, and that no enforcing policy blocks. Undefined when it
 * is not among the last records of its history, not held any longer, or was there before the tag was deleted.
 */
export async function lastPassing(
  call: Pick<Call, "tx" | "nowMs">,
  judge: JudgeSignedPull,
  { repo, tag, digest }: { repo: string; tag: string; digest: string },
): Promise<string | undefined> {
  const rows = await selectBack(call.tx, repo, tag);
  for (const before of new Set(rows.map((row) => row.digest))) {
    if (before === "") return undefined;
    if (before === digest) continue;
    const [found] = await selectContent(call.tx, repo, before);
    if (found === undefined) continue;
    const image = { repo, digest: before, mediaType: found.media_type, content: found.content };
    const verdict = await judge(call, image);
    if (enforced(verdict?.holding ?? []).length === 0) return before;
  }
  return undefined;
}
