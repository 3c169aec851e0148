import { SignatureState, TagSignature } from "@moorage/api/messages";
import type { FactsOfTags, TagImage } from "../../registry/index.ts";
import { type Database, statement } from "@moorage/kernel/store";
import { entryWorth, manifestWorth } from "./judge.ts";
import { signaturesOf } from "./read.ts";

const selectHeld = statement("select 1 as one from manifests where repo = ? and digest = ?");

/** Whether what a tag points to is signed as it is asked for, by the verdicts that ListImageSignatures answers. */
export const judgeTagSignatures: FactsOfTags["signatures"] =
  ({ tx, nowMs }, asked) =>
  async (image) => {
    const found = await signatureOf(tx, image, nowMs);
    if (found === asked) return true;
    return found === TagSignature.UNKNOWN ? undefined : false;
  };

async function signatureOf(tx: Database, { repo, digest }: TagImage, nowMs: number): Promise<TagSignature> {
  // What is attached to what is not here is not here either.
  if ((await selectHeld(tx, repo, digest)).length === 0) return TagSignature.UNKNOWN;
  const { manifests, signers, leftOut, pending } = await signaturesOf(tx, { repo, digest, atMs: nowMs });
  const states = manifests.flatMap((manifest) => {
    const whole = manifestWorth(manifest, nowMs);
    if (whole !== undefined) return [whole.state];
    return manifest.entries
      .filter((entry) => entry.predicate_type === "")
      .map((entry) => entryWorth(manifest, entry, signers, nowMs).state);
  });
  if (states.includes(SignatureState.TRUSTED)) return TagSignature.TRUSTED;
  if (pending || leftOut > 0 || states.includes(SignatureState.WAITING)) return TagSignature.UNKNOWN;
  return states.length > 0 ? TagSignature.UNTRUSTED : TagSignature.NONE;
}
