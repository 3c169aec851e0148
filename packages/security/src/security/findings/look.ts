import type { Database } from "@moorage/kernel/store";
import { FeedStates } from "../coverage/compared-feeds.ts";
import { knowledgeOf } from "../coverage/image-knowledge.ts";
import { manifestOf } from "../coverage/images.ts";
import { nameOf, tagsOfImages } from "../images/images.ts";
import { differences, emittedOf, type Notice } from "./notices.ts";
import { findingsOfImage } from "./read.ts";
import type { KnownVulnerabilities } from "./vulnerabilities.ts";

/**
 * Images that are looked at together: what is known of vulnerabilities and feeds is read once for all of them. With so
 * many findings no other image is added.
 */
const BATCH_IMAGES = 50;
const BATCH_FINDINGS = 2_000;

/**
 * The next images that wait, with what differs from what was emitted of them. `turn` is awaited between two, and while
 * one is read, so that requests go first.
 */
export async function lookAtImages(db: Database, turn: () => Promise<void> | undefined): Promise<Notice[]> {
  // Their marks are read before their findings: what changes later brings another mark.
  const checks = await db
    .selectFrom("finding_checks")
    .select(["repo", "digest", "mark"])
    .orderBy("digest")
    .orderBy("repo")
    .limit(BATCH_IMAGES)
    .execute();
  const known: KnownVulnerabilities = new Map();
  const feeds = new FeedStates(db);
  const tags = await tagsOfImages(db, checks);
  const found: Notice[] = [];
  let left = BATCH_FINDINGS;
  for (const check of checks) {
    if (left <= 0) break;
    const { repo, digest } = check;
    const findings = await findingsOfImage(db, { repo, digest, state: "open" }, known, { turn });
    const differ = differences(await emittedOf(db, check), findings ?? []);
    const isKnown = findings !== undefined;
    // Most images are the same as before. What is known of one is for its event alone.
    const isEmitted = isKnown && differ.opened.length + differ.closed.length > 0;
    const image = isEmitted ? await knowledgeOf(db, check, await manifestOf(db, check), feeds) : undefined;
    const { state = "UNSPECIFIED", reason = "" } = image ?? {};
    const names = tags.get(nameOf(check))?.names ?? [];
    found.push({ ...check, isKnown, tags: names, state, reason, ...differ });
    left -= differ.count;
    await turn();
  }
  return found;
}
