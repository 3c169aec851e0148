import type { JudgePromotion } from "../../registry/index.ts";
import { type Counted, countFindings, together, verdictOn } from "./count.ts";
import { manifestsBehind, MAX_IMAGES } from "./images.ts";

/** Judges the promotion of an image, by what the transaction reads. */
export const judgePromotion: JudgePromotion = async (tx, { repo, digest }, rules, nowMs) => {
  const known = new Map();
  const counts: Counted[] = [];
  const { all, isWhole } = await manifestsBehind(tx, { repo, digest });
  for (const each of all) counts.push(await countFindings(tx, { repo, ...each }, rules, nowMs, { known }));
  const found = together(counts);
  if (!isWhole) {
    const reason = `it names more than ${MAX_IMAGES} manifests, or they are nested too deep: not all were looked at`;
    found.unknown = [{ digest, reason, waits: false }, ...found.unknown];
  }
  return verdictOn(found, rules);
};
