import { SignatureState } from "@moorage/api/messages";
import type { Database } from "@moorage/kernel/store";
import { signersAbove } from "../signatures/read.ts";
import { factsOf } from "./facts.ts";

/** What the signers are called that have signed a layer of an attached manifest, or the manifest itself. */
export type NamesOfSigners = (manifest: string, layer: number) => string[];

/**
 * Who of the signers of the repo's groups has signed the documents in these manifests, which are attached to the
 * subject: by an attestation about it that is the document, or by a signature of the manifest itself.
 */
export async function documentSigners(
  tx: Database,
  { repo, subject, manifests, nowMs }: { repo: string; subject: string; manifests: readonly string[]; nowMs: number },
): Promise<NamesOfSigners> {
  const signers = manifests.length === 0 ? [] : await signersAbove(tx, repo);
  if (signers.length === 0) return () => [];
  const names = new Map(signers.map(({ uid, name }) => [uid, name]));
  const known = signers.map((signer) => ({ ...signer, isKeyless: false }));
  const facts = await factsOf(tx, { repo, digests: [...new Set([subject, ...manifests])], signers: known, nowMs });
  const trusted = (digest: string) =>
    (facts.get(digest)?.facts ?? []).filter(({ state }) => state === SignatureState.TRUSTED);
  const attested = trusted(subject);
  return (manifest, layer) => {
    const by = [
      ...attested.filter((fact) => fact.manifest === manifest && fact.layer === layer),
      ...trusted(manifest).filter(({ predicateType }) => predicateType === ""),
    ];
    return [...new Set(by.flatMap(({ signer }) => names.get(signer) ?? []))].sort();
  };
}
