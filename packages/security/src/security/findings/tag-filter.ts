import { FindingSeverity, TagFindings } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { FactsOfTags, TagImage } from "@moorage/registry/registry";
import { FeedStates } from "../coverage/compared-feeds.ts";
import { knowledgeOf } from "../coverage/image-knowledge.ts";
import { manifestsBehind } from "../coverage/images.ts";
import { findingsOfImage } from "./read.ts";
import type { KnownVulnerabilities } from "./vulnerabilities.ts";

/** What is open in the images that a tag points to. */
interface Open {
  severities: Set<FindingSeverity>;
  /** Whether it is not known what vulnerabilities some of them have, or not of all that they hold. */
  isUnknown: boolean;
  /** Whether there is an image at all: charts, signatures and the like have no findings, and are not free of them. */
  isImage: boolean;
}

/** Judges images as the list of their findings and their coverage say, so that no filter says anything else. */
export const judgeTagFindings: FactsOfTags["findings"] = (call, asked) => {
  const feeds = new FeedStates(call.tx);
  const known: KnownVulnerabilities = new Map();
  return async (image) => fitsFindings(await openIn(call, image, feeds, known), asked);
};

async function openIn({ tx }: Call, image: TagImage, feeds: FeedStates, known: KnownVulnerabilities): Promise<Open> {
  const turn = createTurns();
  const { all, isWhole } = await manifestsBehind(tx, image);
  const found: Open = { severities: new Set(), isUnknown: !isWhole, isImage: !isWhole };
  for (const { digest, manifest } of all) {
    const each = { repo: image.repo, digest };
    // Before the findings: what is compared meanwhile is not known yet.
    const knowledge = await knowledgeOf(tx, each, manifest, feeds);
    if (knowledge === undefined) continue;
    found.isImage = true;
    found.isUnknown ||= knowledge.state !== "READ" || knowledge.coverage.unreadable > 0;
    const open = await findingsOfImage(tx, { ...each, state: "open" }, known, { turn });
    for (const { vulnerability } of open ?? []) found.severities.add(FindingSeverity[vulnerability.severity]);
    await turn();
  }
  return found;
}

const AT_LEAST: Readonly<Partial<Record<TagFindings, FindingSeverity>>> = {
  [TagFindings.CRITICAL]: FindingSeverity.CRITICAL,
  [TagFindings.HIGH]: FindingSeverity.HIGH,
  [TagFindings.MEDIUM]: FindingSeverity.MEDIUM,
  [TagFindings.ANY]: FindingSeverity.UNKNOWN,
};

function fitsFindings({ severities, isUnknown, isImage }: Open, asked: TagFindings): boolean | undefined {
  if (!isImage) return false;
  if (asked === TagFindings.UNKNOWN) return isUnknown;
  if (asked === TagFindings.NONE) return severities.size > 0 ? false : isUnknown ? undefined : true;
  const least = AT_LEAST[asked];
  if (least === undefined) return undefined;
  if ([...severities].some((severity) => severity >= least)) return true;
  // What has no severity yet may be of any.
  return isUnknown || severities.has(FindingSeverity.UNKNOWN) ? undefined : false;
}
