import { createTurns } from "@moorage/kernel/lib/turns";
import { createLru } from "@moorage/kernel/lib/lru";
import type { GatedImage, GateRules, GateVerdict, JudgePull } from "@moorage/registry/registry";
import type { Database } from "@moorage/kernel/store";
import { type Counted, countFindings, passes, staleOf, together, verdictOn } from "./count.ts";
import { manifestOf, namedImages, platformsIn } from "../coverage/images.ts";
import { findingsState } from "./state.ts";
import type { ManifestContent } from "../coverage/image-knowledge.ts";

/** What was found in an image. `readMs` and `checkedMs`: when it was read, and last known to be so. */
interface Known {
  counted: Counted;
  /** See findingsState. */
  state: string | undefined;
  readMs: number;
  checkedMs: number;
}

const MAX_KNOWN = 10_000;
/** Of so many sets of ecosystems it is known which feeds are stale. */
const MAX_STALE = 1_000;
/** For so long an answer is given again without looking at the database. */
const FRESH_MS = 1_000;
// What findingsState does not see, such as another name of the image, counts after this time.
const MAX_AGE_MS = 60_000;

/**
 * Judges pulls. What was found in an image is kept in memory, and read again when a statement says that it may have
 * changed. Calls that ask for the same at one time share the reading.
 */
export function createPullGate(): JudgePull {
  const memory = createLru<string, Known>(MAX_KNOWN);
  const reading = new Map<string, Promise<Known>>();
  const read = async (tx: Database, asked: Asked, rules: GateRules, nowMs: number): Promise<Known> => {
    const { manifest = await manifestOf(tx, asked), ...image } = asked;
    // Read first: what changes meanwhile is seen the next time.
    const state = await findingsState(tx, image);
    const found = await countFindings(tx, { ...image, manifest }, rules, nowMs, { turn: createTurns() });
    return { state, counted: found, readMs: nowMs, checkedMs: nowMs };
  };
  const counted = async (tx: Database, image: Asked, rules: GateRules, nowMs: number): Promise<Counted> => {
    const key = keyOf(image, rules);
    const known = memory.get(key);
    if (known !== undefined && isCurrent(known, nowMs)) {
      if (Math.abs(nowMs - known.checkedMs) < FRESH_MS) return known.counted;
      if (known.state !== undefined && known.state === (await findingsState(tx, image))) {
        known.checkedMs = nowMs;
        return known.counted;
      }
    }
    let begun = reading.get(key);
    if (begun === undefined) {
      begun = read(tx, image, rules, nowMs).finally(() => reading.delete(key));
      reading.set(key, begun);
    }
    const found = await begun;
    memory.set(key, found);
    return found.counted;
  };
  const staleness = createLru<string, { stale: GateVerdict["stale"]; readMs: number }>(MAX_STALE);
  const verdict = async (tx: Database, found: Counted, rules: GateRules, nowMs: number) => {
    const key = found.spaces.toSorted().join("\n");
    const known = staleness.get(key);
    const isFresh = known !== undefined && Math.abs(nowMs - known.readMs) < FRESH_MS;
    const stale = isFresh ? known.stale : await staleOf(tx, found.spaces, nowMs);
    if (!isFresh) staleness.set(key, { stale, readMs: nowMs });
    return verdictOn(found, rules, stale);
  };
  return async (tx, { repo, digest, mediaType, content }, rules, nowMs) => {
    const turn = createTurns();
    const whole = await counted(tx, { repo, digest, manifest: { mediaType, content } }, rules, nowMs);
    const counts = [whole];
    for (const each of namedImages(mediaType, content)) {
      await turn();
      const found = await counted(tx, { repo, digest: each }, rules, nowMs);
      counts.push(found);
      if (whole.count > 0) continue;
      // A client that asks for another platform is answered for that one. What is not here is judged when it is asked
      // for: only then is it fetched, if it is.
      if (!found.isHeld) return undefined;
      if (passes(found, rules)) return await verdict(tx, found, rules, nowMs);
    }
    const platforms = platformsIn([{ mediaType, content }]);
    return await verdict(tx, together(counts, platforms), rules, nowMs);
  };
}

/** An image, and its manifest where that has been read. */
interface Asked extends GatedImage {
  manifest?: ManifestContent;
}

function isCurrent({ counted: { untilMs }, readMs }: Known, nowMs: number): boolean {
  // Calls under way at one time are not answered in the order of their times, and a clock may be set back.
  const ageMs = nowMs - readMs;
  return nowMs < untilMs && ageMs > -FRESH_MS && ageMs < MAX_AGE_MS;
}

/** What an image is remembered under: what was found in it depends on the rules. */
export function keyOf(
  { repo, digest }: GatedImage,
  { severity, fixableOnly, exploitedOnly, graceMs }: GateRules,
): string {
  return `${repo} ${digest} ${severity} ${fixableOnly} ${exploitedOnly} ${graceMs}`;
}
