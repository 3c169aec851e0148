import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  RepoSchema,
  SignatureFormat,
  type SignatureSchema,
  type SignatureStateCountSchema,
  type SignaturesService,
  type SignatureTime,
} from "@moorage/api/messages";
import type { Service } from "@moorage/kernel/core/service";
import { notFound } from "@moorage/kernel/errors";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { repos } from "../../registry/index.ts";
import { entryWorth, manifestWorth, type SignerWorth, type Worth } from "./judge.ts";
import { type AttachedManifest, type AttachedSignatures, signaturesOf } from "./read.ts";

type SignatureInit = Exclude<MessageInitShape<typeof SignatureSchema>, { $typeName: string }>;
type CountInit = Exclude<MessageInitShape<typeof SignatureStateCountSchema>, { $typeName: string }>;

/** What signatures of images are worth: docs/signatures.md. Nothing is verified here. */
export const SIGNATURES: Pick<Service<typeof SignaturesService>, "listImageSignatures"> = {
  async listImageSignatures(call, { repoUid, digest, asOf }) {
    if ((await repos.find(call.tx, repoUid)) === undefined) throw notFound(RepoSchema.typeName, repoUid);
    const atMs = asOf === undefined ? call.nowMs : milliseconds(asOf);
    const found = await signaturesOf(call.tx, { repo: repoUid, digest, atMs });
    const signatures = found.manifests.flatMap((manifest) => signaturesIn(manifest, found, atMs));
    return {
      signatures,
      counts: countsOf(signatures),
      leftOut: found.leftOut,
      pending: found.pending,
    };
  },
};

function signaturesIn(manifest: AttachedManifest, { signers }: AttachedSignatures, atMs: number): SignatureInit[] {
  const { source, entries } = manifest;
  const attached: SignatureInit = {
    manifest: source.manifest,
    source: source.via,
    attachTime: timestamp(source.from_time),
    ...(source.until_time !== null && { detachTime: timestamp(source.until_time) }),
    attachedBy: source.attached_by,
  };
  const whole = manifestWorth(manifest, atMs);
  if (whole !== undefined) return [{ ...attached, format: SignatureFormat.UNSPECIFIED, ...worthFields(whole) }];
  return entries.map((entry) => {
    const { by, ...worth } = entryWorth(manifest, entry, signers, atMs);
    return {
      ...attached,
      number: entry.n,
      format: entry.format as SignatureFormat,
      predicateType: entry.predicate_type,
      identity: entry.identity,
      ...(entry.signed_time !== null && { signedTime: timestamp(entry.signed_time) }),
      timeSource: entry.time_source as SignatureTime,
      verdicts: by.map(verdictOf),
      ...worthFields(worth),
    };
  });
}

function worthFields({ state, code, reason }: Worth): Pick<SignatureInit, "state" | "code" | "reason"> {
  return { state, code, reason };
}

function verdictOf({ signer, name, fingerprint, fromMs, untilMs, ...worth }: SignerWorth) {
  return {
    signer,
    signerName: name,
    fingerprint,
    ...worthFields(worth),
    ...(fromMs !== undefined && { fromTime: timestamp(fromMs) }),
    ...(untilMs !== undefined && { untilTime: timestamp(untilMs) }),
  };
}

function countsOf(signatures: readonly SignatureInit[]): CountInit[] {
  const counts = new Map<string, CountInit & { count: number }>();
  for (const { state = 0, code = 0 } of signatures) {
    const key = `${state} ${code}`;
    const known = counts.get(key) ?? { state, code, count: 0 };
    counts.set(key, { ...known, count: known.count + 1 });
  }
  return [...counts.values()].sort(
    (one, other) => (one.state ?? 0) - (other.state ?? 0) || (one.code ?? 0) - (other.code ?? 0),
  );
}
