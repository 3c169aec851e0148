import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { GatedImage, GateRules, JudgePromotion, ToJudge } from "@moorage/registry/registry";
import type { Database } from "@moorage/kernel/store";
import { type Counted, countFindings, staleOf, together, verdictOn } from "./count.ts";
import { manifestsBehind, MAX_IMAGES, platformsIn } from "../coverage/images.ts";
import { keyOf } from "./pull.ts";
import { findingsState } from "./state.ts";

/** What was found in an image before a transaction, and what the database said of it then; see findingsState. */
interface Ahead {
  counted: Counted;
  state: string;
}

/** Judges the promotion of an image, by what the transaction reads. */
export const judgePromotion: JudgePromotion = async ({ tx, ahead = {} }, { repo, digest }, rules, nowMs) => {
  const known = new Map();
  const counts: Counted[] = [];
  const { all, isWhole } = await manifestsBehind(tx, { repo, digest });
  for (const each of all) {
    const before = ahead[keyOf({ repo, digest: each.digest }, rules)] as Ahead | undefined;
    const isSame =
      before !== undefined &&
      nowMs < before.counted.untilMs &&
      before.state === (await findingsState(tx, { repo, digest: each.digest }));
    counts.push(isSame ? before.counted : await countFindings(tx, { repo, ...each }, rules, nowMs, { known }));
  }
  const found = together(counts, platformsIn(all.flatMap(({ manifest }) => manifest ?? [])));
  if (!isWhole) {
    const reason = `it names more than ${MAX_IMAGES} manifests, or they are nested too deep: not all were looked at`;
    found.unknown = [{ digest, reason, waits: false, state: "NOT_READ" }, ...found.unknown];
  }
  return verdictOn(found, rules, await staleOf(tx, found.spaces, nowMs));
};

/**
 * Reads, in turns, what judging these images takes: an image with thousands of findings takes seconds, for which a
 * transaction would keep all other writes waiting. To be handed to the call as `ahead`.
 */
export async function readAhead(
  { tx, nowMs, requireCaller }: Pick<Call, "tx" | "nowMs" | "requireCaller">,
  repo: string,
  images: readonly ToJudge[],
): Promise<Record<string, Ahead>> {
  const turn = createTurns();
  const known = new Map();
  const ahead: Record<string, Ahead> = {};
  for (const { digest, rules } of images)
    for (const each of (await manifestsBehind(tx, { repo, digest })).all) {
      const found = await readOne(tx, { repo, ...each }, rules, nowMs, { known, turn });
      if (found !== undefined) ahead[keyOf({ repo, digest: each.digest }, rules)] = found;
      await turn();
      requireCaller();
    }
  return ahead;
}

async function readOne(
  tx: Database,
  image: GatedImage & Parameters<typeof countFindings>[1],
  rules: GateRules,
  nowMs: number,
  limits: Parameters<typeof countFindings>[4],
): Promise<Ahead | undefined> {
  // Read first: what changes meanwhile is seen in the transaction.
  const state = await findingsState(tx, image);
  const counted = await countFindings(tx, image, rules, nowMs, limits);
  return state === undefined ? undefined : { state, counted };
}
