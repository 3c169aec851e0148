import type { Database } from "@moorage/kernel/store";
import { asksForClaims } from "./claims.ts";
import type { ManifestContent } from "./documents.ts";
import { factsOf } from "./facts.ts";
import type { InForce } from "./in-force.ts";
import { surroundingsOf } from "./structure.ts";
import { NO_TAGS, tagsOf } from "./tags.ts";
import type { CompiledPolicy, Evidence, SignedManifest } from "./types.ts";

/** Manifests of a repo that are to be judged. `given`: see surroundingsOf. */
export interface Asked {
  repo: string;
  digests: readonly string[];
  given?: ReadonlyMap<string, ManifestContent>;
}

/** Reads all that these manifests are judged by, with as many statements for one as for a hundred. */
export async function readEvidence(
  tx: Database,
  { repo, digests, given }: Asked,
  { policies, signers, path }: InForce,
  nowMs: number,
): Promise<Map<string, Evidence>> {
  const around = await surroundingsOf(tx, repo, digests, given);
  const all = new Set<string>(digests);
  for (const { indexes, images } of around.values()) for (const each of [...indexes, ...images]) all.add(each);
  const readsClaims = policies.some(({ rules }) => rules.some(asksForClaims));
  const signed = await factsOf(tx, { repo, digests: [...all], signers, nowMs, readsClaims });
  const tags = policies.some(readsTags) ? await tagsOf(tx, repo, [...all]) : NO_TAGS;
  const signerNames = new Map(signers.map(({ uid, name }) => [uid, name]));
  const found = new Map<string, Evidence>();
  for (const [digest, { kind, heldMs, indexes, hasAllIndexes, images, hasAllImages }] of around) {
    const upwards = [digest, ...indexes];
    found.set(digest, {
      repo,
      path,
      digest,
      kind,
      ...(heldMs !== undefined && { heldMs }),
      tags: namesOf(tags.all, upwards),
      currentTags: namesOf(tags.current, upwards),
      hasAllTags: tags.isWhole && hasAllIndexes,
      own: of(signed, digest),
      indexes: [...indexes].map((each) => of(signed, each)),
      images: [...images].map((each) => of(signed, each)),
      hasAllImages,
      signerNames,
    });
  }
  return found;
}

function readsTags({ coversTag, exemptions }: CompiledPolicy): boolean {
  return coversTag !== undefined || exemptions.some(({ tag }) => tag !== "");
}

function namesOf(tags: ReadonlyMap<string, readonly string[]>, digests: readonly string[]): string[] {
  return [...new Set(digests.flatMap((digest) => tags.get(digest) ?? []))];
}

function of(signed: ReadonlyMap<string, SignedManifest>, digest: string): SignedManifest {
  return signed.get(digest) ?? { digest, facts: [], waits: false, waitsFor: new Set(), unread: [] };
}
