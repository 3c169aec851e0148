import type { JudgePromotion } from "../../registry/index.ts";
import { type Counted, countFindings, together } from "./count.ts";
import { imagesOfIndex } from "./images.ts";

/** Judges the promotion of an image, by what the transaction reads. */
export const judgePromotion: JudgePromotion = async (tx, { repo, digest }, rules, nowMs) => {
  const known = new Map();
  const counts: Counted[] = [];
  for (const each of [digest, ...(await imagesOfIndex(tx, { repo, digest }))])
    counts.push(await countFindings(tx, { repo, digest: each }, rules, nowMs, known));
  const { count, worst } = together(counts);
  return count === 0 ? undefined : { count, worst };
};
